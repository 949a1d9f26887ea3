"""The scale: what a process takes on top of the least that it held, whatever it did to hide it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from grader.engine.timing.monitors import PeakMemoryMonitor, resident

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="Linux tells how much memory a process has used"
)

PROCESS = """
import ctypes, mmap, os, sys, threading
MIB = 1 << 20


def take(size):
    block = mmap.mmap(-1, size * MIB)
    for place in range(0, size * MIB, 4096):
        block[place] = 1
    return block


def serve():
    kept = {}
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "take":
            kept[rest[0]] = take(int(rest[1]))
        elif command == "free":
            kept.pop(rest[0]).close()
        elif command == "swap":
            kept.pop(rest[0]).close()
            kept[rest[1]] = take(int(rest[2]))
            kept.pop(rest[1]).close()
            kept[rest[0]] = take(int(rest[2]))
        elif command == "forget":
            open("/proc/self/clear_refs", "w").write("5")
        elif command == "end_main_thread":
            threading.Thread(target=serve).start()
            print(flush=True)
            ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
        print(flush=True)


print(flush=True)
serve()
os._exit(0)
"""
MIB = 1 << 20

Tell = Callable[[str], int]


@pytest.fixture
def tell() -> Iterator[Tell]:
    """Give a process orders, and return its number when it has followed them."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROCESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()

    def order(command: str) -> int:
        process.stdin.write(f"{command}\n")
        process.stdout.readline()
        return process.pid

    yield order
    process.kill()
    process.communicate()


def test_what_is_taken_for_a_while_counts(tell: Tell) -> None:
    scale = PeakMemoryMonitor(tell("take own 20"))
    with scale.watching():
        tell("take more 100")
        tell("free more")
    assert 95 * MIB < scale.peak_growth() < 130 * MIB


def test_who_takes_nothing_weighs_nothing(tell: Tell) -> None:
    scale = PeakMemoryMonitor(tell("take own 20"))
    with scale.watching():
        tell("nothing")
    assert scale.peak_growth() < 10 * MIB


def test_what_is_given_back_first_is_no_gift(tell: Tell) -> None:
    scale = PeakMemoryMonitor(tell("take own 100"))
    with scale.watching():
        tell("swap own more 100")
    assert scale.peak_growth() > 80 * MIB


def test_a_peak_that_is_forgotten_was_seen(tell: Tell) -> None:
    scale = PeakMemoryMonitor(tell("take own 20"))
    with scale.watching():
        tell("take more 100")
        tell("free more")
        tell("forget")
    assert scale.peak_growth() > 80 * MIB


def test_a_process_without_its_main_thread_is_weighed_too(tell: Tell) -> None:
    pid = tell("take own 20")
    scale = PeakMemoryMonitor(pid)
    tell("end_main_thread")
    with scale.watching():
        tell("take more 100")
    assert resident(pid).now > 100 * MIB
    assert 95 * MIB < scale.peak_growth() < 130 * MIB


def test_a_process_that_is_out_of_sight_weighs_without_end() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert resident(gone.pid) == (0, 0)
    scale = PeakMemoryMonitor(os.getpid())
    scale._pid = gone.pid
    scale.look()
    assert scale.peak_growth() == math.inf
