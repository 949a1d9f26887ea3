"use strict";
// A text to type, cut into tokens by the merges that were learned; the rule is that of the lesson.
// data: merges [[bytes, bytes]], text: what is there first, steps: numbers of merges to choose from.
plays["tokens.js"] = (place, data) => {
  const key = (one, other) => `${one},${other}`;
  const tokens = [...Array(256).keys()].map((byte) => [byte]);
  const number = new Map(tokens.map((token, id) => [String(token), id]));
  const rank = new Map(); // a pair of ids, and which merge it is
  data.merges.forEach(([one, other], place) => {
    rank.set(key(number.get(String(one)), number.get(String(other))), place);
    tokens.push([...one, ...other]);
    number.set(String(tokens.at(-1)), 256 + place);
  });
  const pieces = (text) => text.match(/ ?[\p{L}\p{N}_]+| ?[^\p{L}\p{N}_\s]+|\s+/gu) ?? [];
  const merged = (piece, limit) => {
    const ids = [...new TextEncoder().encode(piece)];
    for (;;) {
      let best = limit;
      for (let at = 0; at + 1 < ids.length; at++) best = Math.min(best, rank.get(key(ids[at], ids[at + 1])) ?? limit);
      if (best === limit) return ids;
      for (let at = 0; at + 1 < ids.length; at++) if (rank.get(key(ids[at], ids[at + 1])) === best) ids.splice(at, 2, 256 + best);
    }
  };
  const shown = (token) => {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(token)).replace(/\s/g, (c) => (c === " " ? "_" : "⏎"));
    } catch {
      return token.map((byte) => `[${byte.toString(16).padStart(2, "0")}]`).join("");
    }
  };
  let limit = data.steps.at(-1);
  const field = kata.make("textarea", { rows: "2", maxlength: "2000", "aria-label": "a text", spellcheck: "false" });
  field.value = data.text;
  field.style.cssText = "width: 100%; box-sizing: border-box; font: inherit; color: inherit; background: transparent";
  const boxes = kata.make("div", {});
  boxes.style.cssText = "display: flex; flex-wrap: wrap; gap: 3px; margin: 0.6em 0";
  const said = kata.make("p", { role: "status" });
  const show = () => {
    const ids = pieces(field.value).flatMap((piece) => merged(piece, limit));
    boxes.replaceChildren(
      ...ids.map((id) => {
        const small = kata.make("small", {}, String(id));
        const box = kata.make("span", {}, shown(tokens[id]), small);
        small.style.cssText = "display: block; opacity: 0.7; font-size: 0.7em";
        box.style.cssText = `border: 1px solid; border-radius: 3px; padding: 1px 4px; text-align: center; background: hsl(${(id * 47) % 360} 70% 50% / 0.22)`;
        return box;
      }),
    );
    const bytes = new TextEncoder().encode(field.value).length;
    said.textContent = `${[...field.value].length} characters, ${bytes} bytes, ${ids.length} tokens`;
  };
  field.addEventListener("input", show);
  const labels = data.steps.map(String);
  const slider = kata.slider("merges learned", labels, labels.length - 1, (chosen) => {
    limit = data.steps[chosen];
    show();
  });
  place.append(field, slider, boxes, said);
  show();
};
