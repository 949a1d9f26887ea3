"""Where the warm process is found, and what it has to have in common with whoever asks it."""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
import zlib

from grader import interpreter

TYPE_CHECKING = False  # `typing` takes longer than all the rest
if TYPE_CHECKING:
    from collections.abc import Mapping

SWITCH = "KATA_WARM"
"""Set to 0, it says that there is to be no warm process."""
SOCKET, LOCK, EMPTY = "socket", "lock", "empty"
"""What lies in the folder of one warm process: what it answers on, what says that it lives, and where it stands."""

_AT_IMPORT = frozenset(
    {"LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES"}
)
_AT_IMPORT_PREFIXES = (
    *(
        "LC_",
        "MALLOC_",
        "OMP_",
        "MKL_",
        "KMP_",
        "OPENBLAS_",
        "NUMEXPR_",
        "VECLIB_",
        "GOMP_",
        "ATEN_",
        "DNNL_",
        "ONEDNN_",
    ),
    *("TORCH", "PYTORCH_", "TRITON_", "CUDA_", "NVIDIA_", "HIP_", "ROCR_"),
)
"""Variables that the C library, numpy or torch look at once, while they are loaded."""
_OF_NO_MATTER = frozenset(
    {
        *(
            "PYTHONPATH",
            "PYTHONSAFEPATH",
            "PYTHONNOUSERSITE",
            "PYTHONDONTWRITEBYTECODE",
            "PYTHONPYCACHEPREFIX",
        ),
        *("PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONSTARTUP"),
    }
)
"""Variables of Python that show in its search path, in its streams and flags, or not at all."""
_STATUS = ("Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp:", "Cpus_allowed:", "Mems_allowed:")
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
_OPTIONS = ("debug", "inspect", "interactive", "optimize", "verbose", "bytes_warning", "dev_mode")
_FLAGS = (*_OPTIONS, "utf8_mode")


_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: process, user, group, as they were when it connected or began to listen."""


class Odd(Exception):
    """Something is not as it is usually: the cold way is the right one."""


def wanted() -> bool:
    """Return whether there may be a warm process: on Linux, unless `KATA_WARM` is 0 or `CI` says that this is CI."""
    return sys.platform == "linux" and os.environ.get(SWITCH) != "0" and not os.environ.get("CI")


def root() -> str:
    """Return the folder below which this user's warm processes have theirs; made where it is not there.

    Raises:
        Odd: it is somebody else's, or open to others.
        OSError: it cannot be made.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _is_private(runtime):
        folder = os.path.join(runtime, "kata")
    else:
        # By hand: `import tempfile` takes longer than the rest of the way.
        folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"kata-warm-{os.geteuid()}")
    return private(folder)


def private(folder: str) -> str:
    """Return a folder that is this user's alone, made where it is not there.

    Raises:
        Odd: it is somebody else's, open to others, or no folder.
        OSError: it cannot be made.
    """
    if not os.path.lexists(folder):
        os.mkdir(folder, 0o700)
    if not _is_private(folder):
        raise Odd(folder)
    return folder


def name(facts: str) -> str:
    """Return what the folder of the warm process with these facts is called; it compares the facts themselves."""
    return f"{zlib.crc32(facts.encode('utf-8', 'surrogateescape')):08x}"


def facts(*, isolated: bool = False) -> str:
    """Return all that makes this process and one that stands by differ, where the request does not carry it along.

    The interpreter and what it was told, where it looks for modules, variables that count while torch is imported, and
    what the kernel knows of a process: whose it is, what it may do and use, in which namespaces it lives.

    Args:
        isolated: of the process that `interpreter.command` would start from this one; no option of this one reaches it.

    Raises:
        Odd: this Python was told something unusual.
        OSError: there is no /proc.
    """
    if isolated:
        if "utf8" in sys._xoptions or os.environ.get("PYTHONUTF8"):
            raise Odd("utf8")  # it would not be told, so it might read and write otherwise
    elif not sys.flags.ignore_environment and any(
        variable.startswith("PYTHON") and variable not in _OF_NO_MATTER for variable in os.environ
    ):
        raise Odd("PYTHON*")
    elif sys.flags.ignore_environment < sys.flags.isolated or sys.warnoptions or sys._xoptions:
        raise Odd("options")
    with open("/proc/self/limits", encoding="utf-8") as file:
        limits = file.read()
    with open("/proc/self/status", encoding="utf-8", errors="replace") as file:
        powers = [" ".join(line.split()) for line in file if line.startswith(_STATUS)]
    return "\n".join(
        (
            *(interpreter.program(), sys.prefix, sys.version, os.path.dirname(__file__)),
            *interpreter.search_path(),
            *(
                f"{flag} {0 if isolated and flag in _OPTIONS else int(getattr(sys.flags, flag))}"
                for flag in _FLAGS
            ),
            *sorted(f"{key}={value}" for key, value in variables(os.environ).items()),
            *powers,
            str(os.nice(0)),
            *(os.readlink(f"/proc/self/ns/{which}") for which in _NAMESPACES),
            limits,
        )
    )


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that count while torch and the C library are loaded."""
    return {
        key: value
        for key, value in environment.items()
        if key in _AT_IMPORT or key.startswith(_AT_IMPORT_PREFIXES)
    }


def is_own(link: socket.socket) -> bool:
    """Return whether the other end of a socket is this user's.

    Next to the folder that only this user can enter, that is all there is to know: what runs with this user's rights
    may do what this user may, and a worker that may do less cannot connect.

    Raises:
        OSError: the system does not tell.
    """
    credentials = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(credentials)[1]) == os.geteuid()


def _is_private(folder: str) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and stat.S_IMODE(status.st_mode) == 0o700
    )
