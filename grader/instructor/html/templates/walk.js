"use strict";
// Choose what a learner's page shows: everything, what is not right, or one problem at a time. Without a script
// everything is there.
const problems = [...document.querySelectorAll("main article")];
if (problems.length > 1) {
  const sections = [...document.querySelectorAll("main > section")];
  const rest = [...document.querySelectorAll("ul.passed, .box")].flatMap((part) =>
    part.matches("ul") ? [part, part.previousElementSibling] : [part],
  );
  const ways = ["everything", "what is not right", "one problem at a time"];
  const bar = document.createElement("div");
  const label = document.createElement("label");
  const select = document.createElement("select");
  const step = document.createElement("label");
  const slider = document.createElement("input");
  const told = document.createElement("output");
  bar.className = "find";
  select.append(...ways.map((way) => new Option(way)));
  label.append("Show ", select);
  slider.type = "range";
  slider.min = "1";
  slider.max = String(problems.length);
  slider.value = "1";
  step.append(" Problem ", slider, " ");
  bar.append(label, step, told);
  document.querySelector("main").prepend(bar);
  const show = () => {
    const one = select.selectedIndex === 2;
    const current = problems[slider.value - 1];
    step.hidden = !one;
    told.textContent = one ? `${slider.value} of ${problems.length}` : `${problems.length} problems`;
    for (const problem of problems) problem.hidden = one && problem !== current;
    for (const part of rest) part.hidden = select.selectedIndex > 0;
    for (const section of sections)
      section.hidden = one ? !section.contains(current) : select.selectedIndex === 1 && !section.querySelector("article, pre");
  };
  select.addEventListener("change", show);
  slider.addEventListener("input", show);
  show();
}
