"""Rows of classes that never were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from grader.instructor.gradebook.events import PointsChange
from grader.instructor.gradebook.row_types import Mark
from grader.report.report import CheckReport, KataReport
from tests.gradebook.handmade import change, mark_of

WHEN = datetime(2025, 3, 14, 9, 26, 53, tzinfo=UTC)
NUMBERS = {"masks": "9.3.1", "masked-attention": "9.3.2", "layer-norm": "9.3.3", "late-kata": "9.10.1"}


def check(status: str = "pass", *, name: str = "it holds", hidden: bool = False, **more: Any) -> CheckReport:
    most = more.pop("max_points", 2.0)
    return CheckReport(
        name=name,
        id="test_it",
        aspect=more.pop("aspect", "values"),
        hidden=hidden,
        status=status,  # type: ignore[arg-type]
        points=more.pop("points", most if status == "pass" else 0.0),
        max_points=most,
        **more,
    )


def report(
    kata: str = "masks", status: str = "pass", checks: list[CheckReport] | None = None, **more: Any
) -> KataReport:
    checks = [check("pass")] if checks is None else checks
    return KataReport(
        kata=kata,
        number=NUMBERS[kata],
        status=status,  # type: ignore[arg-type]
        score=more.pop("score", sum(one.points for one in checks)),
        max_score=more.pop("max_score", sum(one.max_points for one in checks) or 2.0),
        seed=more.pop("seed", 4711),
        isolation="full",
        duration_s=0.25,
        versions={"kata": "0.1.0"},
        checks=checks,
        **more,
    )


def row(learner: str = "ada", graded: KataReport | None = None, **more: Any) -> Mark:
    graded = graded or report()
    times = {"submitted_at": WHEN - timedelta(hours=1), "graded_at": WHEN}
    return mark_of(graded, learner=learner, **{**times, **more})


def adjustment(points: float, comment: str, kind: str = "adjust", *, revoked: bool = False) -> PointsChange:
    return change(points, comment, kind, at=WHEN, revoked=revoked)


SECRET = "unit roundoff of row seven"


def small_class() -> list[Mark]:
    """Two learners, two katas: a pass, a failed hidden check, a file that will not load, one who is late."""
    hidden = check("fail", name=f"hidden: {SECRET}", hidden=True, message=f"{SECRET} 0.125", aspect="stability",
                   location={"row": 7}, output=SECRET, likely=SECRET, misconception="secret-mutant")  # fmt: skip
    failed = check(
        "fail", message="first difference\n  got 1", likely="the mask is shifted", output="hello\n"
    )
    ada = "Lovelace, Ada"
    return [
        row("ada", report("masks", "fail", [check(), failed, hidden]), name=ada),
        row(
            "ada",
            report("layer-norm", "error", [], message="line 3: invalid syntax", max_score=4.0),
            name=ada,
        ),
        row(
            "bob",
            report("masks", checks=[check(), check(), check(hidden=True, name=SECRET)]),
            name='Bob, the "Builder" 🧱',
            days_late=1.5,
            late_points=1.0,
            score=7.0,
            adjustments=[adjustment(2.0, "the seed was unlucky"), adjustment(9.0, "a slip", revoked=True)],
        ),
        row("bob", report("layer-norm", checks=[check(max_points=4.0)])),
    ]
