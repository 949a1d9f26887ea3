"""JSON: the reports themselves, as `kata grade --json FILE` writes them, and one learner's marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from grader.instructor.gradebook.course import total
from grader.instructor.gradebook.events import AnswerMark, Decision, PointsChange
from grader.instructor.gradebook.row_types import (
    AttemptGraded,
    Decided,
    HistoryEvent,
    Mark,
    SeenAgain,
    TakenBack,
)
from grader.report.json_text import json_text

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.written_answers import AnswerSheet


_PRINTED = (
    "attempts",
    "graded",
    "submitted_at",
    "graded_at",
    "adjustments",
    "days_late",
    "late_points",
    "attempt",
    "origin",
    "notes",
    "newer",
    "time_source",
    "late_days_used",
    "closed",
    "score",
    "max_score",
    "written",
)
"""Of a mark, besides what comes first and in another form: the learner is named once."""


def to_jsonl(rows: Iterable[Mark]) -> Iterator[str]:
    """Yield one report a line (schema 1), with `learner` filled in.

    A report is what the checks found. Lateness and what people changed are in the gradebook and in the tables,
    not here. Everything about hidden checks is here: this file is for instructors.
    """
    for row in rows:
        yield json_text(msgspec.structs.replace(row.report, learner=row.learner)) + "\n"


def document_of(rows: list[Mark], course: Course, *, whole: bool = False) -> dict[str, Any]:
    """Return one learner as `kata gradebook show --json` prints it; the reports only where they are asked for."""
    every = total(rows, course)
    marks = []
    for row in rows:
        mark = {
            "kata": row.kata,
            "number": row.number,
            "status": row.status,
            "graded_score": row.result.score if row.graded else None,
            **{name: getattr(row, name) for name in _PRINTED},
            "adjustments": [_change(change) for change in row.adjustments],
        }
        plain: dict[str, Any] = msgspec.to_builtins(mark)
        if row.written is not None:
            plain["written"]["marks"] = [_answer_mark(mark) for mark in row.written.marks]
        plain["score"] = row.points
        marks.append({**plain, "report": msgspec.to_builtins(row.report)} if whole else plain)
    return {
        "learner": rows[0].learner,
        "name": rows[0].name,
        "score": every.score,
        "max_score": every.most,
        "waiting": every.waiting,
        "not_graded": every.ungraded,
        "katas": marks,
    }


def document_of_sheet(sheet: AnswerSheet) -> dict[str, Any]:
    """Return a sheet of written answers as `kata gradebook answers --json` prints it."""
    document: dict[str, Any] = msgspec.to_builtins(sheet)
    for answer, shown in zip(sheet.answers, document["answers"], strict=True):
        shown["mark"] = _answer_mark(answer.mark) if answer.mark is not None else None
    return document


def document_of_decision(decision: Decision) -> dict[str, Any]:
    """Return a decision as `kata gradebook rulings --json` prints it."""
    return {
        "id": decision.id,
        "kind": decision.kind,
        "learner": decision.learner or "",
        "kata": decision.kata,
        "value": msgspec.to_builtins(decision.value),
        **_provenance(decision),
    }


def document_of_event(event: HistoryEvent) -> dict[str, Any]:
    """Return what happened to a mark as `kata gradebook history --json` prints it: what it does not have is null."""
    document: dict[str, Any] = dict.fromkeys(_EVENT)
    document |= {"kind": event.kind, "at": event.at, "revoked": False}
    match event:
        case AttemptGraded():
            document |= msgspec.structs.asdict(event) | event.result._asdict()
            document["digest"] = event.digest or ""
            del document["result"]
        case SeenAgain():
            own = {**msgspec.structs.asdict(event), "digest": event.digest or ""}
            document |= {**own, "author": "kata grade"}
        case TakenBack(decision=decision, by=by):
            document |= {"comment": by.comment, "author": by.author, decision.sort.name: decision.id}
        case Decided(decision=decision):
            own = {"comment": event.comment, "author": decision.made.author, "revoked": decision.revoked}
            document |= {**own, decision.sort.name: decision.id}
            if isinstance(decision, PointsChange | AnswerMark):
                document["points"] = decision.points
            if isinstance(decision, AnswerMark):
                document["max_score"] = decision.max_points
    if isinstance(event, Decided | TakenBack) and isinstance(event.decision, AnswerMark):
        document["question"] = event.decision.question
    plain: dict[str, Any] = msgspec.to_builtins(document)
    return plain


_EVENT = (
    "kind",
    "at",
    "run",
    "attempt",
    "number",
    "digest",
    "submitted_at",
    "status",
    "score",
    "max_score",
    "seed",
    "adjustment",
    "points",
    "comment",
    "author",
    "revoked",
    "ruling",
    "answer_mark",
    "question",
)


def _provenance(decision: Decision) -> dict[str, Any]:
    made, undone = decision.made, decision.undone
    return {
        "comment": made.comment,
        "author": made.author,
        "at": msgspec.to_builtins(made.at),
        "revoked": decision.revoked,
        "revoked_by": undone.author if undone is not None else None,
        "revoked_at": msgspec.to_builtins(undone.at) if undone is not None else None,
        "revoked_because": undone.comment if undone is not None else None,
    }


def _change(change: PointsChange) -> dict[str, Any]:
    own = ("comment", "author", "at", "revoked")
    about = {name: value for name, value in _provenance(change).items() if name in own}
    return {"kind": change.kind, "points": change.points, **about, "id": change.id}


def _answer_mark(mark: AnswerMark) -> dict[str, Any]:
    return {**mark.value, "id": mark.id, **_provenance(mark)}
