"""Run `kata grade` from outside: how long it takes, and what it holds in memory."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psutil
from peers.processes import Mark
from peers.runners import grade_command, kata_variables

from grader.catalogue import Kata, load_pack

SAMPLE_S = 0.5
"""Rarely enough to cost the grader nothing; the kernel keeps the peaks."""
PATIENCE_S = 3600


@dataclass
class Run:
    """One `kata grade`."""

    seconds: float
    memory_mb: float
    """Peak resident memory, added up over the processes that were there for at least half of the run's second
    half: the main process, grading processes and their fork servers, not the workers. Shared pages count for each."""


def exercise() -> Kata:
    """Return the exercise that Kata and the other graders are given."""
    pack = load_pack(Path(kata_variables()["KATA_PACKS"]))
    return pack.katas[0]


def grade(submissions: Path, gradebook: Path, jobs: int) -> Run:
    """Grade a class.

    Raises:
        SystemExit: it ended with another code than 0.
    """
    mark = Mark()
    log = gradebook.with_suffix(".log")
    try:
        with log.open("wb") as output:
            began = time.perf_counter()
            process = subprocess.Popen(
                grade_command(submissions, gradebook, jobs, None),
                env=mark.environment(kata_variables()),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            memory = _Memory(process.pid)
            code = process.wait(PATIENCE_S)
            seconds = time.perf_counter() - began
            peak = memory.stop()
    finally:
        mark.end()
    if code:
        raise SystemExit(f"kata grade ended with {code}:\n{log.read_text(errors='replace')[-2000:]}")
    return Run(seconds, peak)


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
