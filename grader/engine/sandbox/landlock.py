"""Files, TCP and signals: the part of the sandbox that Landlock enforces."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterable
from pathlib import Path

if sys.platform == "linux":
    import landlockpy
    from landlockpy import AccessFS, Ruleset, Scope

    _READ_FILE = AccessFS.READ_FILE
    _READ_FOLDER = AccessFS.READ_FILE | AccessFS.READ_DIR
    _WRITE_FILE = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE
    # No links, sockets, pipes or devices: a program that tidies a scratch folder up should meet plain files only.
    _WRITE_FOLDER = (
        _READ_FOLDER
        | _WRITE_FILE
        | AccessFS.MAKE_REG
        | AccessFS.MAKE_DIR
        | AccessFS.REMOVE_FILE
        | AccessFS.REMOVE_DIR
        | AccessFS.REFER
    )

_CUDA_READ = (
    "/proc/driver",
    "/proc/devices",
    "/proc/modules",
    "/proc/sys/vm",
    "/sys",
    "/usr/local/nvidia",
    "/usr/local/cuda",
    "/etc/nvidia",
)


@functools.cache
def abi() -> int:
    """Tell the kernel's Landlock version, 0 for none. The first call takes 5 ms: make it before forking."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return landlockpy.abi_version()
    return 0


def cuda_paths() -> tuple[Path, ...]:
    """List what the CUDA driver needs next to /proc: its devices, and where the machine and the driver describe it."""
    places = [Path(name) for name in _CUDA_READ if not name.startswith("/proc")]
    return tuple(path for path in (*places, *Path("/dev").glob("nvidia*")) if path.exists())


def restrict(
    read: Iterable[Path], write: Iterable[Path], cuda: bool = False, listed: Iterable[Path] = ()
) -> None:
    """Deny this thread every file, TCP port and foreign process that is not listed.

    Of `listed` folders the names of all that lies below may be seen, and no file read. Every right that the kernel
    knows is handled. What does not exist, or cannot be reached, stays closed.

    Raises:
        OSError: the kernel did not take it.
    """
    if sys.platform != "linux" or abi() == 0:
        raise OSError("Landlock is off")
    # Abstract sockets have no path, so that no rule about files holds for them.
    # What an older kernel does not know is left out by the library; `seccomp` refuses kill(2) and connect(2)
    # there.
    with Ruleset(scoped=Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL) as rules:
        for path in read:
            _allow(rules, path, _READ_FILE, _READ_FOLDER)
        for path in listed:
            _allow(rules, path, AccessFS.NONE, AccessFS.READ_DIR)
        for path in write:
            _allow(rules, path, _WRITE_FILE, _WRITE_FOLDER)
        # Libraries open it for what they do not want to see.
        _allow(rules, Path("/dev/null"), _WRITE_FILE, AccessFS.NONE)
        if cuda:
            _allow_cuda(rules)
        rules.restrict()


if sys.platform == "linux":

    def _allow(rules: Ruleset, path: Path, file: AccessFS, folder: AccessFS) -> None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            # A right of folders on a file is refused with EINVAL, which would end the confinement.
            rules.allow_path(path, folder if path.is_dir() else file)

    def _allow_cuda(rules: Ruleset) -> None:
        for name in _CUDA_READ:
            _allow(rules, Path(name), _READ_FILE, _READ_FOLDER)
        for device in Path("/dev").glob("nvidia*"):
            # Since ABI 5 an ioctl of a device is a right of its own, and CUDA does everything by ioctl.
            control = AccessFS.IOCTL_DEV
            _allow(rules, device, _WRITE_FILE | control, _READ_FOLDER | _WRITE_FILE | control)
        # The driver names its threads through their `comm` files; only this process's own are opened.
        own = Path("/proc", str(os.getpid()))
        _allow(rules, own / "task", _WRITE_FILE, _READ_FOLDER | _WRITE_FILE)
        for name in ("maps", "status"):
            _allow(rules, own / name, _READ_FILE, AccessFS.NONE)
