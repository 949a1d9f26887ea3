"""Feedback as Markdown: what a submission had a hand in stands in fences that it cannot close."""

from __future__ import annotations

import re

from grader.pages.view import CheckView, KataView, LearnerView, out_of
from grader.reports.style import LOOKS, points, safe

_MEANING = re.compile(r"([\\`*_\[\]<>|~&#@$])|(?<=:)(?=//)|(?<=\bwww)(?=\.)|^(?=[-+=])")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


def plain(text: str) -> str:
    """Return text that Markdown shows letter by letter, on one line."""
    told = _MEANING.sub(lambda found: "\\" + found[0], " ".join(safe(text).split()))
    return _NUMBERED.sub(r"\1\\\2", told)


def fenced(text: str) -> str:
    """Return text as a block of code, whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{safe(text)}\n{fence}"


def feedback(learner: LearnerView) -> str:
    """Return one learner's feedback."""
    lines = [
        f"# Feedback for {plain(learner.name)}",
        "",
        f"**{out_of(learner.score, learner.max_score)}**",
        "",
        "| kata | status | points |",
        "|---|---|---:|",
        *(
            f"| {plain(kata.number)} {plain(kata.title)} | {_status(kata.status)} "
            f"| {points(kata.score)} of {points(kata.max_score)} |"
            for kata in learner.katas
        ),
    ]
    for kata in learner.katas:
        lines += ["", *_kata(kata)]
    return "\n".join(lines) + "\n"


def _kata(kata: KataView) -> list[str]:
    lines = [
        f"## {plain(kata.number)} {plain(kata.title)}",
        "",
        f"{_status(kata.status)} · {out_of(kata.score, kata.max_score)}",
    ]
    if kata.changes:
        lines += ["", f"- {points(kata.graded)} by the checks"]
        for change in kata.changes:
            comment = f" ({plain(change.comment)})" if change.comment else ""
            lines.append(f"- {plain(change.words)}{comment}")
    if kata.message:
        lines += ["", fenced(kata.message)]
    if kata.status == "not_started":
        lines += ["", f"Nothing is written yet. Read the lesson: `kata show {kata.slug}`"]
    if kata.output:
        lines += ["", "Printed while it was loaded:", "", fenced(kata.output)]
    for check in kata.wrong:
        lines += ["", *_check(check)]
    if kata.passed:
        lines += ["", "### Passed", ""]
        lines += [f"- {plain(check.name)} ({points(check.points)})" for check in kata.passed]
    if kata.hidden:
        part = kata.hidden
        noun = "hidden check" if part.count == 1 else "hidden checks"
        lines += ["", "### Hidden", ""]
        lines.append(
            f"{part.count} {noun}, {out_of(part.points, part.max_points)}. "
            f"{'It looks' if part.count == 1 else 'They look'} at: {', '.join(map(plain, part.aspects))}."
        )
    if kata.hint:
        lines += ["", "### A hint", "", safe(kata.hint), "", f"The next one: `kata hint {kata.slug}`"]
    if kata.questions:
        lines += ["", "### To think about", ""]
        lines += [f"- {safe(question)}" for question in kata.questions]
        lines += ["", f"Our answers: `kata solution {kata.slug}`"]
    return lines


def _check(check: CheckView) -> list[str]:
    look = LOOKS[check.status]
    lines = [
        f"### {look.glyph} {plain(check.name)}",
        "",
        f"{look.word}, {out_of(check.points, check.max_points)}, {plain(check.aspect)}",
    ]
    if check.message:
        lines += ["", fenced(check.message)]
    if check.likely:
        lines += ["", f"**Likely:** {plain(check.likely)}"]
    if check.output:
        lines += ["", "It printed:", "", fenced(check.output)]
    return lines


def _status(status: str) -> str:
    look = LOOKS[status]
    return f"{look.glyph} {look.word}"
