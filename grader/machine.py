"""What the system says of itself: how busy its cores were, what it has run out of, what it lacks."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import resource
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.errors import MachineFault
from grader.malloc import trim

_IDLE, _WAITING, _STEAL = 3, 4, 7
"""proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal."""


@dataclass(frozen=True)
class CoreTime:
    """Seconds of one core since the system started."""

    busy: float
    stolen: float
    """It wanted to work, and the machine under this virtual one did not let it."""


def core_times(cores: Collection[int] | None = None) -> dict[int, CoreTime]:
    """Return what these cores, or all, have done so far; nothing where the system does not say."""
    found: dict[int, CoreTime] = {}
    with contextlib.suppress(OSError, ValueError, IndexError):
        second = os.sysconf("SC_CLK_TCK")
        for line in _read("/proc/stat").decode().splitlines():
            name, *counts = line.split()
            if not name.startswith("cpu"):
                break
            if name == "cpu" or (cores is not None and int(name[3:]) not in cores):
                continue
            # Not the later columns: guests are counted in `user` already.
            ticks = [int(count) for count in counts[: _STEAL + 1]]
            # Waiting for a disk is idle for this purpose: the core is free.
            busy = sum(ticks) - ticks[_IDLE] - ticks[_WAITING]
            found[int(name[3:])] = CoreTime(busy / second, ticks[_STEAL] / second)
    return found


def most_stolen(before: dict[int, CoreTime]) -> float:
    """Return the seconds that the core which was robbed most has lost since."""
    now = core_times(before.keys())
    return max((now[core].stolen - before[core].stolen for core in now), default=0.0)


def waited_time(pid: int | None = None) -> float:
    """Return how long the main thread of a process, or this thread, was ready to run and did not run.

    Seconds; 0 where the system does not say.
    """
    whose = "thread-self" if pid is None else str(pid)
    with contextlib.suppress(OSError, ValueError, IndexError):
        # The second figure of /proc/PID/schedstat, in nanoseconds, which kernels with CONFIG_SCHED_INFO keep
        # for every thread. Seen with Linux 6.18.
        return int(_read(f"/proc/{whose}/schedstat").split()[1]) * 1e-9
    return 0.0


def _read(path: str) -> bytes:
    # A check asks some ten times: with a Path and a file object each of them takes twice as long.
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 1 << 16)
    finally:
        os.close(file)


EXERCISE_S = 0.004
"""Processor time that `_exercise` takes where the limits of our katas were set: a Xeon of 2.5 GHz, Python 3.11."""
PACES = (4.0, 2.0)
"""Steps, not the quotient itself: the same machine must say the same each time."""


@cache
def pace() -> float:
    """Return how many times as long as a kata's limits say a submission may take here: 1, 2 or 4, measured once."""
    least = math.inf
    # The least of three: what a neighbour took away makes a reading longer and never shorter.
    for _ in range(3):
        least = min(least, _exercise())
        if least < PACES[-1] * EXERCISE_S:  # it cannot become slower by trying again
            return 1.0
    return next(step for step in PACES if least >= step * EXERCISE_S)


def _exercise() -> float:
    """Return the processor time of some of Python's own work: what learners' loops are made of."""
    began, total = time.thread_time(), 0
    for number in range(50_000):
        total += number * number
    return time.thread_time() - began


DESCRIPTORS = 4096
"""How many files a process that grades may have open, where nobody set a lower limit for good."""
LEAST_DESCRIPTORS = 512
"""A worker is promised 256, and moves what it inherits to 100 and above."""

_SHORTAGES = {
    errno.EMFILE: "Let this process open more files: ulimit -n 4096",
    errno.ENFILE: "The whole machine has too many files open (sysctl fs.file-max).",
    errno.ENOSPC: "Free some space, or files, in the temporary folder (TMPDIR).",
    errno.EDQUOT: "Free some of the quota, or point TMPDIR elsewhere.",
    errno.EROFS: "The temporary folder (TMPDIR) is read-only: point TMPDIR elsewhere.",
    errno.EIO: "The disk of the temporary folder (TMPDIR), or that of Python, refuses to read or write.",
    errno.ENOMEM: "Memory ran out: grade fewer at a time (-j).",
    errno.EAGAIN: "No more processes or threads can be started: grade fewer at a time (-j), or raise ulimit -u.",
    errno.ESTALE: "A network folder is gone.",
}
"""What a system call says when the machine has run out of something, and what helps."""


def shortage(error: BaseException) -> str | None:
    """Return what helps when an exception on the grader's side says that something ran out; None of any other.

    Whether that is the machine's fault, the exception does not say: see `KataRun`.
    """
    if isinstance(error, OSError):
        return _SHORTAGES.get(error.errno or 0)
    # torch raises RuntimeError where its allocator gets nothing; seen with 2.13.
    out_of_memory = isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and (
            any(words in str(error) for words in ("can't allocate memory", "bad_alloc"))
            or type(error).__name__ == "OutOfMemoryError"
        )
    )
    return _SHORTAGES[errno.ENOMEM] if out_of_memory else None


OWN_BYTES = 448 << 20
"""What a grading process may take besides a kata's `memory_mb`: 64 MB below what is promised, for pages of libraries'
files, which no limit counts."""
LEAST_BYTES = 128 << 20
"""What a check may take in any case, in a process that others have made large: a debugger's, or a test's."""


@contextmanager
def bounded_memory(memory_bytes: int | None) -> Iterator[None]:
    """Let allocations of this process fail, before they take a page, where it would grow beyond its bound.

    Whatever the grader makes of a submission's answers (a comparison in float64, a broadcast of small tensors, values
    that a check keeps) is allocated here: this one bound holds for all of it, whatever is computed, of any size.
    """
    if memory_bytes is None or sys.platform != "linux":
        yield
        return
    # RLIMIT_DATA counts private writable memory, mapped or not (Linux 4.7 and newer); it is inherited, so
    # `sandbox.limits.apply` raises it again in a worker.
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resident, data = _memory()
    if resident > OWN_BYTES:  # what earlier submissions left free counts as well
        trim()
        resident, data = _memory()
    # From what counts now: much of it is mapped and was never touched.
    bound = data + max(memory_bytes + OWN_BYTES - resident, LEAST_BYTES)
    # Somebody may have set less for the whole process, and setrlimit(2) refuses a soft limit above the hard
    # one.
    if hard == resource.RLIM_INFINITY or bound < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _memory() -> tuple[int, int]:
    """Return the bytes of this process that lie in memory, and those that RLIMIT_DATA counts (proc_pid_statm(5))."""
    pages = Path("/proc/self/statm").read_bytes().split()
    return int(pages[1]) * resource.getpagesize(), int(pages[5]) * resource.getpagesize()


def prepare() -> None:
    """Take as many descriptors as grading needs, and look for what it cannot do without.

    Raises:
        MachineFault: too few may be open, or there is no /proc.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < DESCRIPTORS:
        wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        if wanted < LEAST_DESCRIPTORS:
            raise MachineFault(
                f"This process may open only {wanted} files, and grading needs {LEAST_DESCRIPTORS}.",
                f"Raise the limit, also the hard one: ulimit -n {DESCRIPTORS}",
            )
        # Only the soft limit: an ordinary user cannot raise the hard one.
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if sys.platform == "linux" and not Path("/proc/self/stat").exists():
        raise MachineFault(
            "/proc is not there, or is empty: without it no worker can be watched.",
            "Mount it: mount -t proc proc /proc",
        )


def stat_field(pid: int | str, number: int) -> int:
    """Return a field of proc_pid_stat(5), counted as there.

    Raises:
        OSError: the system does not say, or the process is gone.
    """
    # A command may hold spaces and parentheses: the third field starts after the last of these.
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[number - 3])


def children(pid: int | str) -> list[int]:
    """Return the processes that any thread of a process has started and not reaped; none where nobody lists them.

    Lists of children need CONFIG_PROC_CHILDREN (Linux 4.2).
    """
    found: list[int] = []
    # By thread, as the kernel has it: any of them may have forked.
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def processor_time(pid: int) -> float | None:
    """Return the processor time of another process, all its threads; None where the system does not tell."""
    try:
        # On Linux a process's clock has a number that is made from the process's (its complement, and
        # CPUCLOCK_SCHED; seen with 6.18): clock_getcpuclockid(3) does nothing else, and Python does not offer
        # that one. It needs no /proc and no permission.
        return time.clock_gettime(~pid << 3 | 2) if sys.platform == "linux" else None
    except (OSError, OverflowError):
        return None


def killed_for_memory() -> int:
    """Return how many processes this system has ended because memory ran out; 0 where it does not count them."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":  # since Linux 4.13; limits of control groups count too
                return int(count)
    return 0
