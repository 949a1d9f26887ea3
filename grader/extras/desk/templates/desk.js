"use strict";
// Keys. What a key reaches says so itself: data-key on a link, a button, a field or a folded form.
const QUIET = 150; // ms; reading a page takes longer before the first key
let leaving = false;
let early = Infinity; // when the page was drawn, or the last key came that was too early
const typing = (element) => element.matches("input:not([type=checkbox]), textarea, select");
const lines = () => [...document.querySelectorAll("a[data-line]")].filter((line) => line.getClientRects().length);
// Not yet known. What somebody has typed or ticked is not taken away.
const touched = () =>
  typing(document.activeElement) ||
  unsent() ||
  [...document.querySelectorAll("main input[type=checkbox]")].some((box) => box.checked !== box.defaultChecked);
if (document.querySelector("[data-again]")) setInterval(() => leaving || touched() || location.reload(), 3000);
// A frame that was asked for in a frame begins after the first was painted: only then has anybody seen the page.
requestAnimationFrame(() =>
  requestAnimationFrame(() => {
    early = performance.now();
    setTimeout(() => (document.documentElement.dataset.keys = "heard"), QUIET);
  }),
);
// A key may be meant for the page before, or for none. All of a burst is ignored: half of it would be another mark.
const isEarly = (event) => {
  if (!leaving && event.timeStamp - early >= QUIET && !event.repeat) return false;
  if (early !== Infinity) early = event.timeStamp;
  return true;
};
let sending = false; // all that was typed
addEventListener("beforeunload", (event) => {
  leaving = sending || !unsent();
  if (!leaving) event.preventDefault(); // the browser asks, also if you leave by the mouse
});
addEventListener("pageshow", (event) => event.persisted && (leaving = sending = false)); // back to a page in the browser's cache
document.addEventListener("submit", (event) => {
  const form = event.target;
  const empty = !form.querySelector("input:checked") && !form.elements.points?.value.trim();
  if (form.matches("[data-marks]") && event.submitter?.name !== "nothing" && empty) {
    event.preventDefault();
    form.querySelector("[data-told]").textContent = "No criterion is ticked. The key 0 gives no points.";
  } else if (leaving) {
    event.preventDefault(); // sent already
  } else {
    leaving = true; // the browser leaves a moment later, and until then more keys may come
    sending = !unsent({ form });
  }
});
for (const label of document.querySelectorAll("[data-all]")) {
  label.hidden = false; // without a script it would do nothing
  const [all, ...boxes] = label.closest("form").querySelectorAll("input[type=checkbox]");
  all.addEventListener("change", () => boxes.forEach((box) => (box.checked = all.checked)));
}
// The bank of remarks: typing narrows it, Enter or a click takes one over.
const say = (button) => {
  const remark = document.getElementById("comment");
  remark.value = remark.value.trim() ? `${remark.value.trim()}\n${button.textContent}` : button.textContent;
  remark.focus();
};
const bank = document.querySelector("[data-bank]");
const remarks = [...document.querySelectorAll("[data-say]")];
for (const button of remarks) button.addEventListener("click", () => say(button));
bank?.addEventListener("input", () => {
  const words = bank.value.toLowerCase().split(/\s+/);
  for (const button of remarks)
    button.parentElement.hidden = !words.every((word) => button.textContent.toLowerCase().includes(word));
});
bank?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
  event.preventDefault(); // Enter in a field would send the form
  const first = remarks.find((button) => !button.parentElement.hidden);
  if (first) say(first);
});
const hit = document.querySelector(".code tr.hit");
if (hit && !location.hash) hit.closest(".code").scrollTop = hit.offsetTop - 48; // two lines above it stay in sight
// What somebody has typed and not sent: a shortcut that leads away would lose it. What was refused is in the page again.
const refused = document.querySelector("main").dataset.refused;
const sent = (field) => (refused && field.defaultValue === refused ? "" : field.defaultValue);
const unsent = (target) =>
  [...document.querySelectorAll("main textarea, main input:not([type]), main input[type=text]")].find(
    (field) => field.form?.method === "post" && field.form !== target?.form && field.value !== sent(field),
  );
const leads = (target) => target.matches("a[href], button, input[type=submit]");
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form && event.target.matches("input, select, textarea")) {
    event.preventDefault();
    if (!leaving) event.target.form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Escape") leaving = sending = false; // the browser stops loading the next page
  const all = lines();
  if (all.length && (event.key === "j" || event.key === "k")) {
    const at = all.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
    all[Math.max(0, Math.min(at, all.length - 1))]?.focus();
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (isEarly(event)) return;
  const field = leads(target) && unsent(target);
  if (field) {
    field.closest("details")?.setAttribute("open", "");
    field.setCustomValidity("This is not sent yet. Ctrl+Enter sends it; empty it to go on without.");
    field.addEventListener("input", () => field.setCustomValidity(""), { once: true });
    field.reportValidity();
    field.setCustomValidity("");
    field.focus();
    return;
  }
  if (target.matches("details")) {
    target.open = true;
    target.querySelector("input:not([type=hidden]), textarea, select").focus();
  } else if (typing(target)) {
    target.focus();
  } else {
    target.click();
  }
});
