"""Where grading happens: threads here that each mind a grading process, or what an extra has instead."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.catalogue.catalogue import answers
from grader.engine import sandbox
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.database import Address
from grader.instructor.grading.processes import grading_processes


@dataclass(frozen=True)
class Slots:
    """An executor, and how many tasks it works on at once."""

    executor: Executor
    count: int
    where: str
    """For people: `2 slots here`."""


def cores() -> int:
    """Return how many submissions this machine grades at a time, if nobody says otherwise."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def refuse_exposed(where: str, course: Course, submissions: Path | None, *, agreed: bool) -> None:
    """Refuse to grade on this machine where a submission could read answers, marks, or the work of others.

    Args:
        where: the gradebook's address.
        course: whose settings lie next to the marks.
        submissions: the download.
        agreed: whether somebody said that the isolation *process* is enough.

    Raises:
        UsageError: what lies where.
    """
    hidden, book = answers(), Address.parse(where).file
    secrets = {
        **dict.fromkeys(hidden, "a pack's answers"),
        **({book: "the gradebook"} if book is not None else {}),
        **({course.path.parent: "the course"} if course.path is not None else {}),
        **({submissions: "the class's submissions"} if submissions is not None else {}),
        Path(tempfile.gettempdir()): "where submissions lie while they are graded",
    }
    sandbox.refuse_exposed(secrets, sandbox.python_view(hidden), sandbox.offered(), agreed=agreed)


@contextmanager
def local_slots(count: int) -> Iterator[Slots]:
    """Grade on this machine, `count` submissions at a time."""
    pool = ThreadPoolExecutor(count, thread_name_prefix="slot")
    try:
        # A thread that waits for an answer comes free when its grading process ends.
        with grading_processes():
            try:
                yield Slots(pool, count, f"{count} slot{'s' * (count != 1)} on this machine")
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
    finally:
        pool.shutdown(wait=True)
