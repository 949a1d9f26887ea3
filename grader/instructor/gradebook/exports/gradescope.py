"""Gradescope: what an autograder leaves for one learner."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from grader.instructor.gradebook.course import total
from grader.instructor.gradebook.exports.cells import number
from grader.instructor.gradebook.exports.tables import comments
from grader.instructor.gradebook.row_types import Mark, WrittenScore, by_learner
from grader.report.json_text import json_text
from grader.report.report import CheckReport
from grader.report.style import DEDUCTED

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course

NAME_LENGTH = 60
"""Letters, of up to four bytes; a file system allows 255 bytes."""
_MARKED = re.compile("-[0-9a-f]{8}$")
"""A name that could be somebody else's likeness and hash."""


def to_gradescope(rows: Iterable[Mark], course: Course) -> Iterator[tuple[str, bytes]]:
    """Yield `<learner>/results.json` and its content for each learner.

    The format is that of gradescope-autograders.readthedocs.io, "Autograder Specifications". The score above the
    tests is the mark, with lateness, weights and what people changed, and overrides the tests' sum. A learner reads
    this: a hidden check is a test of visibility `hidden` that says its aspect and points, and neither its claim nor
    its message; seeds are left out. Learners with something that is not graded yet have no file: a result is a mark.
    """
    for learner, own in by_learner(rows):
        score, most, *_ = whole = total(own.values(), course)
        if whole.ungraded:
            continue
        document: dict[str, Any] = {
            "score": _points(score),
            "max_score": _points(most),
            "execution_time": round(sum(row.report.duration_s for row in own.values())),
            "output": "\n".join(_summary(row) for row in own.values()),
            "output_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "tests": [test for row in own.values() for test in _tests(row)],
        }
        yield (
            f"{folder_name(learner)}/results.json",
            json_text(document, indent=2).encode(),
        )


def folder_name(learner: str) -> str:
    """Return a learner's identity as the name of a folder: itself where it is harmless, else a likeness and a hash.

    Nothing leaves the folder it is made in, hides, is too long for a file system, or falls together with another
    where case does not count.
    """
    likeness = re.sub(r"[^\w.@+-]+", "_", learner)[:NAME_LENGTH].strip("._-")
    # Lower case only: on some file systems two names that differ in case are one folder. And nothing that
    # looks like a name with a mark already.
    harmless = likeness == learner == learner.lower() and learner.isascii() and not _MARKED.search(learner)
    if likeness and harmless:
        return likeness
    mark = hashlib.sha256(learner.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{likeness}-{mark}" if likeness else mark


def _tests(row: Mark) -> Iterator[dict[str, Any]]:
    report = row.report
    # Gradescope shows a result without tests as an empty page: the message needs a test of its own.
    if not report.checks:
        yield {
            "number": report.number,
            "name": f"{report.number} {report.kata}",
            "score": _points(report.earned),
            "max_score": _points(report.possible),
            "status": "passed" if report.status == "pass" else "failed",
            "visibility": "visible",
            "output": report.message or "",
        }
    hidden = 0
    for position, check in enumerate(report.checks, start=1):
        # Counted instead of named: a title would tell what is looked at in secret.
        hidden += check.hidden
        test = {
            "number": f"{report.number}.{position}",
            "name": f"{report.number} hidden check {hidden} ({check.aspect})"
            if check.hidden
            else f"{report.number} {check.name}",
            "score": _points(check.points),
            "max_score": _points(check.max_points),
            "status": "passed" if check.status == "pass" else "failed",
            "visibility": "hidden" if check.hidden else "visible",
        }
        if not check.hidden:
            test["output"] = _output(check)
        elif check.same_mistake == "counted":
            test["output"] = DEDUCTED
        yield test
    if row.written is not None and row.written.released:
        yield from _written(report.number, row.written)


def _written(number: str, written: WrittenScore) -> Iterator[dict[str, Any]]:
    """Yield the marks of written answers: a learner sees them from the release on."""
    for mark in written.marks:
        yield {
            "number": f"{number}.w{mark.question}",
            "name": f"{number} written answer {mark.question}",
            "score": _points(mark.points),
            "max_score": _points(mark.max_points),
            "visibility": "visible",
            "output": mark.made.comment,
        }


def _output(check: CheckReport) -> str:
    """Return what a learner reads about a visible check: nothing when it passed, but why it earned nothing."""
    if check.status == "pass":
        return check.message or ""
    parts = [check.message or {"timeout": "It ran out of time."}.get(check.status, check.status)]
    if check.likely:
        parts.append(f"likely  {check.likely}")
    if check.output:
        parts.append(f"printed\n{check.output.rstrip()}")
    return "\n".join(parts)


def _summary(row: Mark) -> str:
    """Return a kata in a line: `9.3.1 masks: 8/10, 2 days late: -1, (+2) the third check was ours to mend`."""
    parts = [f"{row.number} {row.kata}: {number(row.score)}/{number(row.max_score)}"]
    if row.late_points:
        parts.append(f"{row.lateness.words}: -{number(row.late_points)}")
    if comment := comments(row):
        parts.append(comment)
    if row.report.message:
        parts.append(row.report.message)
    return ", ".join(parts)


def _points(value: float) -> float:
    return round(value, 4)
