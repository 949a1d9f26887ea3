"use strict";
// Headings of a sortable table become buttons; without a script it is a table in its own order.
for (const table of document.querySelectorAll("table[data-sort]")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.hasAttribute("data-fixed")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const numeric = head.classList.contains("n");
    const value = (row) => {
      const cell = row.cells[column];
      const text = cell.dataset.v ?? cell.textContent.trim();
      return numeric ? (text === "" || isNaN(text) ? -Infinity : Number(text)) : text.toLocaleLowerCase();
    };
    const words = new Intl.Collator(undefined, { numeric: true });
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const keyed = [...body.rows].map((row) => [value(row), row]);
      keyed.sort(([a], [b]) => (numeric ? (a < b ? -1 : a > b ? 1 : 0) : words.compare(a, b)) * (down ? -1 : 1));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...keyed.map(([, row]) => row));
    });
  });
}
for (const table of document.querySelectorAll("table[data-find]")) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const told = document.createElement("span");
  label.className = "find";
  input.type = "search";
  told.setAttribute("role", "status");
  label.append(table.dataset.find, " ", input, " ", told);
  table.parentElement.before(label);
  const most = document.createElement("label");
  const slider = document.createElement("input");
  const from = document.createElement("span");
  most.className = "find";
  slider.type = "range";
  slider.max = "100";
  slider.step = "5";
  slider.value = "100";
  most.append("With a total of at most ", slider, " ", from);
  label.after(most);
  // Accents are marks of their own in this form, and do not count.
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();
  const rows = [...table.tBodies[0].rows].map((row) => [
    folded(row.cells[0].textContent),
    Number(row.cells[2].dataset.v),
    row,
  ]);
  const show = () => {
    const words = folded(input.value).split(/[\s,]+/).filter(Boolean);
    const part = Number(slider.value) / 100;
    let shown = 0;
    for (const [name, total, row] of rows) shown += !(row.hidden = !words.every((word) => name.includes(word)) || (part < 1 && total > part));
    from.textContent = slider.value + " %";
    slider.setAttribute("aria-valuetext", from.textContent);
    told.textContent = words.length || part < 1 ? shown + " of " + rows.length : "";
  };
  input.addEventListener("input", show);
  slider.addEventListener("input", show);
  show();
}
