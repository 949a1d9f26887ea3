"""`kata gradebook replay`: a mark is made again from what was kept, whatever the learner has done since."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from grader.grading import replay as replaying
from tests.conftest import Ran
from tests.grading.conftest import RIGHT, WRONG, Hand
from tests.grading.test_grade_command import ONLY

Kata = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _stations_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "stations", nullcontext)


def test_a_mark_is_the_same_again_without_the_file(kata: Kata, hand_in: Hand, warm: Path) -> None:
    hand_in("cy", WRONG)
    kata("grade", "submissions", *ONLY, "-j", "1")
    hand_in("cy", RIGHT)
    ran = kata("gradebook", "replay", "cy", "insertion-sort")
    assert ran.code == 0, ran.text
    assert ran.out.startswith("the same: ")
    assert "not as it was" not in ran.out


def test_an_earlier_attempt_can_be_asked_for(kata: Kata, hand_in: Hand) -> None:
    for source in (WRONG, RIGHT):
        hand_in("cy", source)
        kata("grade", "submissions", *ONLY, "-j", "1")
    first = kata("gradebook", "replay", "cy", "insertion-sort", "--attempt", "1", "--json").json
    assert (first["same"], first["differences"], first["changed"]) == (True, [], [])
    ran = kata("gradebook", "replay", "cy", "insertion-sort", "--attempt", "7")
    assert ran.code == 2
    assert "no attempt 7" in ran.text


def test_a_mark_that_somebody_forged_in_the_database_is_found_out(
    kata: Kata, hand_in: Hand, warm: Path
) -> None:
    hand_in("cy", WRONG)
    kata("grade", "submissions", *ONLY, "-j", "1")
    with sqlite3.connect(warm / "gradebook.sqlite") as database:
        database.execute(
            """update attempts set report = replace(report, '"status":"fail"', '"status":"pass"')"""
        )
    ran = kata("gradebook", "replay", "cy", "insertion-sort")
    assert ran.code == 1
    assert "not the same" in ran.out
    assert "status was pass, is fail" in ran.out


def test_what_could_not_be_read_is_the_same_again(kata: Kata, hand_in: Hand) -> None:
    hand_in("ed", None)
    hand_in("ada", RIGHT)
    kata("grade", "submissions", *ONLY, "-j", "1")
    assert kata("gradebook", "replay", "ed", "insertion-sort").code == 0


def test_a_fixed_seed_is_used_again(kata: Kata, hand_in: Hand) -> None:
    hand_in("cy", WRONG)
    kata("grade", "submissions", *ONLY, "-j", "1", "--seed", "11")
    ran = kata("gradebook", "replay", "cy", "insertion-sort")
    assert ran.code == 0
    assert "with seed 11" in ran.err
