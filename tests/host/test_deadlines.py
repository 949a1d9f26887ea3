"""A submission has its seconds of a machine that works: what is taken away below a virtual one is given back."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from grader.host import deadline
from grader.host.deadline import Deadline
from grader.host.endings import WorkerTimeout
from grader.machine import CoreTime, core_times, most_stolen

NO_TIME_S = 1e-9
SOURCE = "def answer(): return sum(range(100_000))"


@pytest.mark.parametrize("stolen", [0.0, 60.0])
def test_time_that_was_stolen_does_not_count(
    examine: Any, monkeypatch: pytest.MonkeyPatch, stolen: float
) -> None:
    opened = examine(SOURCE)
    monkeypatch.setattr(deadline, "most_stolen", lambda before: stolen)
    opened.begin(0, NO_TIME_S)
    if stolen:
        assert opened.submission.answer() == sum(range(100_000))
    else:
        with pytest.raises(WorkerTimeout):
            opened.submission.answer()


def test_a_loop_ends_however_much_was_stolen(examine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = examine("def answer():\n    while True: pass")
    monkeypatch.setattr(deadline, "most_stolen", lambda before: 0.05)
    opened.begin(0, NO_TIME_S)
    with pytest.raises(WorkerTimeout):
        opened.submission.answer()


def test_a_deadline_can_be_moved() -> None:
    moved = Deadline(0.0)
    assert moved.left() <= 1.0
    moved.extend(3600.0)
    assert 3000.0 < moved.left() <= 3601.0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what its cores do")
def test_the_core_that_was_robbed_most_counts() -> None:
    now = core_times()
    assert now.keys() >= os.sched_getaffinity(0)
    first = min(now)
    before = {core: CoreTime(time.busy, time.stolen - 500.0 * (core == first)) for core, time in now.items()}
    assert most_stolen(before) >= 500.0
    assert core_times({first}).keys() == {first}


def test_a_system_that_does_not_say_steals_nothing() -> None:
    assert most_stolen({}) == 0.0
