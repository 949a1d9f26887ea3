"""Grade on the workers of a Dask cluster."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import urlsplit

from grader.api import EngineError, Slots, UsageError, install_extra

ANSWER_S = 3.0
"""Within so many seconds a scheduler must accept a connection."""
REACH_S = "15s"
"""How long a scheduler may take to answer."""


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
