"""Whoever is not in the roster may be anybody of whom that work did not come in: nobody gets a 0 for it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Bundle, Submission
from tests.conftest import Run
from tests.pages.builders import row

COURSE = """
name = "A course"
roster = "roster.csv"
[assignments.week1]
katas = ["masks", "feed-forward"]
[assignments.week2]
katas = ["layer-norm"]
"""
NUMBERS = {"masks": "9.3.1", "layer-norm": "9.3.3", "feed-forward": "9.3.4"}


@pytest.fixture
def graded(folder: Path) -> None:
    """Ada handed in all; Linus week 2 under his name and week 1 under another; of Zed nothing came in."""
    (folder / "course.toml").write_text(COURSE)
    (folder / "roster.csv").write_text("learner\nada\nlinus\nzed\n")
    given = {"ada": NUMBERS, "linus.p": {"masks"}, "linus": {"layer-norm"}}
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        run = book.start_run({})
        for learner, slugs in given.items():
            for slug in slugs:
                bundle = Bundle("x.py", {"x.py": f"{learner} {slug}".encode()})
                one = Submission(learner=learner, kata=slug, bundle=bundle)
                report = row(learner, kata=slug, number=NUMBERS[slug]).report
                run.record(one, Key(f"{learner} {slug}", "terms"), report)
        run.finish()


def cells(text: str) -> dict[str, list[str]]:
    return {line[0]: line[5:] for line in csv.reader(io.StringIO(text)) if line[3]}


def test_a_cell_is_empty_where_a_stranger_s_work_may_be_the_learner_s(
    kata: Run, graded: None, folder: Path
) -> None:
    ran = kata("gradebook", "export", "--format", "canvas").done()
    found = cells(ran.out)
    assert found["ada"] == ["1", "1", "1"]
    # Masks, layer normalisation, feed-forward: nobody unknown handed in the last two, so these are 0s.
    assert found["linus"] == ["", "1", "0"]
    assert found["zed"] == ["", "0", "0"]
    assert "not in the roster: linus.p; linus? (all of the roster's name is in it)" in ran.err
    assert "1 in the roster handed in nothing: zed" in ran.err
    assert (
        "cells are empty, not 0, for a kata that a stranger handed in and these did not: linus, zed"
        in ran.err
    )
    found = cells(kata("gradebook", "export", "--format", "canvas", "--per-assignment").out)
    assert found["linus"] == ["", "1"]
    ran = kata("gradebook", "export", "--format", "canvas", "--assignment", "week2")
    assert "cells are empty" not in ran.err
    assert cells(ran.out)["zed"] == ["0"]

    assert kata("gradebook", "alias", "linus", "linus.p", "--comment", "his folder").code == 0
    ran = kata("gradebook", "export", "--format", "canvas", "--strict").done()
    assert (cells(ran.out)["linus"], cells(ran.out)["zed"]) == (["1", "1", "0"], ["0", "0", "0"])


def test_who_has_left_is_in_no_table_and_keeps_nobody_s_cell_empty(kata: Run, graded: None) -> None:
    kata("gradebook", "left", "linus.p", "--comment", "dropped the course").done()
    kata("gradebook", "left", "ada", "--comment", "dropped the course").done()
    ran = kata("gradebook", "export", "--format", "canvas").done()
    assert {name: own for name, own in cells(ran.out).items() if name != "Student"} == {
        "linus": ["0", "1", "0"],
        "zed": ["0", "0", "0"],
    }
    assert "not in the roster" not in ran.err
    assert "ada" not in kata("gradebook", "show").out
    assert "3/3" in kata("gradebook", "show", "ada").out
    assert kata("gradebook", "problems").err == "Nothing is open.\n"
    kata("gradebook", "left", "ada", "--comment", "so").refused("ada has left already")
    kata("gradebook", "withdraw", "2", "--comment", "is back").done()
    assert "ada" in cells(kata("gradebook", "export", "--format", "canvas").out)


def test_what_comes_in_of_somebody_who_has_left_is_a_problem(kata: Run, graded: None) -> None:
    kata("gradebook", "left", "ada", "--comment", "dropped the course").done()
    with Gradebook.open("gradebook.sqlite", create=False) as book:
        run = book.start_run({})
        bundle = Bundle("x.py", {"x.py": b"once more"})
        run.record(
            Submission(learner="ada", kata="masks", bundle=bundle), Key("more", "terms"), row("ada").report
        )
        run.finish()
    ran = kata("gradebook", "problems")
    assert "ada: has left the course, and something came in after that" in ran.out
    assert "kata gradebook withdraw 1" in ran.out


def test_a_zero_that_somebody_gave_is_a_zero(kata: Run, graded: None) -> None:
    assert kata("gradebook", "override", "zed", "masks", "0", "--comment", "was not there").code == 0
    assert cells(kata("gradebook", "export", "--format", "canvas").out)["zed"] == ["0", "0", "0"]
