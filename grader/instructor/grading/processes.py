"""Grading processes seen from outside: started when needed, asked one task at a time, replaced when they die.

`grade` is the one function that an executor runs: in a thread of this process, or in a worker of a cluster.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from grader import interpreter
from grader.engine.host.deadline import Deadline
from grader.engine.wire import frames
from grader.errors import KataError
from grader.instructor.grading.grading_process import SECONDS
from grader.instructor.grading.messages import (
    Answer,
    NotGraded,
    Stopped,
    decode_answer,
    encode_answer,
    task_decoder,
)
from grader.instructor.submissions.submission import Bundle
from grader.machine import processor_time
from grader.report.report import KataReport

START_S = 120.0
"""How long one may take to import torch, collect the checks and begin its first task on a busy machine."""
IDLE_S = 30.0
"""How long it may be silent beyond the time of its stage, without any use of the processor."""
OWN_S = 2.0
"""Processor time that it may use beyond the time of its stage: for what it does itself, with what a worker answered."""
ENDING_S = 10.0
"""How long a process that was killed may take to be gone; one that the kernel holds back is left behind."""
LOOK_S = 0.25
ATTEMPTS = 2
"""A grading process that dies takes its task along; another tries it once more."""


class GradingProcessDied(Exception):
    """A grading process ended, or did not begin in time."""


class GradingProcessStalled(GradingProcessDied):
    """Raised when a grading process is still busy, or silent, after the submission's time limit."""


class GradingProcess:
    """One grading process, watched from outside: no code that it runs, in C or in Python, keeps it from being ended."""

    def __init__(self, setup: bytes) -> None:
        # A file, not a pipe: nobody reads while a submission is graded, and a full pipe would stop the process.
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the grading process
        folder = None
        try:
            self._folder = folder = Path(tempfile.mkdtemp(prefix="kata-grading-"))
            self._folder.chmod(0o755)  # a worker may run as a user of its own
            nowhere = self._folder / "nowhere"
            # Where the interpreter stands: its own folder holds submissions, whose names could be those of
            # modules.
            nowhere.mkdir(0o700)
            self._process = interpreter.start(
                "grader.instructor.grading.grading_process",
                [str(self._folder)],
                nowhere,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for the process that keeps the gradebook
            )
        except BaseException:
            self._errors.close()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        # A process that reads no more must not keep this one waiting: it is watched by the clock.
        os.set_blocking(self._in.fileno(), False)
        self._fresh = True
        try:
            self._send(setup, Deadline(START_S))
        except GradingProcessDied:
            self.close()
            raise

    def run_task(self, task: bytes) -> bytes:
        """Return the answer to a task.

        Raises:
            GradingProcessStalled: it was at work on it, and did not come to an end.
            GradingProcessDied: it ended, or never began.
        """
        begin = Deadline(START_S if self._fresh else IDLE_S)
        self._send(task, begin)
        stage: _Stage | None = None
        while True:
            (size,) = frames.LENGTH.unpack(self._read(frames.LENGTH.size, begin, stage))
            if size:
                answer = self._read(size, begin, stage)
                self._fresh = False
                return answer
            (seconds,) = SECONDS.unpack(self._read(SECONDS.size, begin, stage))
            stage = _Stage(self._process.pid, seconds)

    def kill(self) -> None:
        """End the process; the caller that waits for its answer sees it die."""
        self._process.kill()

    def close(self) -> None:
        """End it, and remove what it left. Its zygote follows, and takes every worker along."""
        self._process.kill()
        # A zygote that somebody stopped has to see that its grader is gone.
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_S)
        for stream in (self._in, self._out, self._errors):
            with contextlib.suppress(OSError):
                stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _send(self, data: bytes, deadline: Deadline) -> None:
        rest = memoryview(frames.LENGTH.pack(len(data)) + data)
        while rest:
            try:
                # A pipe takes any part of it, and a process that stands still takes none.
                rest = rest[os.write(self._in.fileno(), rest) :]
            except BlockingIOError:
                self._ready(select.POLLOUT)
                if deadline.left() <= 0:
                    raise GradingProcessDied("it did not read what it was sent") from None
            except OSError:
                raise GradingProcessDied(self._last_words()) from None

    def _read(self, size: int, begin: Deadline, stage: _Stage | None) -> bytes:
        data = bytearray()
        while len(data) < size:
            began = time.monotonic()
            if not self._ready(select.POLLIN):
                if stage is None:
                    if begin.left() <= 0:
                        raise GradingProcessDied("it did not begin in time")
                    continue
                # What this machine itself slept through is nobody's fault.
                stage.extend(began)
                if why := stage.over():
                    raise GradingProcessStalled(why)
                continue
            part = os.read(self._out.fileno(), size - len(data))
            if not part:
                raise GradingProcessDied(self._last_words())
            data += part
        return bytes(data)

    def _ready(self, event: int) -> bool:
        """Wait a moment for one of its streams, or for its end."""
        poll = select.poll()  # select(2) knows no descriptor above 1023
        poll.register(self._out if event == select.POLLIN else self._in, event)
        return bool(poll.poll(LOOK_S * 1000))

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - 2000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        code = self._process.poll()
        return f"exit code {code}" + (f": {lines[-1][:300]}" if lines else "")


class _Stage:
    """What a grading process does now, how long that may take, and what it has used since that time was over."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self._time = Deadline(seconds)
        self._silent: Deadline | None = None
        self._used: float | None = None

    def extend(self, began: float) -> None:
        """Give it the time that a look took in which nothing ran."""
        for deadline in (self._time, self._silent):
            if deadline is not None:
                deadline.add_stall(began, LOOK_S)

    def over(self) -> str | None:
        """Say why it should be ended; None while it may go on."""
        if self._time.left() > 0:
            return None
        if self._silent is None:
            self._silent, self._used = Deadline(IDLE_S), processor_time(self._pid)
        now = processor_time(self._pid)
        if self._used is not None and now is not None and now - self._used >= OWN_S:
            return f"it was busy for {OWN_S:g} s after the submission's time was over"
        # A process that gets no processor, on a machine with too much to do, is not busy, and has more time.
        return f"it was silent for {IDLE_S:g} s" if self._silent.left() <= 0 else None


_idle: dict[bytes, list[GradingProcess]] = {}
_busy: set[GradingProcess] = set()
_lock = threading.Lock()
_uses = 0
_over = threading.Event()
"""Set while everything is being ended: a grading process that was killed for that is not replaced."""


def grade(setup: bytes, task: bytes) -> bytes:
    """Grade one task at a grading process of this process, which is started when none is free. Never raises."""
    failures: list[NotGraded | Stopped] = []
    for _ in range(ATTEMPTS):
        if isinstance(answer := _tried(setup, task), KataReport):
            return encode_answer(answer)
        failures.append(answer)
        if isinstance(answer, NotGraded) and not answer.again:
            break
    # The kata's reference: where it is not graded here either, the machine is at fault and no submission.
    if not isinstance(_tried(setup, _control(task)), KataReport):
        last = failures[-1]
        return encode_answer(NotGraded(last.message, last.hint if isinstance(last, NotGraded) else None))
    # A last chance, now that the machine is known to be well; not for one that only stood still, and would
    # again.
    if not isinstance(failures[-1], Stopped):
        if isinstance(answer := _tried(setup, task), KataReport):
            return encode_answer(answer)
        failures.append(answer)
    return encode_answer(_charged(failures[-1], len(failures)))


def _tried(setup: bytes, task: bytes) -> Answer:
    """Return the answer to a task, or what became of the process that was to give it."""
    if _over.is_set():
        return NotGraded("Grading was stopped.")
    try:
        return _ask(setup, task)
    except GradingProcessStalled as error:
        return Stopped(f"The grading process had to be ended: {error}.")
    except KataError as error:
        return NotGraded(error.message, error.hint, again=True)
    except (OSError, GradingProcessDied) as error:
        return NotGraded(
            f"The grading process ended on this submission ({error}).",
            "Grade it again with kata grade; if it happens again, report it as a fault of Kata.",
            again=True,
        )


def _control(task: bytes) -> bytes:
    """Return the same task for the kata's reference, or for a file that does nothing where there is none."""
    own = task_decoder.decode(task)
    main = own.bundle.main if own.bundle is not None else "nothing.py"
    blank = Bundle(main, {main: b"pass\n"})
    return frames.encode(msgspec.structs.replace(own, bundle=blank, status="found", control=True))


def _charged(last: NotGraded | Stopped, times: int) -> Stopped:
    """Return what a submission is told that no grading process came through with, while the reference is graded."""
    if isinstance(last, Stopped):
        return Stopped(
            f"This submission kept the grader busy: it was stopped {times} times, "
            "each time after the time of every check was over, and the reference does not keep it busy."
        )
    return Stopped(
        f"This submission ended its grading {times} times, and the reference does not: {last.message}",
        "error",
    )


def _ask(setup: bytes, task: bytes) -> Answer:
    """Ask a free grading process, or a new one, which is free again afterwards unless it came to an end.

    Raises:
        OSError, KataError, GradingProcessDied: none could be started, or it ended.
    """
    process = _take(setup)
    usable = False
    try:
        answer = decode_answer(process.run_task(task))
        # One that ran out of something may still be short of it: the next try gets a fresh one.
        usable = not (isinstance(answer, NotGraded) and answer.again)
        return answer
    except msgspec.DecodeError as error:
        raise GradingProcessDied(f"its answer cannot be understood: {error}") from error
    finally:
        with _lock:
            _busy.discard(process)
            usable = usable and not _over.is_set()
            if usable:
                _idle.setdefault(setup, []).append(process)
        if not usable:
            process.close()


@contextmanager
def grading_processes() -> Iterator[None]:
    """End every grading process afterwards, at work or not: a task that still waits for one is not graded."""
    global _uses
    with _lock:
        _uses += 1
        _over.clear()
    try:
        yield
    finally:
        # Used inside itself, it leaves them to the outer use: what ended all would end them for the other's
        # tasks, too.
        working, idle = _nobody_needs_them()
        for process in working:
            process.kill()
        for process in idle:
            process.close()


def _nobody_needs_them() -> tuple[list[GradingProcess], list[GradingProcess]]:
    """End a use, and return what is to be ended with it: grading processes at work, and those that wait."""
    global _uses
    with _lock:
        _uses -= 1
        if _uses:
            return [], []
        # First of all: a thread that waits for a process must not start another one after they are ended.
        _over.set()
        idle = [process for group in _idle.values() for process in group]
        _idle.clear()
        return list(_busy), idle


def _take(setup: bytes) -> GradingProcess:
    with _lock:
        free = _idle.get(setup)
        if free:
            process = free.pop()
            _busy.add(process)
            return process
        # A cluster's worker outlives runs: grading processes of an earlier one are in the way.
        stale = [process for key, group in _idle.items() if key != setup for process in group]
        for key in [key for key in _idle if key != setup]:
            del _idle[key]
    for process in stale:
        process.close()
    process = GradingProcess(setup)
    with _lock:
        _busy.add(process)
        if _over.is_set():  # everything was ended while this one began
            process.kill()
    return process
