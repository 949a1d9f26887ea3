"""Which hand-in is the newest: no matter whose time is known, and said wherever it is not the one that counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ran, Run
from tests.grading.conftest import RIGHT, WRONG

pytestmark = pytest.mark.slow


COURSE = """
name = "Sorting"
timezone = "UTC"
roster = "roster.csv"

[late]
percent_per_day = 10

[assignments.week1]
katas = ["insertion-sort"]
due = 2026-10-12T12:00:00
closes = 2026-10-20T12:00:00
"""
FIRST, LATE = "2026-10-11T12:00:00", "2026-10-13T14:00:00"


@pytest.fixture
def canvas(warm: Path) -> Path:
    """Two downloads as Canvas gives them, without times: Ada hands in again a day late, and gets it right."""
    (warm / "course.toml").write_text(COURSE)
    (warm / "roster.csv").write_text("learner,name,canvas_id\nada,Ada Lovelace,1234\nbob,Bob Babbage,99\n")
    for folder, name, source in (
        ("week1", "lovelaceada_1234_5678_insertion_sort.py", WRONG),
        ("week1", "babbagebob_99_5679_insertion_sort.py", RIGHT),
        ("week1-late", "lovelaceada_LATE_1234_5690_insertion_sort-1.py", RIGHT),
    ):
        (warm / folder).mkdir(exist_ok=True)
        (warm / folder / name).write_text(source)
    (warm / "first.csv").write_text(f"learner,submitted_at\nada,{FIRST}\n")
    (warm / "late.csv").write_text(f"learner,submitted_at\nada,{LATE}\n")
    return warm


def grade(kata: Run, *words: str) -> Ran:
    ran = kata("grade", *words, "--assignment", "week1", "-j", "1").done()
    return ran


def mark(kata: Run, learner: str = "ada") -> tuple[str, float]:
    row: dict[str, Any] = kata("gradebook", "show", learner, "--json").json["katas"][0]
    return row["status"], row["score"]


TIMED = {"week1": "first.csv", "week1-late": "late.csv"}


@pytest.mark.parametrize(
    "steps",
    [
        ("week1", "week1-late", "week1-late --times"),
        ("week1", "week1-late --times"),
        ("week1", "week1-late", "week1 --times"),
        ("week1 --times", "week1-late"),
        ("week1", "week1-late", "week1"),
    ],
)
def test_the_newest_counts_whoever_has_a_time(kata: Run, canvas: Path, steps: tuple[str, ...]) -> None:
    for step in steps:
        place, *timed = step.split()
        grade(kata, place, *timed, *([TIMED[place]] if timed else []))
    late = steps[-1] == "week1-late --times"
    assert mark(kata) == ("pass", 4.0 if late else 5.0)
    assert "newer" not in kata("gradebook", "problems").out
    # Once both times are known, lateness is the late one's.
    grade(kata, "week1", "--times", "first.csv")
    grade(kata, "week1-late", "--times", "late.csv")
    assert mark(kata) == ("pass", 4.0)


def test_what_is_handed_in_again_in_one_folder_is_new(kata: Run, canvas: Path) -> None:
    place = canvas / "week1" / "lovelaceada_1234_5678_insertion_sort.py"
    for source, status in ((WRONG, "fail"), (RIGHT, "pass"), (WRONG, "fail")):
        place.write_text(source)
        grade(kata, "week1")
        assert mark(kata)[0] == status


def test_a_newer_one_that_does_not_count_is_said_everywhere(kata: Run, canvas: Path) -> None:
    (canvas / "late.csv").write_text("learner,submitted_at\nada,2026-10-21T12:00:00\n")
    grade(kata, "week1", "--times", "first.csv")
    ran = grade(kata, "week1-late", "--times", "late.csv")
    assert mark(kata)[0] == "fail"
    why = "a newer attempt came in after the assignment was closed"
    assert f"ada, insertion-sort: {why}" in ran.out
    found = kata("gradebook", "problems", "--json").json["problems"]
    assert [(one["kind"], one["learner"], one["what"]) for one in found] == [
        ("a newer attempt does not count", "ada", why)
    ]
    assert "kata gradebook choose ada insertion-sort" in found[0]["command"]
    export = kata("gradebook", "export", "--format", "canvas")
    assert "A newer attempt does not count: ada (insertion-sort)" in export.err
    assert kata("report", "--feedback-only").code == 0
    pages = json.loads((canvas / "kata-report" / "index.json").read_text())
    assert why in json.dumps(pages) or any(
        why in page.read_text() for page in (canvas / "kata-report" / "feedback").glob("*ada*.md")
    )
