"""JSON: the reports themselves, as `kata grade --json FILE` writes them, and one learner's marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from grader.instructor.gradebook.course import total
from grader.instructor.gradebook.records import Row
from grader.report.json_text import json_text

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course


_NOT_PRINTED = ("learner", "name", "proposals", "taken")
"""Of a mark: the learner is named once, and notes say the others in words."""


def to_jsonl(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one report a line (schema 1), with `learner` filled in.

    A report is what the checks found. Lateness and what people changed are in the gradebook and in the tables,
    not here. Everything about hidden checks is here: this file is for instructors.
    """
    for row in rows:
        yield json_text(msgspec.structs.replace(row.report, learner=row.learner)) + "\n"


def document_of(rows: list[Row], course: Course, *, whole: bool = False) -> dict[str, Any]:
    """Return one learner as `kata gradebook show --json` prints it; the reports only where they are asked for."""
    every = total(rows, course)
    marks = []
    for row in rows:
        mark = msgspec.to_builtins(row)
        report = mark.pop("report")
        mark = {
            "kata": row.kata,
            "number": row.report.number,
            "status": row.report.status,
            "graded_score": row.report.earned if row.graded else None,
            **{name: value for name, value in mark.items() if name not in _NOT_PRINTED},
            "score": row.points,
        }
        marks.append({**mark, "report": report} if whole else mark)
    return {
        "learner": rows[0].learner,
        "name": rows[0].name,
        "score": every.score,
        "max_score": every.most,
        "waiting": every.waiting,
        "not_graded": every.ungraded,
        "katas": marks,
    }
