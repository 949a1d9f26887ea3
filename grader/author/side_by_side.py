"""Grade many answers side by side: in forks of this process, each with a zygote of its own."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import TypeVar

from grader.engine.host.launcher import Launcher, default_launcher

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Launcher, T], R]

FEWEST = 16
"""Fewer items are not worth the start of more zygotes."""


def side_by_side(
    work: Work[T, R], items: Sequence[T], launcher: Launcher, jobs: int, step: Callable[[int], None]
) -> list[R]:
    """Return what `work` makes of each item, in their order; `step` is called with how many are done."""
    alone = jobs < 2 or len(items) < FEWEST or launcher.name != "fork"
    results: dict[int, R] = {}
    # Results are pickled, which is safe: they come from forks of this very process. No thread may run in it.
    for place, result in () if alone else _from_forks(work, items, min(jobs, len(items))):
        results[place] = result
        step(len(results))
    for place, item in enumerate(items):
        if place not in results:  # what ends a fork happens again here, where it is raised
            results[place] = work(launcher, item)
            step(len(results))
    return [results[place] for place in range(len(items))]


def _from_forks(work: Work[T, R], items: Sequence[T], jobs: int) -> Iterator[tuple[int, R]]:
    forks: dict[Connection, int] = {}
    try:
        for job in range(jobs):
            ours, theirs = Pipe(duplex=False)
            pid = os.fork()
            if pid == 0:
                _serve(work, items, range(job, len(items), jobs), theirs)
            # Ours to close: with a writer left open here, the pipe would never end.
            theirs.close()
            forks[ours] = pid
        while forks:
            for fork in wait(list(forks)):
                assert isinstance(fork, Connection)
                try:
                    yield fork.recv()
                except EOFError:
                    fork.close()
                    os.waitpid(forks.pop(fork), 0)
    finally:
        for pid in forks.values():
            with contextlib.suppress(ProcessLookupError):
                # Nobody reads their results any more, and each of them has workers of its own.
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _serve(work: Work[T, R], items: Sequence[T], places: Sequence[int], theirs: Connection) -> None:
    """Do a fork's part and end it, without anything that belongs to the process it was forked from."""
    code = 1
    with contextlib.suppress(BaseException):  # the parent does what is missing, and raises what it meets
        launcher = default_launcher(fill_memory=True)
        for place in places:
            theirs.send((place, work(launcher, items[place])))
        launcher.close()
        code = 0
    os._exit(code)
