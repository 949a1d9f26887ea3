"""Run another grader's command, and end whatever it leaves running."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

MARK = "KATA_BENCH_RUN"


class Mark:
    """Marks processes by their environment, which their children inherit, also those in a session of their own."""

    def __init__(self) -> None:
        self.value = secrets.token_hex(8)

    def environment(self, more: Mapping[str, str] = {}) -> dict[str, str]:
        """Return this process's environment with the mark and more in it."""
        return {**os.environ, **more, MARK: self.value}

    def alive(self) -> list[psutil.Process]:
        """Return the marked processes that still run."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.value and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def end(self) -> int:
        """Kill them; return how many there were."""
        killed = 0
        while left := self.alive():
            killed += len(left)
            for process in left:
                try:
                    process.kill()
                except psutil.Error:
                    continue
            psutil.wait_procs(left, timeout=5)
        return killed


def call(
    command: Sequence[str | Path], cwd: Path, more: Mapping[str, str], timeout_s: float
) -> tuple[float, bool, Mark]:
    """Run a command to its end or its time-out; return the seconds, whether it ended, and its mark.

    What it prints goes to `output.txt` in its folder: a pipe would be held open by what it leaves running.
    """
    mark = Mark()
    with (cwd / "output.txt").open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=mark.environment(more),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            taken = time.perf_counter() - began
            mark.end()
            process.wait()
            return taken, False, mark
        except BaseException:  # interrupted: nothing of it stays
            mark.end()
            raise
        return time.perf_counter() - began, True, mark
