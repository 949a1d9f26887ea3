"""The clock of a worker: sleep is wall time, any thread's work is processor time, waiting in line is nobody's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from grader.timing.clock import Lap, Span, Stopwatch
from tests.conftest import Examine, Opened

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's clocks of other processes")

WORKER = """
import threading
import time


def nothing():
    return 0


def rest(seconds):
    time.sleep(seconds)


def toil(rounds):
    total = 0
    for number in range(rounds):
        total += number * number
    return total


def let_toil(rounds):
    thread = threading.Thread(target=toil, args=(rounds,))
    thread.start()
    thread.join()


def toil_twice(rounds):
    thread = threading.Thread(target=toil, args=(rounds,))
    thread.start()
    toil(rounds)
    thread.join()
"""
ROUNDS = 1_000_000


def lap_of(opened: Opened, name: str, *arguments: object, waits_count: bool = True) -> Lap:
    """Time one call."""
    function = getattr(opened.submission, name)
    watch = Stopwatch(opened.session.process.pid, waits_count=waits_count)
    opened.session.stopwatch = watch
    try:
        function(*arguments)
    finally:
        opened.session.stopwatch = None
    [lap] = watch.take()[1]
    return lap


@contextmanager
def beside_a_busy_process(pid: int) -> Iterator[None]:
    """Let `pid` share its core with a process that never rests."""
    core = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(pid)
    spinning = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE
    )
    try:
        assert spinning.stdout is not None
        spinning.stdout.readline()
        for who in (pid, spinning.pid):
            os.sched_setaffinity(who, {core})
        yield
    finally:
        spinning.kill()
        spinning.communicate()
        os.sched_setaffinity(pid, before)


def test_sleeping_is_wall_time_and_no_work(examine: Examine) -> None:
    lap = lap_of(examine(WORKER), "rest", 0.1)
    assert lap.wall > 0.09  # nobody wakes early
    assert lap.cpu < lap.wall / 2
    assert Span(lap.wall, lap.cpu).net(Span(0.0, 0.0)) == lap.wall


def test_the_work_of_another_thread_is_processor_time(examine: Examine) -> None:
    opened = examine(WORKER)
    alone = lap_of(opened, "toil", ROUNDS)
    helped = lap_of(opened, "let_toil", ROUNDS)
    both = lap_of(opened, "toil_twice", ROUNDS)
    assert helped.cpu > alone.cpu / 2
    assert both.cpu > 1.3 * alone.cpu
    assert lap_of(opened, "nothing").cpu < alone.cpu / 4


def test_waiting_for_a_processor_is_not_the_workers_affair(examine: Examine) -> None:
    opened = examine(WORKER)
    with beside_a_busy_process(opened.session.process.pid):
        started = time.perf_counter()
        lap = lap_of(opened, "toil", 4 * ROUNDS)
        raw = time.perf_counter() - started
        counted = lap_of(opened, "toil", 4 * ROUNDS, waits_count=False)
    assert lap.wall < 0.8 * raw
    assert lap.wall < 1.5 * lap.cpu
    assert counted.wall - counted.cpu > lap.wall - lap.cpu


def test_a_span_is_the_larger_of_both_and_never_nothing() -> None:
    empty = Span(wall=0.2, cpu=0.1)
    assert Span(wall=1.2, cpu=0.6).net(empty) == pytest.approx(1.0)
    assert Span(wall=1.2, cpu=2.1).net(empty) == pytest.approx(2.0)
    assert Span(wall=0.1, cpu=0.0).net(empty) > 0


def test_what_crossed_is_noted_lap_by_lap(examine: Examine) -> None:
    import torch

    opened = examine("def double(x): return 2 * x")
    double = opened.submission.double
    watch = opened.session.stopwatch = Stopwatch(opened.session.process.pid)
    double(torch.ones(1024))
    double(torch.ones(2048))
    span, laps = watch.take()
    assert [lap.sent for lap in laps] == [4096, 8192]
    assert [lap.received for lap in laps] == [4096, 8192]
    assert span.wall == pytest.approx(sum(lap.wall for lap in laps))
    assert watch.take() == (Span(0, 0), [])


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    watch = Stopwatch(gone.pid)
    with watch.lap() as lap:
        pass
    assert lap.cpu == 0
