"""What the kernel was not told to limit: looked at from outside while a worker is at work, and removed after it.

An orphan falls to the nearest child subreaper above it (PR_SET_CHILD_SUBREAPER, Linux 3.4), so a subreaper that kills
its children until there are none has ended all that was ever started below it, however often that forked.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import stat
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from grader.engine.sandbox import libc
from grader.engine.sandbox.limits import MEBIBYTE, ResourceLimits
from grader.machine import children, stat_field

LOOK_S = 0.25
"""How often to look."""


def exceeded_limit(pid: int, scratch: Path | None, limits: ResourceLimits) -> str | None:
    """Say what the process uses more of than `limits` grant it: "wrote more than …"; None when it keeps to them.

    `scratch` is None where it is a file system of its own, whose size the kernel keeps. `limits.memory_bytes` is
    compared with what lies in memory, and `limits.processes` with what it has started. What the system does not tell
    is not looked at.
    """
    if limits.memory_bytes is not None and _resident(pid) > limits.memory_bytes:
        return f"used more than {limits.memory_bytes // MEBIBYTE} MB of memory"
    # The descendants too: what they wrote or hold open is the submission's as well.
    started = _started(pid, limits.processes or 0)
    if limits.processes is not None and len(started) > limits.processes:
        return f"started more than {limits.processes} processes"
    if scratch is None:
        return None
    files, size = _held(scratch, limits)
    if size <= limits.scratch_bytes:
        # Only if the folder alone is not too much: it means reading every descriptor and mapping.
        size += _held_without_a_name([pid, *started])
    if size > limits.scratch_bytes:
        return f"wrote more than {limits.scratch_bytes // MEBIBYTE} MB to its folder"
    if files > limits.scratch_files:
        return f"made more than {limits.scratch_files:,} files in its folder"
    return None


def _resident(pid: int) -> int:
    try:
        # Resident pages: address space says nothing where CUDA reserves terabytes.
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize()


def _started(pid: int, enough: int) -> list[int]:
    """Return the processes below `pid`, up to a few more than `enough`."""
    found: list[int] = []
    waiting = [pid]
    while waiting and len(found) <= enough:
        below = children(waiting.pop())
        found += below
        waiting += below
    return found


def _held_without_a_name(pids: Iterable[int]) -> int:
    """Count the bytes of files that these processes have open, or mapped, and that no folder holds any more."""
    # A file that is removed keeps its bytes until it is closed: with 256 open, of 64 MB each, that is 16 GB
    # which no walk through a folder finds. Files that were never given a name (O_TMPFILE, memfd_create) look
    # the same.
    found: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    # By inode, so that a file that is open twice, or open and mapped, counts once.
                    if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                        found[status.st_ino] = status.st_blocks * 512
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in _deleted(pid):
                # 7f2c-7f3c rw-s 00001000 fe:01 1234   /tmp/kata-x/#1234 (deleted)
                addresses, _, offset, _, inode = line.split(None, 5)[:5]
                begin, _, end = addresses.partition("-")
                size = int(offset, 16) + int(end, 16) - int(begin, 16)
                # As much as is mapped: how much of it was written, the system does not tell.
                found[int(inode)] = max(found.get(int(inode), 0), size)
    return sum(found.values())


def _deleted(pid: int) -> list[str]:
    """Return the lines of a process's maps that are of files without a name, but for shared memory that never had one.

    That is address space, which has a limit of its own.
    """
    # Searched as bytes first: a worker with torch has thousands of mappings, and hardly one is deleted.
    text = Path(f"/proc/{pid}/maps").read_bytes()
    lines = text.decode(errors="replace").splitlines() if b"(deleted)" in text else []
    return [
        line for line in lines if line.endswith(" (deleted)") and not any(kind in line for kind in _UNNAMED)
    ]


_UNNAMED = (" /dev/zero (", " /memfd:", " /SYSV", " /anon_hugepage")


def _held(folder: Path, limits: ResourceLimits) -> tuple[int, int]:
    """Count files and their bytes on disk, up to a little more than the limits."""
    files = size = 0
    waiting = [str(folder)]
    while waiting and files <= limits.scratch_files and size <= limits.scratch_bytes:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                files += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    with contextlib.suppress(OSError):
                        # Blocks, not length: a sparse file of a terabyte takes nothing.
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                if files > limits.scratch_files:
                    break
    return files, size


def remove_folder(folder: Path) -> None:
    """Remove a folder that a submission could write to, however it looks; what cannot be removed stays.

    Links are not followed, and it may be deeper than any path is long.
    """
    try:
        # By descriptors and names in them, not by paths: a path may be longer than the kernel takes, and a
        # folder on it a link by now.
        here = os.open(folder, _FOLDER)
    except OSError:
        return
    # The way from the top to here: what each folder is, its name, and the names in it that are still to be entered.
    trail = [(_identity(here), "", _empty(here))]
    try:
        while True:
            _, name, within = trail[-1]
            if within:
                below = within.pop()
                with contextlib.suppress(OSError):
                    # A submission may have closed its own folders, and their owner may open them again.
                    os.chmod(below, 0o700, dir_fd=here)
                    inner = os.open(below, _FOLDER, dir_fd=here)
                    os.close(here)
                    here = inner
                    trail.append((_identity(here), below, _empty(here)))
                continue
            trail.pop()
            if not trail:
                break
            # One descriptor at a time, instead of one for every level: thousands of levels would use up all.
            outer = os.open("..", _FOLDER, dir_fd=here)
            os.close(here)
            here = outer
            if _identity(here) != trail[-1][0]:  # somebody moves folders about
                return
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=here)
    except OSError:
        return
    finally:
        os.close(here)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _identity(folder: int) -> tuple[int, int]:
    status = os.fstat(folder)
    return status.st_dev, status.st_ino


def _empty(folder: int) -> list[str]:
    """Remove what is not a folder from an open folder, and return the names of the folders in it."""
    folders = []
    for name in os.listdir(folder):
        try:
            # Tried rather than looked at: what it is could change between the two.
            os.unlink(name, dir_fd=folder)
        except OSError:
            folders.append(name)
    return folders


def become_subreaper() -> bool:
    """Make this process the parent of every orphan below it; return whether the system can do that."""
    return libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1) == 0


def kill_descendants(exclude: Collection[int] = ()) -> int:
    """Kill and reap every child of this process but those in `exclude`; return how many.

    With `become_subreaper`, their orphans follow. What lives below an excluded process is left
    alone. 0 where the system does not list children.
    """
    if sys.platform != "linux":
        return 0
    spared = set(exclude)
    killed = 0
    # Again and again: the children of a killed process become ours with its death.
    while found := [pid for pid in _children() if pid not in spared]:
        for pid in found:
            if _end(pid):
                killed += 1
            # Also where it could not be killed: one of another user would be tried for ever.
            spared.add(pid)
    return killed


def _end(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    with contextlib.suppress(ChildProcessError):
        # Reaped here: nobody else waits for an orphan, and its number would stay taken.
        os.waitpid(pid, 0)
    return True


def _children() -> list[int]:
    if any(Path("/proc/self/task").glob("*/children")):
        return children("self")
    # The parent of every process, for kernels without lists of children (CONFIG_PROC_CHILDREN, 4.2).
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if stat_field(path.parent.name, 4) == os.getpid():
                found.append(int(path.parent.name))
    return found
