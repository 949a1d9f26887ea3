"""What the kernel was not told to limit: looked at from outside, now and then, while a worker is at work."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from grader.sandbox.limits import MEBIBYTE, Limits

LOOK_S = 0.25
"""How often to look."""


def overrun(pid: int, scratch: Path, limits: Limits) -> str | None:
    """Say what the process uses more of than `limits` grant it: "wrote more than …"; None when it keeps to them.

    `limits.memory_bytes` is compared with what lies in memory, and `limits.processes` with what it has started. What
    the system does not tell is not looked at.
    """
    if limits.memory_bytes is not None and _resident(pid) > limits.memory_bytes:
        return f"used more than {limits.memory_bytes // MEBIBYTE} MB of memory"
    if limits.processes is not None and _started(pid, limits.processes) > limits.processes:
        return f"started more than {limits.processes} processes"
    files, size = _held(scratch, limits)
    if size > limits.scratch_bytes:
        return f"wrote more than {limits.scratch_bytes // MEBIBYTE} MB to its folder"
    if files > limits.scratch_files:
        return f"made more than {limits.scratch_files:,} files in its folder"
    return None


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize()


def _started(pid: int, enough: int) -> int:
    """Count the processes below `pid`, up to a little more than `enough`."""
    found, waiting = 0, [str(pid)]
    while waiting and found <= enough:
        folder = Path("/proc", waiting.pop(), "task")
        children: list[str] = []
        with contextlib.suppress(OSError):
            for task in folder.iterdir():
                children += (task / "children").read_text().split()
        found += len(children)
        waiting += children
    return found


def _held(folder: Path, limits: Limits) -> tuple[int, int]:
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
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                if files > limits.scratch_files:
                    break
    return files, size


def remove_folder(folder: Path) -> None:
    """Remove a folder that a submission could write to, however it looks; what cannot be removed stays.

    Links are not followed, and it may be deeper than any path is long.
    """
    try:
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
                    os.chmod(below, 0o700, dir_fd=here)
                    inner = os.open(below, _FOLDER, dir_fd=here)
                    os.close(here)
                    here = inner
                    trail.append((_identity(here), below, _empty(here)))
                continue
            trail.pop()
            if not trail:
                break
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
    """Remove what is no folder from an open folder, and return the names of the folders in it."""
    folders = []
    for name in os.listdir(folder):
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            folders.append(name)
    return folders
