"""What a further submission of a real kata costs, here and in another checkout of Kata, in turns.

The processor time of the grader's own processes is what the kernel adds up when they have ended; that of fork servers
and workers is looked at while they run, since a grading process does not wait for its fork server.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import classroom
import psutil

from grader.catalogue import Kata

ROOT = Path(__file__).resolve().parent.parent
CHECKS = Path(__file__).resolve().parent / "peers" / "pytest" / "test_masked_attention.py"
SAMPLE_S = 0.05
WRONG = 4
"""Catalogued mistakes of a kata, evenly far from each other in its list, of which a class of wrong answers is made."""


@dataclass(frozen=True)
class Cost:
    """Of one submission, or of a class."""

    seconds: float
    grader: float
    """Processor seconds of the process that keeps the gradebook and of those that grade."""
    workers: float
    """Of fork servers and workers."""

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.grader - other.grader, self.workers - other.workers)

    def __truediv__(self, count: int) -> Cost:
        return Cost(self.seconds / count, self.grader / count, self.workers / count)

    @property
    def processor(self) -> float:
        """Processor seconds of all."""
        return self.grader + self.workers


def texts_of(kata: Kata, kind: str) -> list[str]:
    """Return the texts of right or of wrong answers, of which a class is made."""
    found = classroom.answers(kata)["right" if kind == "right" else "mutant"]
    few = found if kind == "right" else found[:: max(len(found) // WRONG, 1)][:WRONG]
    return [answer.text for answer in few]


def further(checkout: Path, kata: Kata, texts: Sequence[str], few: int, more: int, jobs: int) -> Cost:
    """Return what one of `more` submissions beyond the first `few` costs."""
    first, all_of_them = (_graded(checkout, kata, texts, count, jobs) for count in (few, few + more))
    return (all_of_them - first) / more


def _graded(checkout: Path, kata: Kata, texts: Sequence[str], count: int, jobs: int) -> Cost:
    with tempfile.TemporaryDirectory(prefix="kata-further-") as name:
        folder = Path(name)
        for number, text in enumerate(itertools.islice(itertools.cycle(texts), count)):
            file = folder / "class" / f"learner-{number:04d}" / f"{kata.module}.py"
            file.parent.mkdir(parents=True)
            file.write_text(f"{text}\n# {number}\n", encoding="utf-8")
        python = checkout / ".venv" / "bin" / "python"
        began = time.perf_counter()
        process = subprocess.Popen(
            [
                python,
                "-m",
                "grader",
                "grade",
                folder / "class",
                "-j",
                str(jobs),
                "--gradebook",
                folder / "book",
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        watch = Watch(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        if status:
            raise SystemExit(f"kata grade of {kata.slug} in {checkout} ended with {status}")
        return Cost(seconds, usage.ru_utime + usage.ru_stime, watch.stop())


class Watch:
    """Looks at what the processes below a process's children have used so far, and with `whole` those themselves."""

    def __init__(self, pid: int, *, whole: bool = False) -> None:
        self._root, self._whole = psutil.Process(pid), whole
        self._used: dict[int, float] = {}
        """By child."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Return processor seconds."""
        self._ended.set()
        self._thread.join()
        return sum(self._used.values())

    def _look(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            with contextlib.suppress(psutil.Error):
                for child in self._root.children():
                    processes = [*([child] if self._whole else []), *child.children(recursive=True)]
                    # Its own time, and that of its children that have ended: nothing is counted twice.
                    times = [sum(process.cpu_times()[:4]) for process in processes]
                    self._used[child.pid] = max(sum(times), self._used.get(child.pid, 0.0))


def pytest_seconds(texts: Sequence[str], count: int, jobs: int) -> float:
    """Return what a pytest process for each submission of masked-attention takes, for one of so many."""
    with tempfile.TemporaryDirectory(prefix="kata-pytest-") as name:
        folders = []
        for number, text in enumerate(itertools.islice(itertools.cycle(texts), count)):
            folder = Path(name) / str(number)
            folder.mkdir()
            (folder / "masked_attention.py").write_text(text, encoding="utf-8")
            (folder / CHECKS.name).write_bytes(CHECKS.read_bytes())
            folders.append(folder)

        def run(folder: Path) -> int:
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CHECKS.name]
            return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode

        began = time.perf_counter()
        with ThreadPoolExecutor(jobs) as pool:
            ended = set(pool.map(run, folders))
        if ended != {0}:
            raise SystemExit(f"pytest does not pass right answers to masked-attention: {ended}")
        return (time.perf_counter() - began) / count


def medians(costs: Sequence[Cost]) -> Cost:
    """Return the median of each figure."""
    return Cost(
        *(
            statistics.median(getattr(cost, name) for cost in costs)
            for name in ("seconds", "grader", "workers")
        )
    )
