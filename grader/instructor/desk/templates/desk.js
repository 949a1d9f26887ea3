"use strict";
// Keys. What a key reaches says so itself: data-key on a link, a button, a field or a folded form.
const typing = (element) => element.matches("input:not([type=checkbox]), textarea, select");
const lines = () => [...document.querySelectorAll("a[data-line]")].filter((line) => line.getClientRects().length);
if (document.querySelector("[data-again]")) setTimeout(() => location.reload(), 3000); // not yet known
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const all = lines();
  if (all.length && (event.key === "j" || event.key === "k")) {
    const at = all.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
    all[Math.max(0, Math.min(at, all.length - 1))]?.focus();
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("details")) {
    target.open = true;
    target.querySelector("input:not([type=hidden]), textarea, select").focus();
  } else if (typing(target)) {
    target.focus();
  } else {
    target.click();
  }
});
