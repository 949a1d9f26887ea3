"""Rows by hand, and texts that mean harm."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.catalogue import Catalogue
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.events import PointsChange
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.html import KataTexts, Part, Viewer, Written, write_report
from grader.report.report import CheckReport, KataReport
from tests.gradebook.handmade import change, mark_of

NOW = datetime(2026, 3, 2, 17, 0, tzinfo=UTC)
HOSTILE = (
    "<script>window.hacked = 1</script>",
    "<img src=https://evil.example/x onerror='window.hacked = 1'>",
    "</pre></style></title></bdi><h1 id=broken>broken out</h1>",
    "```\n# heading of the attacker\n[link](https://evil.example)\n````\n~~~",
    "\x1b[31mred\x1b[0m \x07 \x00 \x9b31m",
    "\u202egnitirw drawkcab\u202c \u2066 \u200f",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "lone \udcff surrogate, \ufeff mark, \u2028 separator",
    "Z" + "\u0301" * 300 + " 😀",
    "--> ]]> &lt;b&gt; <!-- <svg/onload=window.hacked=1>",
)


def check(name: str = "it adds up", **facts: Any) -> CheckReport:
    """A check that passed, worth a point."""
    plain: dict[str, Any] = {
        "id": "test_" + name.split()[-1], "aspect": "values", "hidden": False, "status": "pass", "points": 1.0,
        "max_points": 1.0,
    }  # fmt: skip
    return CheckReport(name=name, **{**plain, **facts})


def failed(name: str = "it adds up", message: str = "got 1  want 2", **facts: Any) -> CheckReport:
    """A check that failed."""
    return check(name, **{"status": "fail", "points": 0.0, "message": message, **facts})


def row(learner: str = "ada", kata: str = "masks", number: str = "9.3.1", **facts: Any) -> Mark:
    """One learner and one kata; facts of the report and of the row, by name."""
    checks = facts.pop("checks", None) or [check()]
    score, most = sum(one.points for one in checks), sum(one.max_points for one in checks)
    whole = "pass" if all(one.status == "pass" for one in checks) else "fail"
    report: dict[str, Any] = {
        "status": whole,
        "seed": 0,
        "duration_s": 0.5,
        "score": score,
        "max_score": most,
    }
    of_mark = {"learner", "kata", "number", "checks", "score", "max_score"}
    of_report = set(KataReport.__struct_fields__) - of_mark
    report |= {key: facts.pop(key) for key in list(facts) if key in of_report}
    graded = KataReport(learner=learner, kata=kata, number=number, checks=checks, **report)
    return mark_of(graded, learner=learner, **{"submitted_at": NOW, "graded_at": NOW, **facts})


def adjusted(points: float, comment: str, **facts: Any) -> PointsChange:
    """A person's word on a mark."""
    return change(points, comment, **{"at": NOW, **facts})


def hostile_rows() -> list[Mark]:
    """A learner for each text that means harm, which stands wherever a submission or a person has a say."""
    made = []
    for number, text in enumerate(HOSTILE):
        problem = failed(
            text, message=text, output=text * 3, likely=text, misconception="a-mistake", id=f"test_{number}"
        )
        made.append(
            row(
                f"{number}/../{text}",
                name=text,
                checks=[problem, check()],
                message=text,
                output=text,
                adjustments=[adjusted(1, text, author=text)],
                file=text,
            )
        )
    return made


def written(rows: list[Mark], folder: Path, *, part: Part = "all", course: Course | None = None) -> Written:
    """Write a report of these rows."""
    viewer = Viewer(course or Course(), KataTexts(Catalogue.discover()))
    return write_report(rows, viewer, folder, built=NOW, part=part)


def feedback_of(folder: Path, suffix: str = ".html") -> str:
    """The feedback of the only learner there is."""
    (file,) = (folder / "feedback").glob(f"*{suffix}")
    return file.read_text(encoding="utf-8")
