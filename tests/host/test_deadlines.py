"""A submission has its seconds of a machine that works: what is taken away below a virtual one is given back."""

from __future__ import annotations

import os
import resource
import sys
import time
from contextlib import ExitStack
from typing import Any

import pytest

from grader.engine.host import deadline
from grader.engine.host.deadline import MOST_WAITED_S, Deadline
from grader.engine.host.errors import BudgetSpent, WorkerTimeout
from grader.machine import CoreTime, core_times, most_stolen, processor_time, waited_time

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


FAST = 1e5
"""How much faster a clock goes in a test, so that nobody needs to wait for it."""


def others_take(monkeypatch: pytest.MonkeyPatch, *, used: float) -> None:
    """Let workers wait for a processor all the time, and use so many seconds of one in a second."""
    monkeypatch.setattr(deadline, "waited_time", lambda pid: FAST * time.monotonic() if pid else 0.0)
    monkeypatch.setattr(deadline, "processor_time", lambda pid: used * time.monotonic())


@pytest.mark.parametrize("what", ["it waits for a processor", "the grader waits", "the grader computes"])
def test_what_others_take_does_not_count(examine: Any, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    opened = examine(SOURCE)
    others_take(monkeypatch, used=-FAST)
    if what == "the grader waits":
        monkeypatch.setattr(deadline, "waited_time", lambda pid: 0.0 if pid else FAST * time.monotonic())
    elif what == "the grader computes":  # between two calls
        monkeypatch.setattr(deadline, "waited_time", lambda pid: 0.0)
        computed = time.thread_time
        monkeypatch.setattr(time, "thread_time", lambda: FAST * computed())
    opened.begin(0, NO_TIME_S)
    assert opened.submission.answer() == sum(range(100_000))


@pytest.mark.parametrize("what", ["time is stolen", "the machine is busy", "it waits for its own threads"])
def test_a_loop_ends_whatever_is_taken(examine: Any, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    opened = examine("def answer():\n    while True: pass")
    if what == "time is stolen":
        monkeypatch.setattr(deadline, "most_stolen", lambda before: 0.05)
    else:
        others_take(monkeypatch, used=2.0 if "own" in what else -FAST)
    if what == "the machine is busy":
        monkeypatch.setattr(deadline, "MOST_WAITED_S", 0.05)
    opened.begin(0, NO_TIME_S)
    with pytest.raises(WorkerTimeout):
        opened.submission.answer()


def test_what_a_check_waited_is_given_back_to_the_submission_once(
    examine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = examine(SOURCE, submission_timeout_s=600.0)
    session = opened.session
    opened.begin(0, 600.0)
    before = session._ends.left()
    taken = [0.0]
    monkeypatch.setattr(deadline, "waited_time", lambda pid: taken[0])
    monkeypatch.setattr(deadline, "processor_time", lambda pid: -taken[0])
    taken[0] = FAST
    opened.begin(1, 600.0)
    opened.begin(2, 600.0)
    given_back = session._ends.left() - before
    assert MOST_WAITED_S / 2 < given_back < 1.5 * MOST_WAITED_S
    session._ends = Deadline(-1000.0)
    for _ in range(9):
        with pytest.raises(BudgetSpent):
            opened.begin(3, 600.0)
    assert session._ends.left() < -1000.0 + 1.5 * MOST_WAITED_S


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process waited for")
def test_the_system_says_what_a_process_uses_and_waits_for(examine: Any) -> None:
    opened = examine(SOURCE)
    pid = opened.session.process.pid
    before = processor_time(pid)
    opened.submission.answer()
    after = processor_time(pid)
    assert before is not None
    assert after is not None
    assert after > before
    assert waited_time(pid) >= 0.0
    assert (processor_time(1 << 22), waited_time(1 << 22)) == (None, 0.0)


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


def test_where_a_loop_is_becomes_known_above_descriptor_1023(examine: Any) -> None:
    low, high = resource.getrlimit(resource.RLIMIT_NOFILE)
    if high < 2048:
        pytest.skip("this system allows no more open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(low, 2048), high))
    with ExitStack() as held:
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (low, high))
        source = os.open(os.devnull, os.O_RDONLY)
        held.callback(os.close, source)
        for _ in range(1024):
            held.callback(os.close, os.dup(source))
        opened = examine("def answer():\n    while True: pass")
        opened.begin(0, 0.3)
        with pytest.raises(WorkerTimeout) as caught:
            opened.submission.answer()
        assert "line 2 in answer" in caught.value.trace
