"""`kata gradebook replay`: a mark is made again from what was kept, whatever the learner has done since."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.catalogue import Catalogue
from grader.gradebook.records import Attempt, Key
from grader.grading import replay as replaying
from grader.grading.run import RunPolicy
from grader.grading.task import Graded, encode
from grader.reports.report import CheckReport, KataReport
from tests.conftest import Ran
from tests.grading.conftest import RIGHT, WRONG, Hand
from tests.grading.test_grade_command import ONLY

Kata = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _stations_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "grading_processes", nullcontext)


@pytest.mark.slow
def test_a_mark_is_the_same_again_without_the_file(kata: Kata, hand_in: Hand, warm: Path) -> None:
    hand_in("cy", WRONG)
    kata("grade", "submissions", *ONLY, "-j", "1")
    hand_in("cy", RIGHT)
    ran = kata("gradebook", "replay", "cy", "insertion-sort")
    assert ran.code == 0, ran.text
    assert ran.out.startswith("the same: ")
    assert "changed since then" not in ran.out


@pytest.mark.slow
def test_an_earlier_attempt_can_be_asked_for(kata: Kata, hand_in: Hand) -> None:
    for source in (WRONG, RIGHT):
        hand_in("cy", source)
        kata("grade", "submissions", *ONLY, "-j", "1")
    first = kata("gradebook", "replay", "cy", "insertion-sort", "--attempt", "1", "--json").json
    assert (first["same"], first["differences"], first["changed"]) == (True, [], [])
    ran = kata("gradebook", "replay", "cy", "insertion-sort", "--attempt", "7")
    assert ran.code == 2
    assert "no attempt 7" in ran.text


@pytest.mark.slow
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


@pytest.mark.slow
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


NOISY = """
import random, time

def insertion_sort(numbers):
    if random.SystemRandom().random() < 2:
        raise ValueError(f"{object()} at {time.time()} of {random.SystemRandom().random()}")
"""


def test_numbers_and_addresses_in_a_message_are_no_part_of_a_mark(kata: Kata, hand_in: Hand) -> None:
    hand_in("cy", NOISY)
    kata("grade", "submissions", *ONLY, "-j", "1")
    ran = kata("gradebook", "replay", "cy", "insertion-sort")
    assert ran.code == 0, ran.text
    assert "does not produce the same numbers twice" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kept", "again", "same"),
    [
        ("got 0.12345678901234567", "got 0.12345678901234599", True),
        ("got 1e-05 at 0x7f3a00", "got NaN at 0x7f3b11", True),
        ("got 3 of 4 values", "got 2 of 4 values", True),
        ("dtype float32", "dtype float64", False),
        ("w_1 is missing", "w_2 is missing", False),
        ("too large", "too small", False),
        ("it is 3", "it was 3", False),
    ],
)
def test_messages_are_compared_by_what_they_say(
    kept: str, again: str, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = replayed(monkeypatch, failing(kept), failing(again))
    assert (not found.differences) == same
    assert found.unsteady == (same and kept != "got 0.12345678901234567")
    assert replayed(monkeypatch, failing(kept, score=0.5), failing(again)).differences


@pytest.mark.parametrize(
    ("kept", "again", "same"),
    [
        ({"query": 0, "key": 1}, {"query": 2, "key": 0}, True),
        ({"query": 0}, {"axis 0": 0}, False),
        ({"query": 0}, None, False),
    ],
)
def test_where_the_first_difference_is_follows_the_numbers(
    kept: dict[str, int], again: dict[str, int] | None, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = replayed(monkeypatch, failing("got 3", location=kept), failing("got 4", location=again))
    assert (not found.differences) == same


def failing(message: str, *, score: float = 1.0, location: dict[str, int] | None = None) -> KataReport:
    one = CheckReport(
        name="a",
        id="a",
        aspect="values",
        hidden=False,
        status="fail",
        points=0,
        max_points=1,
        message=message,
        location=location,
    )
    return KataReport(
        kata="masks", number="9.3.1", status="fail", score=score, max_score=2.0, seed=1, checks=[one]
    )


def replayed(monkeypatch: pytest.MonkeyPatch, kept: KataReport, again: KataReport) -> replaying.Replay:
    """Return what is said of a kept mark where grading gives another one now."""
    monkeypatch.setattr(replaying, "grade", lambda setup, task: encode(Graded(again)))
    attempt = Attempt(
        id=1,
        run=1,
        learner="cy",
        kata="masks",
        key=Key("", ""),
        report=kept,
        submitted_at=None,
        graded_at=datetime.now(UTC),
    )
    return replaying.replay(attempt, None, Catalogue.discover().resolve_one("masks"), RunPolicy())
