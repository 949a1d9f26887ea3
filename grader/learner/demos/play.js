"use strict";
// What one may play with on a page. Without this script every state is shown, one below the other.
const plays = {}; // what a pack's scripts put here, by file name: plays["x.js"] = (place, data) => …
const kata = {
  // Make an element: its tag, its properties, and what is in it.
  make(tag, properties = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties))
      if (name in made && typeof value !== "string") made[name] = value;
      else made.setAttribute(name, value);
    made.append(...inside);
    return made;
  },
  // Make a group of radio buttons; `chosen` is called with the place of the one that is taken.
  radios(legend, labels, start, chosen) {
    const name = "choice-" + (kata.radios.count = (kata.radios.count ?? 0) + 1);
    const buttons = labels.map((label, place) => {
      const input = kata.make("input", { type: "radio", name, checked: place === start });
      input.addEventListener("change", () => chosen(place));
      return kata.make("label", {}, input, label);
    });
    return kata.make("fieldset", {}, kata.make("legend", {}, legend), ...buttons);
  },
  // Make a slider over labels.
  slider(legend, labels, start, chosen) {
    const input = kata.make("input", { type: "range", min: "0", max: String(labels.length - 1), step: "1" });
    const said = kata.make("output", {}, labels[start]);
    input.value = String(start);
    input.setAttribute("aria-label", legend);
    input.setAttribute("aria-valuetext", labels[start]);
    input.addEventListener("input", () => {
      said.textContent = labels[input.value];
      input.setAttribute("aria-valuetext", labels[input.value]);
      chosen(Number(input.value));
    });
    return kata.make("fieldset", {}, kata.make("legend", {}, legend, ": ", said), input);
  },
};
for (const place of document.querySelectorAll("[data-choice]")) {
  const frames = [...place.children];
  const show = (chosen) => frames.forEach((frame, number) => (frame.hidden = number !== chosen));
  const labels = frames.map((frame) => frame.dataset.frame);
  const control = "slider" in place.dataset ? kata.slider : kata.radios;
  const start = Number(place.dataset.choice);
  for (const frame of frames) frame.querySelector("h3").hidden = true;
  place.prepend(control(place.dataset.axis, labels, start, show));
  show(start);
}
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll("[data-play]")) {
    const run = plays[place.dataset.play];
    if (!run) continue;
    const [data, played, still] = place.children;
    run(played, JSON.parse(data.textContent));
    played.hidden = false;
    still.hidden = true;
  }
});
