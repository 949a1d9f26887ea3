"""Submissions and reports without a grader: small, and different where a test needs it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from grader.instructor.gradebook.events import (
    TYPES,
    Adjust,
    Override,
    PointsChange,
    Provenance,
    own_fields,
    standing,
)
from grader.instructor.gradebook.recording import Recording
from grader.instructor.gradebook.row_types import HandIn, Key, Mark, Reports
from grader.instructor.gradebook.schema import Booked
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.times import Lateness
from grader.instructor.submissions.submission import Bundle, Submission
from grader.report.report import CheckReport, CheckStatus, KataReport, KataStatus

NUMBERS = {"masks": "9.3.1", "masked-attention": "9.3.2", "decoder-lm": "9.3.10", "layer-norm": "9.3.9"}
MONDAY = datetime(2026, 10, 5, 12, tzinfo=UTC)


def bundle(source: str) -> Bundle:
    return Bundle("masks.py", {"masks.py": source.encode(), "data/extra.txt": b"\0\xff" * 10})


def submission(
    learner: str, kata: str = "masks", source: str | None = "x = 1", at: datetime | None = MONDAY
) -> Submission:
    if source is None:
        return Submission(learner=learner, kata=kata, status="missing", message=f"no file for {kata}")
    return Submission(
        learner=learner, kata=kata, bundle=bundle(source), submitted_at=at, origin=f"{learner}/a.py"
    )


def key(given: Submission, terms: str = "terms") -> Key:
    return Key(given.bundle.digest if given.bundle else None, terms)


def check(
    name: str = "the mask is causal",
    status: CheckStatus = "pass",
    *,
    points: float = 2.0,
    hidden: bool = False,
    misconception: str | None = None,
) -> CheckReport:
    return CheckReport(
        name=name, id=f"test_{name.replace(' ', '_')}", aspect="values", hidden=hidden, status=status,
        points=points if status == "pass" else 0.0, max_points=points, misconception=misconception,
    )  # fmt: skip


def report(
    learner: str | None = None,
    kata: str = "masks",
    score: float = 3.0,
    max_score: float = 10.0,
    status: KataStatus = "fail",
    checks: Sequence[CheckReport] = (),
    seed: int = 7,
) -> KataReport:
    return KataReport(
        learner=learner, kata=kata, number=NUMBERS.get(kata, "1.1"), status=status, score=score,
        max_score=max_score, seed=seed, isolation="full", duration_s=0.25, versions={"torch": "2.13"},
        checks=list(checks),
    )  # fmt: skip


def grade(
    gradebook: Gradebook,
    run: Recording,
    learner: str,
    kata: str = "masks",
    source: str | None = "x = 1",
    *,
    at: datetime | None = MONDAY,
    **terms: object,
) -> None:
    """Record what a grader might have found."""
    given = submission(learner, kata, source, at)
    if source is None:
        terms = {"status": "missing", "score": 0.0, **terms}
    run.record(given, key(given), report(learner, kata, **terms))  # type: ignore[arg-type]


def mark_of(
    graded: KataReport, *, learner: str = "ada", name: str | None = None, score: float | None = None,
    max_score: float | None = None, graded_at: datetime = MONDAY, days_late: float = 0.0, late_points: float = 0.0,
    adjustments: Sequence[PointsChange] = (), attempt: int = 1, **more: Any,
) -> Mark:  # fmt: skip
    """Return a mark with this report; `score` is what counts in the end, `more` its fields or its hand-in's."""
    given = sum(one.points for one in standing(adjustments))
    earned = graded.earned if score is None else score + late_points - given
    result = Booked(graded.status, earned, graded.possible if max_score is None else max_score)
    own: dict[str, Any] = dict.fromkeys(("submitted_at", "time_source", "origin", "taken", "proposal"))
    own |= {"digest": "1", "graded": True, "notes": ()}
    own |= {field: more.pop(field) for field in own.keys() & more.keys()}
    hand_in = HandIn(
        id=attempt, attempt=attempt, run=1, arrived=(1, 1), arrived_at=graded_at, graded_at=graded_at, result=result,
        **own,
    )  # fmt: skip
    return Mark(
        learner=learner, name=learner if name is None else name, kata=graded.kata, number=graded.number,
        hand_in=hand_in, result=result, graded_at=graded_at, lateness=Lateness(days_late, late_points),
        adjustments=adjustments, reports=Reports((attempt,), lambda _: [(attempt, graded)]),
        **{"attempts": 1, **more},
    )  # fmt: skip


def results(where: str) -> list[tuple[str, str, str, str, str | None]]:
    """Return what is stored of each check of the attempts that count: whose, what, how it went, which mistake."""
    with Gradebook.open(where, create=False) as book:
        marks = sorted(book.marks(), key=lambda mark: (mark.learner, mark.kata))
        return [
            (mark.learner, mark.kata, one.name, one.status, one.misconception)
            for mark in marks
            for one in mark.report.checks
        ]


def event(
    kind: str, learner: str | None, value: Any, *, comment: str, author: str, kata: str | None = None
) -> Any:
    """Return a decision by what tables call it, and by what they keep of it."""
    of = TYPES[kind]
    own = value if isinstance(value, dict) else dict.fromkeys(own_fields(of), value)
    made = Provenance(author=author, comment=comment)
    return of(learner=learner, kata=kata, made=made, **own)


def decide(gradebook: Gradebook, kind: str, learner: str | None, value: Any, **about: Any) -> int:
    """Decide something, in these words."""
    return gradebook.decide(event(kind, learner, value, **about))


def change(
    points: float,
    comment: str = "",
    kind: str = "adjust",
    *,
    author: str = "kim",
    at: datetime = MONDAY,
    revoked: bool = False,
) -> PointsChange:
    """Return a person's word on a mark."""
    made = Provenance(author=author, comment=comment, at=at)
    of = Override if kind == "override" else Adjust
    return of(points=points, made=made, undone=made if revoked else None)


def adjust(
    gradebook: Gradebook,
    learner: str,
    kata: str,
    points: float,
    *,
    comment: str,
    author: str,
    seen: int | None = None,
) -> int:
    """Give points, or take them."""
    made = Provenance(author=author, comment=comment)
    return gradebook.decide(Adjust(learner=learner, kata=kata, points=points, made=made), seen=seen)


def override(
    gradebook: Gradebook, learner: str, kata: str, points: float, *, comment: str, author: str
) -> int:
    """Set a mark."""
    made = Provenance(author=author, comment=comment)
    return gradebook.decide(Override(learner=learner, kata=kata, points=points, made=made))
