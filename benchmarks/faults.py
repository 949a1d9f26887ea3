"""Faults of the machine, put on `kata grade` while it grades right answers: is any of them booked as a learner's?

    python benchmarks/faults.py                  all of them; takes about ten minutes
    python benchmarks/faults.py --only disk      of one kind
    python benchmarks/faults.py --write          and rewrite the table of docs/security.md

A fault is there from the command's beginning (a limit, an errno that the kernel gives back for a system call, a mount),
or comes while it grades (a kill, a limit of one process). Then the same command goes on without it. Linux, as root.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import psutil
from table import Figures, arguments, publish

from grader.sandbox import libc, seccomp

ROOT = Path(__file__).resolve().parent.parent
TINY = ROOT / "tests" / "packs" / "tiny"
ANSWER = ROOT / "tests" / "packs" / "solutions" / "1.1-sorting" / "insertion-sort" / "insertion_sort.py"
KATA = Path(sys.executable).with_name("kata")
LEARNERS = 2
SLOW = "\nimport time\n\ntime.sleep(0.3)\n"
"""Behind a right answer, so that there is a worker to kill."""
PATIENCE_S = 300
_CLONE_VM = 0x100
_MKDIR = {"x86_64": (83, 258), "aarch64": (34, 34)}
_OWN_CALLS = {"x86_64": {"socketpair": 53, "clone": 56, "pidfd_open": 434, "ftruncate": 77}}

Begin = Callable[[], object]
"""Runs in the command's process before the command."""
During = Callable[[psutil.Process], bool]
"""Does something to the command when it can; says whether it is done."""


@dataclass(frozen=True)
class Fault:
    """One fault."""

    kind: str
    name: str
    begin: Begin | None = None
    during: During | None = None
    mounts: str | None = None
    """A shell line that is run before the command, in a mount namespace of its own."""
    env: tuple[tuple[str, str], ...] = ()


def errno_for(calls: tuple[int, ...], number: int, *, forks: bool = False) -> Begin:
    """Let the kernel refuse these system calls of the command and of all that it starts; of clone only true forks."""

    def install() -> None:
        code = [struct.pack("=HBBI", 0x20, 0, 0, 0)]
        for call in calls:
            block = [struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | number)]
            if forks:  # a thread, and what posix_spawn and vfork do, share memory
                block = [
                    struct.pack("=HBBI", 0x20, 0, 0, 16),
                    struct.pack("=HBBI", 0x45, 1, 0, _CLONE_VM),
                    *block,
                    struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000),
                ]
            code += [struct.pack("=HBBI", 0x15, 0, len(block), call), *block]
            if forks:
                code.append(struct.pack("=HBBI", 0x20, 0, 0, 0))
        code.append(struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000))
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        text = b"".join(code)
        program = seccomp._Program(len(text) // 8, text)
        refused = libc.system_call("seccomp", ctypes.c_uint(1), ctypes.c_uint(0), ctypes.byref(program))
        if refused:
            raise OSError(refused, os.strerror(refused))

    return install


def limit(kind: int, value: int) -> Begin:
    """Lower a limit of the command."""
    return lambda: resource.setrlimit(kind, (value, value))


def worker_of(grader: psutil.Process) -> psutil.Process | None:
    """Return a worker: it leads a session of its own, which neither the fork server nor a namespace holder does."""
    for one in grader.children(recursive=True):
        with suppress(psutil.Error, OSError):
            if os.getsid(one.pid) == one.pid:
                return one
    return None


def grader_of(command: psutil.Process) -> psutil.Process | None:
    """Return the grading process, once it grades."""
    for child in command.children():
        if "grader.grading.grading_process" in " ".join(child.cmdline()) and worker_of(child) is not None:
            return child
    return None


def to_grader(do: Callable[[psutil.Process], object]) -> During:
    """Do something to the grading process."""

    def during(command: psutil.Process) -> bool:
        found = grader_of(command)
        if found is not None:
            do(found)
        return found is not None

    return during


def to_servers(do: Callable[[psutil.Process], object]) -> During:
    """Do something to the fork server, which may be two processes."""

    def during(command: psutil.Process) -> bool:
        found = grader_of(command)
        below = (
            []
            if found is None
            else [one for one in found.children(recursive=True) if os.getsid(one.pid) == found.pid]
        )
        for one in below:
            do(one)
        return bool(below)

    return during


def to_a_worker(number: int) -> During:
    """Send a signal to who has loaded a submission."""

    def during(command: psutil.Process) -> bool:
        found = grader_of(command)
        worker = worker_of(found) if found is not None else None
        if worker is not None:
            worker.send_signal(number)
        return worker is not None

    return during


def prlimit(kind: int, value: int) -> Callable[[psutil.Process], object]:
    """Lower a limit of a process that runs."""
    return lambda process: resource.prlimit(process.pid, kind, (value, value))


def remove_its_folder(process: psutil.Process) -> None:
    """Remove the grading process's temporary folder."""
    shutil.rmtree(process.cmdline()[-1], ignore_errors=True)


def _faults() -> list[Fault]:
    calls = _OWN_CALLS["x86_64"]
    files, size, memory = resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS
    small = "mount -t tmpfs -o size={size},nr_inodes={inodes} none {place} && export TMPDIR={place}"
    return [
        Fault("descriptors", "`ulimit -n 64`", limit(files, 64)),
        Fault("descriptors", "`ulimit -n 256`", limit(files, 256)),
        Fault("descriptors", "8 for the grading process", during=to_grader(prlimit(files, 8))),
        Fault("descriptors", "10 for the grading process", during=to_grader(prlimit(files, 10))),
        Fault("descriptors", "12 for the grading process", during=to_grader(prlimit(files, 12))),
        Fault("descriptors", "6 for the fork server", during=to_servers(prlimit(files, 6))),
        Fault("descriptors", "9 for the fork server", during=to_servers(prlimit(files, 9))),
        Fault("descriptors", "socketpair(2) says EMFILE", errno_for((calls["socketpair"],), errno.EMFILE)),
        Fault("descriptors", "pidfd_open(2) says EMFILE", errno_for((calls["pidfd_open"],), errno.EMFILE)),
        Fault("disk", "no byte is left in TMPDIR", mounts=small.format(size="4k", inodes=100, place="/mnt")),
        Fault("disk", "no inode is left in TMPDIR", mounts=small.format(size="4m", inodes=3, place="/mnt")),
        Fault("disk", "TMPDIR is read-only", mounts="mount -t tmpfs -o ro none /mnt && export TMPDIR=/mnt"),
        Fault("disk", "mkdir(2) says EIO", errno_for(_MKDIR["x86_64"], errno.EIO)),
        Fault("disk", "mkdir(2) says ENOSPC", errno_for(_MKDIR["x86_64"], errno.ENOSPC)),
        Fault("disk", "nothing can be written any more", during=to_grader(prlimit(size, 0))),
        Fault("disk", "the temporary folder is removed", during=to_grader(remove_its_folder)),
        Fault("memory", "no more address space", during=to_grader(prlimit(memory, 1 << 20))),
        Fault("memory", "a worker is killed", during=to_a_worker(signal.SIGKILL)),
        Fault("memory", "the grading process is killed", during=to_grader(lambda one: one.kill())),
        Fault("processes", "fork says EAGAIN", errno_for((calls["clone"],), errno.EAGAIN, forks=True)),
        Fault("processes", "the fork server is killed", during=to_servers(lambda one: one.kill())),
        Fault("processes", "the grading process is stopped", during=to_grader(lambda one: one.suspend())),
        Fault("/proc", "it is empty", mounts="mount -t tmpfs none /proc"),
        Fault("clock", "everything is suspended for 20 s", during=_suspend),
    ]


def _suspend(command: psutil.Process) -> bool:
    """Let nothing of it run, longer than a check may take, while the clock goes on."""
    if not to_a_worker(0)(command):
        return False
    everybody = [command, *command.children(recursive=True)]
    for one in everybody:
        one.suspend()
    time.sleep(20)
    for one in reversed(everybody):
        with suppress(psutil.Error):
            one.resume()
    return True


def run(folder: Path, fault: Fault | None) -> tuple[int, dict[str, dict]]:
    """Grade the class; return the exit code and the reports by learner."""
    reports = folder / "reports.jsonl"
    reports.unlink(missing_ok=True)
    command = [KATA, "grade", "submissions", "--only", "insertion-sort", "-j", "1", "--json", reports]
    words = " ".join(map(str, command))
    if fault is not None and fault.mounts is not None:
        command = ["unshare", "--mount", "sh", "-c", f"{fault.mounts} && exec {words}"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "KATA_PACKS": str(TINY)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "errors.txt").open("wb"),
        preexec_fn=fault.begin if fault is not None else None,
    )
    over = threading.Event()
    thread = threading.Thread(target=_disturb, args=(process.pid, fault, over))
    thread.start()
    try:
        code = process.wait(PATIENCE_S)
    finally:
        over.set()
        thread.join()
        process.kill()
    lines = reports.read_text().splitlines() if reports.exists() else []
    return code, {report["learner"]: report for report in map(json.loads, lines)}


def _disturb(pid: int, fault: Fault | None, over: threading.Event) -> None:
    while fault is not None and fault.during is not None and not over.wait(0.02):
        with suppress(psutil.Error, OSError):
            if fault.during(psutil.Process(pid)):
                return


def main() -> None:
    """Put every fault on a class, print what became of it, and write what was asked for."""
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", metavar="KIND")
    chosen = parser.parse_args()
    table = Figures(
        "Faults of the machine",
        f"`kata grade` over {LEARNERS} right answers, with one fault each. *Booked*: answers whose mark is not "
        "theirs; there must be none. *Not graded*: rows that say so, which the same command, without the "
        "fault, graded right afterwards.",
        ["fault", "booked", "not graded", "exit code", "afterwards"],
    )
    wrong = 0
    for fault in _faults():
        if chosen.only and fault.kind not in chosen.only:
            continue
        with tempfile.TemporaryDirectory(prefix="kata-faults-") as place:
            folder = Path(place)
            for number in range(LEARNERS):
                learner = folder / "submissions" / f"learner-{number}"
                learner.mkdir(parents=True)
                (learner / ANSWER.name).write_text(f"{ANSWER.read_text()}{SLOW}# {number}\n")
            code, found = run(folder, fault)
            said = (folder / "errors.txt").read_text(errors="replace")[-300:]
            after, again = run(folder, None)
        missed = [report for report in found.values() if report["status"] != "pass"]
        booked = [
            report
            for report in missed
            if report["score"] or "not the submission's fault" not in report["message"]
        ]
        right = after == 0 and sum(report["status"] == "pass" for report in again.values()) == LEARNERS
        consistent = code == (3 if missed or len(found) < LEARNERS else 0)
        wrong += bool(booked) or not right or not consistent
        refused = len(missed) - len(booked) + LEARNERS - len(found)
        table.rows.append(
            [f"{fault.kind}: {fault.name}", str(len(booked)), f"{refused} of {LEARNERS}", str(code),
             f"{LEARNERS} right" if right else "**wrong**"]
        )  # fmt: skip
        why = missed[0]["message"] if missed else said if code else ""
        print(f"{' | '.join(table.rows[-1])} | {why}", file=sys.stderr, flush=True)
    how = "`python benchmarks/faults.py --write`"
    publish([table], "security.md", "faults", write=chosen.write and not chosen.only, how=how)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
