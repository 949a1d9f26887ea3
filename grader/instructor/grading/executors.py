"""Where grading happens: threads here that each mind a grading process, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from grader import install_extra
from grader.catalogue.catalogue import answers
from grader.engine import sandbox
from grader.errors import EngineError, UsageError
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.database import Address
from grader.instructor.grading.processes import grading_processes

ANSWER_S = 3.0
"""Within so many seconds a scheduler must accept a connection."""
REACH_S = "15s"
"""How long a scheduler may take to answer."""


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


def _refuse_silent(address: str) -> None:
    """Ask for a connection before Dask does: it tries again for as long as it may, and complains when it gives up.

    Raises:
        EngineError: nobody answers at a host and a port.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return  # Dask says what is wrong with it
    if parts.scheme not in ("tcp", "tls") or not host or not port:
        return
    try:
        socket.create_connection((host, port), timeout=ANSWER_S).close()
    except OSError as error:
        raise _nobody_at(address) from error


def _nobody_at(address: str) -> EngineError:
    return EngineError(
        f"No Dask scheduler answers at {address}.",
        "Start one with: dask scheduler (it prints its address), and give that to --scheduler.",
    )


@contextmanager
def cluster_slots(address: str) -> Iterator[Slots]:
    """Grade on the workers of the Dask scheduler at `address`.

    Raises:
        UsageError: the extra is not installed, or the address is none.
        EngineError: no scheduler answers there, or it has no workers.
    """
    try:
        import distributed
    except ImportError as error:
        raise UsageError(
            "--scheduler needs Dask, which is not installed.", f"Install it with: {install_extra('cluster')}"
        ) from error
    _refuse_silent(address)
    client: Any
    try:
        client = cast(Any, distributed.Client)(address, timeout=REACH_S, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise _nobody_at(address) from error
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"--scheduler {address} is not an address ({error}).", "It looks like tcp://host:8786"
        ) from error
    try:
        # A thread of a Dask worker minds one grading process, as a thread does here.
        threads = sum(client.nthreads().values())
        if not threads:
            raise EngineError(
                f"The scheduler at {address} has no workers.",
                f"Start some, on any machine that has Kata and its packs: dask worker {address} --nthreads 1",
            )
        # Where Dask moves a task is not our affair; how often it is lost with a machine is (see Run).
        # Only our own code runs in a Dask worker: it starts grading processes, and those start confined
        # workers.
        executor = client.get_executor(pure=False)
        machines = len({worker.rpartition(":")[0] for worker in client.nthreads()})
        where = f"{threads} slot{'s' * (threads != 1)} on {machines} machine{'s' * (machines != 1)}"
        yield Slots(executor, threads, where)
        executor.shutdown(wait=False)
    finally:
        client.close(timeout=5)
