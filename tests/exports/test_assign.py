"""`kata gradebook assign`: hand-ins are shared among those who mark, as the desk does it, and taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Run


def theirs(kata: Run) -> dict[tuple[str, str], str]:
    """Who marks what."""
    rulings = kata("rulings", "--json").json["rulings"]
    return {
        (one["learner"], one["kata"]): one["value"]
        for one in rulings
        if one["kind"] == "assign" and not one["revoked_at"]
    }


@pytest.mark.slow
def test_hand_ins_are_shared_and_taken_back(kata: Run) -> None:
    ran = kata("assign", "kim, lee", "--comment", "halves")
    assert ran.out.splitlines() == ["kim  2 hand-ins", "lee  2 hand-ins"]
    assert theirs(kata) == {
        ("adam", "masks"): "kim", ("adam", "layer-norm"): "kim", ("ada", "masks"): "lee", ("ada", "layer-norm"): "lee",
    }  # fmt: skip
    kata("assign", "max", "--comment", "more").refused("nothing to share")
    assert "ada, masks: to be marked by lee   kim: halves" in kata("rulings", "ada").out

    undo = re.search(r"undo  kata gradebook (withdraw \S+) --comment TEXT", ran.err)
    assert undo is not None
    back = kata(*undo[1].split(), "--comment", "shared anew")
    assert back.out.count("withdrawn  ") == 4
    assert theirs(kata) == {}
    assert kata("assign", "max", "masks", "--most", "1", "--comment", "more").code == 0
    assert theirs(kata) == {("adam", "masks"): "max"}
    assert "already withdrawn" in kata("withdraw", "5", "1-4", "--comment", "-").err
    assert theirs(kata) == {("adam", "masks"): "max"}, "all or none"


@pytest.mark.slow
def test_a_section_an_assignment_or_a_learner_alone(kata: Run, course_folder: Path) -> None:
    (course_folder / "roster.csv").write_text("learner,section\nada,A\nadam,B\nzed,B\n")
    with (course_folder / "course.toml").open("a") as file:
        file.write('\n[assignments.week1]\nkatas = ["masks"]\n')
    kata("assign", "kim", "week1", "--section", "B", "--comment", "her class")
    kata("assign", "lee", "--learner", "ad", "--comment", "ambiguous")
    assert theirs(kata) == {("adam", "masks"): "kim"}
    kata("assign", "lee", "9.3.1", "--learner", "ada", "--comment", "he knows it")
    assert theirs(kata) == {("adam", "masks"): "kim", ("ada", "masks"): "lee"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("kim", "--section", "C"), "the roster has no such section"),
        (("kim", "week9"), "no assignment week9"),
        (("kim", "positional-encoding"), "Nothing was handed in for positional-encoding"),
        ((" , ",), "Nobody is named"),
        (("kim", "--learner", "nobody"), "no learner nobody"),
    ],
)
def test_what_cannot_be_shared_is_said(kata: Run, typed: tuple[str, ...], said: str) -> None:
    kata("assign", *typed, "--comment", "-").refused(said)
    assert theirs(kata) == {}


@pytest.mark.parametrize("number", ["0", "x", "4-2", "1-", "1-999999"])
def test_numbers_that_are_none(kata: Run, number: str) -> None:
    kata("withdraw", number, "--comment", "-").refused(number)
