"""A run that is stopped, and one that goes on: what it has not come to has no mark, and no 0."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from grader.instructor.grading import run as of_run
from tests.conftest import Ran, Run
from tests.grading.conftest import RIGHT, WRONG

pytestmark = pytest.mark.slow

COURSE = 'name = "Sorting"\nroster = "roster.csv"\n[assignments.week1]\nkatas = ["insertion-sort"]\n'
NAMES = ("ada", "bob", "cleo", "dov")


@pytest.fixture
def stopped(warm: Path, kata: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class of which two were graded when Ctrl-C came; Eve is in the roster and handed in nothing."""
    (warm / "course.toml").write_text(COURSE)
    roster = "".join(f"{name},{name.title()},{place}\n" for place, name in enumerate((*NAMES, "eve")))
    (warm / "roster.csv").write_text(f"learner,name,canvas_id\n{roster}")
    for name in NAMES:
        (warm / "week 1" / name).mkdir(parents=True)
        (warm / "week 1" / name / "insertion_sort.py").write_text(RIGHT + f"# {name}\n")
    with monkeypatch.context() as patched:
        _stop_after(patched, 2)
        ran = grade(kata)
    assert ran.code == 130, ran.text
    return warm


def _stop_after(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Press Ctrl-C once so many rows are kept."""
    keep, kept = of_run.Run._keep, []

    def keeping(self: Any, *given: Any) -> None:
        if len(kept) == rows:
            raise KeyboardInterrupt
        keep(self, *given)
        kept.append(given)

    monkeypatch.setattr(of_run.Run, "_keep", keeping)


def grade(kata: Run, *words: str) -> Ran:
    return kata("grade", "week 1", "--assignment", "week1", "-j", "1", *words)


def cells(kata: Run, system: str, name: str, column: str) -> dict[str, str]:
    ran = kata("gradebook", "export", "--format", system)
    rows = csv.DictReader(io.StringIO(ran.out))
    return {row[name]: next(row[one] for one in row if one.startswith(column)) for row in rows}


def test_what_was_not_come_to_has_no_mark(kata: Run, stopped: Path) -> None:
    export = kata("gradebook", "export", "--format", "canvas")
    says = "the last run of week 1 was stopped at 2 of 4"
    goes_on = f"kata grade '{stopped / 'week 1'}' --assignment week1"
    assert f"not graded yet: {says}: {goes_on}" in export.err
    assert "1 in the roster handed in nothing: eve" in export.err
    by_number = dict(enumerate((*NAMES, "eve")))
    got = {
        by_number[int(number)]: cell
        for number, cell in cells(kata, "canvas", "ID", "1.1.1").items()
        if number
    }
    assert got == {"ada": "5", "bob": "5", "cleo": "", "dov": "", "eve": "0"}
    assert cells(kata, "csv", "learner", "score") == {
        "ada": "5", "bob": "5", "cleo": "", "dov": "", "eve": "0"
    }  # fmt: skip
    assert cells(kata, "wide", "learner", "score")["cleo"] == ""
    kata("gradebook", "export", "--format", "gradescope", "-o", "results")
    assert sorted(path.name for path in (stopped / "results").iterdir()) == ["ada", "bob", "eve"]
    shown = kata("gradebook", "show", "dov", "--json").json
    assert (shown["katas"][0]["status"], shown["katas"][0]["score"], shown["not_graded"]) == (
        "not_graded", None, 1
    )  # fmt: skip
    table = kata("gradebook", "show")
    assert "… -" in table.out
    assert says in table.err
    assert "… not graded yet" in kata("gradebook", "show", "dov").out
    found = kata("gradebook", "problems", "--json").json["problems"]
    assert [(one["kind"], one["what"], one["command"]) for one in found] == [
        ("not graded", f"2 hand-ins: {says}", goes_on)
    ]
    report = kata("report")
    assert says in report.err
    page = next((stopped / "kata-report" / "feedback").glob("dov*.md")).read_text()
    assert "not graded yet" in page
    assert "· - of 5 points" in page
    assert str(stopped) not in page


def test_the_same_command_goes_on(kata: Run, stopped: Path) -> None:
    ran = grade(kata)
    assert ran.code == 0, ran.text
    assert "2 unchanged" in ran.out
    export = kata("gradebook", "export", "--format", "canvas")
    assert "not graded" not in export.err
    assert set(cells(kata, "csv", "learner", "score").values()) == {"5", "0"}
    assert "Nothing is open" in kata("gradebook", "problems").err


def test_what_was_graded_before_keeps_its_mark(
    kata: Run, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade(kata)
    for name in NAMES:
        (stopped / "week 1" / name / "insertion_sort.py").write_text(WRONG + f"# {name}\n")
    with monkeypatch.context() as patched:
        _stop_after(patched, 1)
        grade(kata)
    scores = cells(kata, "csv", "learner", "score")
    assert (scores["ada"], scores["bob"], scores["dov"]) == ("1", "5", "5")
    assert "3 hand-ins: the last run of week 1 was stopped at 1 of 4" in kata("gradebook", "problems").out


def test_a_mark_that_somebody_sets_is_one(kata: Run, stopped: Path) -> None:
    kata("gradebook", "override", "dov", "insertion-sort", "4", "--comment", "on paper")
    scores = cells(kata, "csv", "learner", "score")
    assert (scores["cleo"], scores["dov"]) == ("", "4")


def test_while_a_run_goes_on_others_see_what_is_left(
    kata: Run, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, seen = of_run.Run._done, []

    def looking(self: Any, submission: Any) -> None:
        done(self, submission)
        if submission.learner == "cleo":
            seen.append(kata("gradebook", "export", "--format", "csv"))

    monkeypatch.setattr(of_run.Run, "_done", looking)
    assert grade(kata).code == 0
    (export,) = seen
    assert "not graded yet: the last run of week 1 has come to 3 of 4" in export.err
    scores = {row["learner"]: row["score"] for row in csv.DictReader(io.StringIO(export.out))}
    assert scores == {"ada": "5", "bob": "5", "cleo": "5", "dov": "", "eve": "0"}
