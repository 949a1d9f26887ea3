"use strict";
// Choose what a learner's page shows: everything, what is not right, or one problem at a time. Without a script
// everything is there. Where there are several assignments, each has its own choice.
const weeks = document.querySelectorAll("details.week");
addEventListener("beforeprint", () => weeks.forEach((week) => (week.open = true)));
for (const part of weeks.length ? weeks : [document.querySelector("main")]) {
  const problems = [...part.querySelectorAll("article")];
  if (problems.length > 1) {
    const sections = [...part.querySelectorAll(":scope > section")];
    const rest = [...part.querySelectorAll("ul.passed, .box")].flatMap((box) =>
      box.matches("ul") ? [box, box.previousElementSibling] : [box],
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
    const heading = part.querySelector(":scope > summary");
    if (heading) heading.after(bar);
    else part.prepend(bar);
    const show = () => {
      const one = select.selectedIndex === 2;
      const current = problems[slider.value - 1];
      step.hidden = !one;
      told.textContent = one ? `${slider.value} of ${problems.length}` : `${problems.length} problems`;
      for (const problem of problems) problem.hidden = one && problem !== current;
      for (const box of rest) box.hidden = select.selectedIndex > 0;
      for (const section of sections)
        section.hidden = one ? !section.contains(current) : select.selectedIndex === 1 && !section.querySelector("article, pre");
    };
    select.addEventListener("change", show);
    slider.addEventListener("input", show);
    show();
  }
}
