"""The clock of a worker: sleep is wall time, any thread's work is processor time, waiting in line is nobody's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.engine.host.deadline import Sample, Span, Stopwatch
from tests.conftest import Examine, Opened

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's clocks of other processes")

WORKER = """
import threading
import time


def clock():
    return time.process_time()


def rest(seconds):
    time.sleep(seconds)


def toil(rounds):
    # Returns what it took by its own clocks: the wall's, the process's and this thread's.
    begun = time.perf_counter(), time.process_time(), time.thread_time()
    total = 0
    for number in range(rounds):
        total += number * number
    ended = time.perf_counter(), time.process_time(), time.thread_time()
    return [after - before for before, after in zip(begun, ended)]


def let_toil(rounds):
    found = []
    thread = threading.Thread(target=lambda: found.append(toil(rounds)))
    thread.start()
    thread.join()
    return found


def toil_twice(rounds):
    found = []
    thread = threading.Thread(target=lambda: found.append(toil(rounds)))
    thread.start()
    found.append(toil(rounds))
    thread.join()
    return found
"""
ROUNDS = 200_000
ROUNDING_S = 1e-6
"""Seconds that travel as floating-point numbers, from clocks that count nanoseconds."""
WAITED_S = 0.1
"""Many time slices of the kernel's: it notes a wait when that ends, so the last one of a sample may be noted later."""


@dataclass(frozen=True)
class Timed:
    """One call, by the stopwatch and by clocks that enclose it."""

    value: Any
    sample: Sample
    raw: float
    cpu: float
    """By the worker's own clock, from before the sample to after it."""
    theirs: float
    ours: float
    """Seconds that the worker and this thread waited for a processor."""


def waited(who: str | int) -> float:
    return int(Path(f"/proc/{who}/schedstat").read_text().split()[1]) * 1e-9


def time_of(opened: Opened, name: str, *arguments: object, waits_count: bool = True) -> Timed:
    """Time one call."""
    function, clock = getattr(opened.submission, name), opened.submission.clock
    pid = opened.session.process.pid
    before = clock()
    watch = Stopwatch(pid, waits_count=waits_count)
    started = time.perf_counter()
    theirs, ours = waited(pid), waited("thread-self")
    opened.session.stopwatch = watch
    try:
        value = function(*arguments)
    finally:
        opened.session.stopwatch = None
    theirs, ours = waited(pid) - theirs, waited("thread-self") - ours
    raw = time.perf_counter() - started
    [sample] = watch.take()[1]
    return Timed(value, sample, raw, clock() - before, theirs, ours)


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
    slept = time_of(examine(WORKER), "rest", 0.1)
    assert slept.sample.wall >= 0.1 - slept.theirs - slept.ours  # nobody wakes early
    assert slept.sample.wall <= slept.raw
    assert slept.sample.cpu <= slept.cpu + ROUNDING_S  # which runs while it works, and stands while it sleeps
    assert Span(slept.sample.wall, 0.0).net(Span(0.0, 0.0)) == slept.sample.wall


def test_processor_time_is_the_workers_own(examine: Examine) -> None:
    opened = examine(WORKER)
    nothing = time_of(opened, "clock")
    assert 0 < nothing.sample.cpu <= nothing.cpu + ROUNDING_S
    alone = time_of(opened, "toil", ROUNDS)
    _, process, _ = alone.value
    assert process - ROUNDING_S <= alone.sample.cpu <= alone.cpu + ROUNDING_S


def test_the_work_of_another_thread_is_processor_time(examine: Examine) -> None:
    opened = examine(WORKER)
    helped = time_of(opened, "let_toil", ROUNDS)
    [(_, _, thread)] = helped.value
    assert 0 < thread - ROUNDING_S <= helped.sample.cpu <= helped.cpu + ROUNDING_S
    both = time_of(opened, "toil_twice", ROUNDS)
    [(_, _, one), (_, _, other)] = both.value
    assert min(one, other) > 0
    assert one + other - ROUNDING_S <= both.sample.cpu <= both.cpu + ROUNDING_S


@pytest.mark.slow
def test_waiting_for_a_processor_is_not_the_workers_affair(examine: Examine) -> None:
    opened = examine(WORKER)
    with beside_a_busy_process(opened.session.process.pid):
        rounds = ROUNDS
        while (timed := time_of(opened, "toil", rounds)).theirs < WAITED_S:
            rounds *= 2  # until it has waited that often: a fast machine is done sooner
        counted = time_of(opened, "toil", rounds, waits_count=False)
    assert timed.sample.wall <= timed.raw - 0.8 * timed.theirs
    elapsed, *_ = counted.value
    assert counted.sample.wall >= elapsed - counted.ours - ROUNDING_S


@pytest.mark.parametrize(("waits_count", "wall"), [(True, 1.5), (False, 3.5)])
def test_what_the_kernel_says_that_both_sides_waited_is_taken_off(
    monkeypatch: pytest.MonkeyPatch, waits_count: bool, wall: float
) -> None:
    waits = {os.getpid(): 3.0, None: 5.0}
    ticks = iter((10.0, 14.0))
    monkeypatch.setattr("grader.engine.host.deadline.time.perf_counter", lambda: next(ticks))
    monkeypatch.setattr("grader.engine.host.deadline.waited_time", lambda pid=None: waits[pid])
    watch = Stopwatch(os.getpid(), waits_count=waits_count)
    with watch.sample() as sample:
        waits.update({os.getpid(): 5.0, None: 5.5})
    assert sample.wall == pytest.approx(wall)


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
    span, samples = watch.take()
    assert [sample.sent for sample in samples] == [4096, 8192]
    assert [sample.received for sample in samples] == [4096, 8192]
    assert span.wall == pytest.approx(sum(sample.wall for sample in samples))
    assert watch.take() == (Span(0, 0), [])


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    watch = Stopwatch(gone.pid)
    with watch.sample() as sample:
        pass
    assert sample.cpu == 0
