"""Run `kata grade` from outside: how long it takes, what it holds in memory, what it leaves in the gradebook."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil
from peers.processes import Mark
from peers.runners import grade_command, kata_variables

from grader.catalogue import Kata, load_pack
from grader.gradebook.store import Gradebook

SAMPLE_S = 0.5
"""Rarely enough to cost the grader nothing; the kernel keeps the peaks."""
PATIENCE_S = 3600
INCIDENTAL = frozenset({"duration_s", "graded_at", "submitted_at", "at", "file", "attempt"})
"""What differs from run to run, and from folder to folder: times, paths, and the number an attempt happens to get."""


@dataclass
class Run:
    """One `kata grade`."""

    seconds: float
    memory_mb: float
    """Peak resident memory, added up over the processes that were there for at least half of the run's second
    half: the main process, grading processes and their fork servers, not the workers. Shared pages count for each."""
    killed: bool = False
    orphans: int = 0
    """Processes that were still there five seconds after a kill."""


def exercise() -> Kata:
    """Return the exercise that Kata and the other graders are given."""
    pack = load_pack(Path(kata_variables()["KATA_PACKS"]))
    return pack.katas[0]


def grade(
    submissions: Path, gradebook: Path, jobs: int, *more: str, kill_after_s: float | None = None
) -> Run:
    """Grade a class, with more options; SIGKILL the main process after a while when asked to.

    Raises:
        SystemExit: it ended by itself and not with 0.
    """
    mark = Mark()
    log = gradebook.with_suffix(".log")
    with log.open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            [*grade_command(submissions, gradebook, jobs, None), *more],
            env=mark.environment(kata_variables()),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        memory = _Memory(process.pid)
        try:
            code = process.wait(kill_after_s or PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        except BaseException:
            mark.end()
            raise
        seconds = time.perf_counter() - began
        peak = memory.stop()
    killed = kill_after_s is not None and code < 0
    if code and not killed:
        mark.end()
        raise SystemExit(f"kata grade ended with {code}:\n{log.read_text(errors='replace')[-2000:]}")
    return Run(seconds, peak, killed, _orphans(mark))


def rows(gradebook: Path) -> dict[str, dict[str, Any]]:
    """Return the gradebook's rows by learner, without what is incidental."""
    with Gradebook.open(str(gradebook), create=False) as book:
        return {row.learner: _lasting(msgspec.to_builtins(row)) for row in book.rows()}


def difference(mine: Any, other: Any, where: str = "") -> str | None:
    """Return the first place where two sets of rows differ, and how; None when they are equal."""
    if mine == other:
        return None
    if isinstance(mine, dict) and isinstance(other, dict) and mine.keys() == other.keys():
        parts = ((key, mine[key], other[key]) for key in mine)
    elif isinstance(mine, list) and isinstance(other, list) and len(mine) == len(other):
        parts = ((place, *pair) for place, pair in enumerate(zip(mine, other, strict=True)))
    else:
        return f"{where}: {str(mine)[:200]} and {str(other)[:200]}"
    found = (difference(one, two, f"{where}.{key}".lstrip(".")) for key, one, two in parts)
    return next(text for text in found if text)


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(part) for key, part in value.items() if key not in INCIDENTAL}
    return [_lasting(part) for part in value] if isinstance(value, list) else value


def _orphans(mark: Mark) -> int:
    """Return how many processes do not notice that their master is gone, and end those."""
    deadline = time.monotonic() + 5
    while (left := mark.alive()) and time.monotonic() < deadline:
        psutil.wait_procs(left, timeout=0.2)
    return mark.end()


class _Memory:
    """Watches a process and everything under it."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._samples: list[list[int]] = []
        self._peaks: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Return the peak in MB."""
        self._ended.set()
        self._thread.join()
        late = self._samples[len(self._samples) // 2 :]  # early on, only some of them have started
        seen = Counter(pid for sample in late for pid in sample)
        return sum(self._peaks[pid] for pid, count in seen.items() if count * 2 >= len(late))

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            try:
                pids = [self._root.pid, *(child.pid for child in self._root.children(recursive=True))]
            except psutil.Error:
                return
            found = {pid: peak for pid in pids if (peak := _peak_mb(pid)) is not None}
            self._peaks.update(found)  # the kernel's peaks only grow
            self._samples.append(list(found))


def _peak_mb(pid: int) -> float | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), None)
