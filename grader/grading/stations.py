"""Stations seen from outside: started when needed, asked one task at a time, replaced when they die.

`grade` is the one function that an executor runs: in a thread of this process, or in a worker of a cluster.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from grader import interpreter
from grader.boundary.deadline import Deadline
from grader.grading.station import LENGTH
from grader.grading.task import Refused, encode, setup_decoder

START_S = 120.0
"""How long a station may take to import torch and collect the checks on a busy machine."""
ATTEMPTS = 2
"""A station that dies takes its task along; another tries it once more."""


class StationDied(Exception):
    """A station ended, or did not answer in time."""


class Station:
    """One grading process."""

    def __init__(self, setup: bytes) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the station
        self._folder = Path(tempfile.mkdtemp(prefix="kata-station-"))
        self._folder.chmod(0o755)  # a worker may run as a user of its own
        nowhere = self._folder / "nowhere"
        nowhere.mkdir(0o700)
        self._process = interpreter.start(
            "grader.grading.station",
            [str(self._folder)],
            nowhere,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for the process that keeps the gradebook
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._fresh = True
        try:
            self._send(setup)
        except StationDied:
            self.close()
            raise

    def ask(self, task: bytes, patience_s: float) -> bytes:
        """Return the answer to a task.

        Raises:
            StationDied: it ended, or took longer than `patience_s`.
        """
        patience_s += START_S if self._fresh else 0.0
        self._send(task)
        deadline = Deadline(patience_s)
        (size,) = LENGTH.unpack(self._read(LENGTH.size, deadline))
        answer = self._read(size, deadline)
        self._fresh = False
        return answer

    def kill(self) -> None:
        """End the process; whoever waits for its answer sees it die."""
        self._process.kill()

    def close(self) -> None:
        """End it, and remove what it left. Its zygote follows, and takes every worker along."""
        self._selector.close()
        self._process.kill()
        self._process.wait()
        for stream in (self._in, self._out, self._errors):
            with contextlib.suppress(OSError):
                stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _send(self, data: bytes) -> None:
        try:
            self._in.write(LENGTH.pack(len(data)) + data)
            self._in.flush()
        except OSError:
            raise StationDied(self._last_words()) from None

    def _read(self, size: int, deadline: Deadline) -> bytes:
        data = bytearray()
        while len(data) < size:
            while not self._selector.select(max(0.0, deadline.left())):
                if deadline.left() <= 0:
                    raise StationDied("it did not answer in time")
            part = os.read(self._out.fileno(), size - len(data))
            if not part:
                raise StationDied(self._last_words())
            data += part
        return bytes(data)

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - 2000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        code = self._process.poll()
        return f"exit code {code}" + (f": {lines[-1][:300]}" if lines else "")


_idle: dict[bytes, list[Station]] = {}
_busy: set[Station] = set()
_lock = threading.Lock()
_over = threading.Event()
"""Set while everything is being ended: a station that was killed for that is not replaced."""


def grade(setup: bytes, task: bytes) -> bytes:
    """Grade one task at a station of this process, which is started when none is free. Never raises."""
    patience = setup_decoder.decode(setup).patience_s
    why = ""
    for _ in range(ATTEMPTS):
        if _over.is_set():
            break
        try:
            station = _take(setup)
        except (OSError, StationDied) as error:
            why = str(error)
            continue
        try:
            answer = station.ask(task, patience)
        except StationDied as error:
            with _lock:
                _busy.discard(station)
            station.close()
            why = str(error)
        else:
            with _lock:
                _busy.discard(station)
                over = _over.is_set()
                if not over:
                    _idle.setdefault(setup, []).append(station)
            if over:
                station.close()
            return answer
    return encode(
        Refused(
            f"The process that grades ended {ATTEMPTS} times over this submission ({why}).",
            "Grade it again with kata grade; if it happens again, report it as a fault of Kata.",
        )
    )


@contextmanager
def stations() -> Iterator[None]:
    """End every station afterwards, at work or not: whoever waits for an answer of one gets a refusal."""
    _over.clear()
    try:
        yield
    finally:
        with _lock:
            _over.set()
            idle = [station for group in _idle.values() for station in group]
            _idle.clear()
            working = list(_busy)
        for station in working:
            station.kill()
        for station in idle:
            station.close()


def _take(setup: bytes) -> Station:
    with _lock:
        free = _idle.get(setup)
        if free:
            station = free.pop()
            _busy.add(station)
            return station
        # A cluster's worker outlives runs: stations of an earlier one are in the way.
        stale = [station for key, group in _idle.items() if key != setup for station in group]
        for key in [key for key in _idle if key != setup]:
            del _idle[key]
    for station in stale:
        station.close()
    station = Station(setup)
    with _lock:
        _busy.add(station)
        if _over.is_set():  # everything was ended while this one began
            station.kill()
    return station
