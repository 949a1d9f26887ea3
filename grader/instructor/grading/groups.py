"""Hand-ins that fail alike: what somebody decides about one of them can be decided about all."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from grader.instructor.gradebook.row_types import Mark
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.as_text import text_of
from grader.instructor.submissions.submission import Bundle
from grader.instructor.tokens import Piece, TooMuch, Words
from grader.notebooks import parse_module
from grader.report.report import WRONG, CheckReport, KataReport

_LINE = re.compile(r"\bline (\d{1,5})\b")
_VARIES = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\"|“[^”]*”")
"""What differs between two messages of one mistake: numbers, and names that a learner chose."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class FailedHandIn(NamedTuple):
    """How a hand-in fails."""

    likeness: str
    """The same for those that fail alike."""
    what: str
    """What is wrong, in a line."""
    mistakes: tuple[str, ...]
    """Catalogued mistakes that were named."""
    failing: tuple[str, ...]
    """Checks, by name."""


class Group(NamedTuple):
    """Hand-ins of one kata that fail alike."""

    id: str
    """The same as long as they fail so, even if its members change."""
    kata: str
    what: str
    mistakes: tuple[str, ...]
    failing: tuple[str, ...]
    members: tuple[Mark, ...]
    """In the gradebook's order."""

    @property
    def stamp(self) -> str:
        """Another text as soon as somebody is in it or out of it, or hands in again."""
        return _digest([(member.learner, member.attempt) for member in self.members])


def groups(book: Gradebook, kata: str) -> list[Group]:
    """Return the hand-ins of a kata that do not pass, by how they fail, the largest group first."""
    failing = (
        (row, failure_of(book, attempt, row.report))
        for row in book.rows(katas=[kata])
        if (attempt := row.attempt) is not None and row.status in WRONG
    )
    return grouped(kata, failing)


def grouped(kata: str, failing: Iterable[tuple[Mark, FailedHandIn]]) -> list[Group]:
    """Return the groups of those whose failures are known."""
    found: dict[str, list[tuple[Mark, FailedHandIn]]] = {}
    for failure in failing:
        found.setdefault(failure[1].likeness, []).append(failure)
    made = [
        Group(likeness[:12], kata, *those[0][1][1:], tuple(member for member, _ in those))
        for likeness, those in found.items()
    ]
    return sorted(made, key=lambda group: -len(group.members))


def failure_of(book: Gradebook, attempt: int, report: KataReport) -> FailedHandIn:
    """Return how a hand-in that does not pass fails."""
    wrong = failures(report)
    first = wrong[0] if wrong else None
    # A claim says what is wrong; the first line of a message says only what was called.
    what = (first.likely or first.name) if first else (report.message or report.status)
    return FailedHandIn(
        _digest(_likeness(book, attempt, report)),
        next((line for line in what.splitlines() if line.strip()), ""),
        tuple(sorted({check.misconception for check in wrong if check.misconception})),
        tuple(check.name for check in wrong),
    )


def failures(report: KataReport) -> list[CheckReport]:
    """Return the checks that went wrong and are not the same mistake once more."""
    return [check for check in report.checks if check.status in WRONG and check.same_mistake != "counted"]


def _likeness(book: Gradebook, attempt: int, report: KataReport) -> list[Any]:
    """Return what two hand-ins have in common that fail alike.

    A named mistake was recognised by its numbers, so that it says more than the code does. What has no name fails alike
    only where the function at fault is the same but for its names: the same check fails for many reasons.
    """
    wrong = failures(report)
    names = sorted({check.misconception for check in wrong if check.misconception})
    unnamed = [check for check in wrong if not check.misconception]
    # Hidden checks have no names of mistakes, so that those say nothing against being alike.
    if names and not any(not check.hidden for check in unnamed):
        return ["named", names]
    first = unnamed[0] if unnamed else None
    message = (first.message if first else report.message) or ""
    # Numbers differ with the seed, which differs with the content: the sentence is what is alike.
    shape = _VARIES.sub("#", "\n".join(message.splitlines()[-2:]))
    checks = [check.id for check in wrong]
    return ["unnamed", report.status, names, checks, shape, _normal_form(book.bundle(attempt), report)]


def _normal_form(bundle: Bundle | None, report: KataReport) -> list[str]:
    """Return the function at fault as words without its names; of what does not load, nothing."""
    source = text_of(bundle.main, bundle.files[bundle.main]) if bundle is not None else ""
    fault = lines_at_fault(source, report)
    words = Words()
    try:
        words.add([Piece(parse_module(source).body)])
    except (SyntaxError, ValueError, RecursionError, TooMuch):
        return []
    # A whole file would tell apart who wrote another function differently, which is right.
    return [word for word, line in zip(words.words, words.lines, strict=True) if line in fault]


def lines_at_fault(source: str, report: KataReport) -> range:
    """Return the lines of the function that the first failure names; of what does not load, the line that it names."""
    if report.message and (found := _LINE.search(report.message)):
        return range(int(found[1]), int(found[1]) + 1)
    try:
        tree = parse_module(source)
    except (SyntaxError, ValueError):
        return range(0)
    defined = {
        node.name: range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(tree)
        if isinstance(node, _DEFINITIONS)
    }
    # What was called comes first in a message, and its arguments after it.
    texts = (
        f"{check.called} {check.message or ''} {check.likely or ''} {check.name}"
        for check in failures(report)[:1]
    )
    named = (word for words in texts for word in re.findall(r"\w+", words) if word in defined)
    return defined.get(next(named, ""), range(0))


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
