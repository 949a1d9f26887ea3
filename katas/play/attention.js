"use strict";
// One head of attention over words that the reader types, under a mask that the reader makes.
// data: vectors {word: [D]}, w_q, w_k [d][D], positions [T][D] or null, sentence, masks: offer them, limit.
plays["attention.js"] = (place, data) => {
  const known = Object.keys(data.vectors);
  const rules = {
    "everyone (bidirectional)": () => true,
    "the past and itself (causal)": (query, key) => key <= query,
    "itself and the word before": (query, key) => key <= query && key >= query - 1,
  };
  const names = Object.keys(rules);
  let words = [];
  let allowed = [];
  let placed = Boolean(data.positions);
  let rule = rules[names[data.causal ? 1 : 0]];

  const input = kata.make("input", { type: "text", value: data.sentence, spellcheck: "false", autocomplete: "off" });
  const told = kata.make("p", { class: "note", role: "status" });
  const map = kata.make("div", { class: "scroll" });
  const field = kata.make("fieldset", {}, kata.make("label", { style: "display:block" }, "A sentence of these words: ", kata.make("em", {}, known.join(", ")), input));
  place.append(field);
  if (data.masks) {
    place.append(kata.radios("Who may look at whom", names, data.causal ? 1 : 0, (chosen) => {
      rule = rules[names[chosen]];
      forget();
      draw();
    }));
  }
  if (data.positions) {
    place.append(kata.radios("Positions", ["added", "left out"], 0, (chosen) => {
      placed = chosen === 0;
      draw();
    }));
  }
  place.append(kata.make("p", { class: "note" }, "rows: queries, the words that look; columns: keys, the words looked at"), map, told);

  const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));
  const forget = () => {
    allowed = words.map((_, query) => words.map((_, key) => rule(query, key)));
  };
  const weights = () => {
    const x = words.map((word, t) => data.vectors[word].map((value, i) => value + (placed ? data.positions[t][i] : 0)));
    const queries = x.map((one) => times(data.w_q, one));
    const keys = x.map((one) => times(data.w_k, one));
    const root = Math.sqrt(data.w_q.length);
    return queries.map((query, q) => {
      const scores = keys.map((key, k) => (allowed[q][k] ? query.reduce((sum, value, i) => sum + value * key[i], 0) / root : -Infinity));
      const largest = Math.max(...scores);
      if (largest === -Infinity) return scores.map(() => 0); // a query that may look at nothing
      const exps = scores.map((score) => Math.exp(score - largest));
      const sum = exps.reduce((a, b) => a + b);
      return exps.map((value) => value / sum);
    });
  };
  const read = () => {
    const typed = input.value.toLowerCase().split(/[^\p{L}]+/u).filter(Boolean);
    const strange = typed.filter((word) => !(word in data.vectors));
    words = typed.filter((word) => word in data.vectors).slice(0, data.limit);
    forget();
    draw();
    if (strange.length) told.textContent = `This small model has no vector for: ${strange.join(", ")}.`;
    else if (typed.length > data.limit) told.textContent = `The first ${data.limit} words are read.`;
  };
  const draw = (focus) => {
    told.textContent = "";
    const rows = weights();
    const table = kata.make("table", { class: "grid", "aria-label": "weights of attention" });
    table.append(kata.make("tr", {}, kata.make("td"), ...words.map((word) => kata.make("th", { scope: "col" }, word))));
    rows.forEach((row, q) => {
      const cells = row.map((weight, k) => {
        const open = allowed[q][k];
        const button = kata.make("button", {
          type: "button",
          "aria-pressed": String(open),
          "aria-label": `${words[q]} looks at ${words[k]}: ${open ? weight.toFixed(2) : "blocked"}`,
          style: open ? `background:hsl(210 80% ${95 - 60 * weight}%);color:${weight > 0.45 ? "#fff" : "#000"}` : "background:repeating-linear-gradient(45deg,#bbb,#bbb 4px,#ddd 4px,#ddd 8px);color:#000",
        }, open ? weight.toFixed(2) : "–");
        if (!data.masks) button.disabled = true;
        button.addEventListener("click", () => {
          allowed[q][k] = !open;
          draw([q, k]);
        });
        return kata.make("td", {}, button);
      });
      table.append(kata.make("tr", {}, kata.make("th", { scope: "row" }, words[q]), ...cells));
    });
    map.replaceChildren(table);
    if (focus) table.rows[focus[0] + 1].cells[focus[1] + 1].firstChild.focus();
    const blind = words.filter((_, q) => words.length && !allowed[q].some(Boolean));
    if (blind.length) told.textContent = `${blind.join(", ")}: may look at nothing, so its weights and its output are zeros.`;
    else if (!words.length) told.textContent = "Type some of the words above.";
    else if (data.masks) told.textContent = "Each row sums to 1. Press a cell to block it, or to allow it again.";
    else told.textContent = "Each row sums to 1: it says where the word on its left takes its new vector from.";
  };
  input.addEventListener("input", read);
  read();
};
