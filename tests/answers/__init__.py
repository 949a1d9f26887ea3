"""A second corpus: answers as other people write them, right and wrong, which were not made with the checks.

The sections `right` and `wrong` of `KATA.py` (`tests.sections`) hold an `answer("its-name", "what it is", …)` for each,
written as catalogued mistakes are. A wrong answer may have `named=["one", "other"]`: the catalogued mistakes whose
sentence is true of it. Any other name given to it is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.catalogue import Kata
from grader.engine.mistakes.merge import PythonFile, merged
from grader.engine.mistakes.mistakes import changes_in
from grader.report.report import CheckReport
from tests.sections import sections

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """One answer to a kata."""

    name: str
    about: str
    """What it does, and in a wrong one what is wrong with it."""
    named: frozenset[str]
    """The catalogued mistakes that it may be told it made."""
    text: str
    """A whole module."""


def right(kata: Kata) -> list[Answer]:
    """Return the answers that have to get full marks.

    Raises:
        PackError: one of them does not apply to the reference.
    """
    return list(_read(kata, "right"))


def wrong(kata: Kata) -> list[Answer]:
    """Return the answers that must not get full marks.

    Raises:
        PackError: one of them does not apply to the reference.
    """
    return list(_read(kata, "wrong"))


def untrained(kata: Kata) -> list[Answer]:
    """Return the answers of a capstone whose `train` trains nothing; other katas have none.

    Raises:
        PackError: one of them does not apply to the reference.
    """
    return list(_read(kata, "untrained"))


def said(checks: Iterable[CheckReport]) -> dict[str, str]:
    """Return which catalogued mistake each check names, by its identifier; checks that name none are left out."""
    return {check.id: _identifier(check.misconception) for check in checks if check.misconception}


def _read(kata: Kata, verdict: str) -> Iterator[Answer]:
    assert kata.solution is not None
    base = PythonFile.read(kata.solution)
    topic = _topic(kata, verdict)
    for change, notes in changes_in(topic, known=["named"], word="answer"):
        yield Answer(
            _identifier(change.name),
            change.say,
            frozenset(map(_identifier, notes.get("named", ()))),
            merged(topic, change, base),
        )


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _topic(kata: Kata, verdict: str) -> PythonFile:
    path = HERE / f"{kata.slug.replace('-', '_')}.py"
    text = sections(path)[verdict]
    return PythonFile(path, text, ast.parse(text))
