"use strict";
// A sentence put together from choices, and what a trained model says of it: every answer was computed beforehand.
// data: slots [{label, options: [text]}], joins: words between them (one more than slots), models [name], classes
// [name], answers: for each sentence (the last slot counting fastest) and model the probability of the last class.
plays["sentence.js"] = (place, data) => {
  const chosen = data.slots.map((slot) => slot.start ?? 0);
  const fields = data.slots.map((slot, number) => {
    const select = kata.make("select", { "aria-label": slot.label }, ...slot.options.map((text) => kata.make("option", {}, text || "–")));
    select.selectedIndex = chosen[number];
    select.addEventListener("change", () => {
      chosen[number] = select.selectedIndex;
      say();
    });
    return select;
  });
  const line = kata.make("p");
  data.joins.forEach((text, number) => line.append(` ${text} `, ...(number < fields.length ? [fields[number]] : [])));
  const said = kata.make("div", { role: "status", class: "scroll" });
  const say = () => {
    const place = chosen.reduce((index, value, number) => index * data.slots[number].options.length + value, 0);
    const rows = data.models.map((model, number) => {
      const part = data.answers[place][number];
      const verdict = data.classes[part >= 0.5 ? 1 : 0];
      const bar = kata.make("meter", { min: "0", max: "1", value: String(part), "aria-label": `probability of ${data.classes[1]}` });
      return kata.make("tr", {}, kata.make("th", { scope: "row" }, model), kata.make("td", {}, verdict), kata.make("td", { class: "n" }, `${Math.round(100 * part)}%`), kata.make("td", {}, bar));
    });
    const head = kata.make("tr", {}, ...["model", "verdict", data.classes[1], ""].map((text) => kata.make("th", { scope: "col" }, text)));
    said.replaceChildren(kata.make("table", {}, head, ...rows));
  };
  place.append(line, said);
  say();
};
