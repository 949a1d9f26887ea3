"""Questions about learners' own code: pages to print, and quizzes in the plain text that text2qti reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from grader.api import Folder, defuse, file_stem, page
from grader.extras.questions.quiz import QuizQuestion

LETTERS = "abcd"
TEMPLATES = Path(__file__).parent / "templates"


class Asked(NamedTuple):
    """One learner's questions about one kata."""

    learner: str
    name: str
    kata: str
    number: str
    questions: tuple[QuizQuestion, ...]


def write_questions(sheets: Sequence[Asked], folder: Path, secret: bytes) -> int:
    """Write a page for each learner, a quiz for each of their katas, and the keys; return how many learners there are.

    Args:
        sheets: ordered by learner.
        folder: new, empty, or an earlier report's.
        secret: of the gradebook; files' names are made with it.
    """
    into = Folder(folder)
    keys = io.StringIO()
    table = csv.writer(keys, lineterminator="\n")
    table.writerow(("learner", "kata", "question", "kind", "right", "why"))
    learners = 0
    for learner, group in groupby(sheets, key=lambda sheet: sheet.learner):
        theirs, stem = list(group), file_stem(learner, secret)
        learners += 1
        into.write(
            f"questions/{stem}.html", page("questions.html", TEMPLATES, sheets=theirs, letters=LETTERS)
        )
        for sheet in theirs:
            into.write(f"quizzes/{sheet.kata}-{stem}.txt", _quiz(sheet))
            for number, question in enumerate(sheet.questions, 1):
                right = LETTERS[question.right]
                table.writerow(
                    (defuse(learner), sheet.kata, number, question.kind, right, defuse(question.why))
                )
    into.write("quizzes/keys.csv", keys.getvalue())
    into.finish()
    return learners


def _quiz(sheet: Asked) -> str:
    """Return a quiz for text2qti: paragraphs of one item are indented alike, and an asterisk marks the right option."""
    lines = [f"Quiz title: {sheet.number} {sheet.kata}", ""]
    for number, question in enumerate(sheet.questions, 1):
        text = [_plain(line) for line in [*question.text.splitlines(), question.code] if line]
        lines.append(f"{number}.  {text[0]}")
        lines += [part for line in text[1:] for part in ("", f"    {line}")]
        for place, option in enumerate(question.options):
            mark = "*" if place == question.right else ""
            lines.append(f"{mark}{LETTERS[place]})  {_plain(option)}")
        lines.append("")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return text in which Markdown finds code where we marked it, and nothing else."""
    parts = text.replace("```", "").split("`")
    return "`".join(
        part
        if place % 2
        else "".join(f"\\{letter}" if letter in "\\*_[]<>#$|{}" else letter for letter in part)
        for place, part in enumerate(parts)
    )
