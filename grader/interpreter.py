"""The one way in which Kata starts a Python interpreter, and what its own may import.

Whatever an interpreter finds in its folder, on its path or among its variables may become its code: `tempfile.py`,
`PYTHONPATH`, `matplotlibrc`. A class's folder is full of names that learners chose, and the caller's variables hold
tokens. So an interpreter of ours is isolated, runs in an empty folder of ours, and has the variables listed here.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` would be half of what a command that finds a warm process imports
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

INSTALLED = ("site-packages", "dist-packages")
"""What folders are called that installers fill."""

_KEPT = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH"),
        *("KATA_PACKS", "KATA_SOLUTIONS", "KATA_LAUNCHER", "KATA_ISOLATION", "KATA_LOCKS", "KATA_DEBUG"),
        *("OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
        *("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NVML_BASED_CUDA_CHECK"),
    }
)
_KEPT_PREFIXES = ("LC_", "OMP_", "MKL_", "KMP_", "CUDA_", "NVIDIA_", "HIP_", "ROCR_")
_LISTS_OF_FOLDERS = ("KATA_PACKS", "KATA_SOLUTIONS")
_FOLDERS = ("TMPDIR", "KATA_LOCKS")

_BEGIN = (
    "import runpy, sys, warnings; warnings.filterwarnings('ignore', category=SyntaxWarning); "
    "path, module = sys.argv[1:3]; del sys.argv[1:3]; "
    "sys.path += [place for place in path.split({separator!r}) if place and place not in sys.path]; "
    "runpy.run_module(module, run_name='__main__', alter_sys=True)"
)
"""Isolated, Python forgets where a user's own packages are; they come last, as they would."""


def start(
    module: str,
    arguments: Iterable[str],
    folder: Path,
    *,
    variables: Mapping[str, str] | None = None,
    **streams: Any,
) -> subprocess.Popen[bytes]:
    """Start a module as the main program of an interpreter of its own.

    Args:
        module: its name; `runpy` runs it, as `python -m` does.
        arguments: its `sys.argv[1:]`.
        folder: where it stands: empty, ours, and closed to everybody else.
        variables: its whole environment; `environment()` where None.
        streams: the rest of `subprocess.Popen`.

    Raises:
        EngineError: the folder is somebody else's, or there is no interpreter.
        OSError: the system refused.
    """
    import subprocess

    # Libraries look for their settings in the current folder: nobody else may be able to put files there.
    _insist_on(folder)
    known = dict(environment() if variables is None else variables)
    return subprocess.Popen(command(module, *arguments), cwd=folder, env=known, **streams)


def program() -> str:
    """Return the path of this interpreter; empty where it does not know."""
    return sys.executable


def command(module: str, *arguments: str) -> list[str]:
    """Return the command line that `start` uses."""
    from grader.errors import EngineError

    if not program():
        raise EngineError("Python does not know where its own program is, so Kata can start no other.")
    begin = _BEGIN.format(separator=os.pathsep)
    # The search path goes along, since an isolated Python forgets the user's own packages.
    # Python warns of what it compiles, and ours compile what strangers wrote. Not by `-W`: a command with options of
    # Python's is not one for the warm process.
    return [program(), "-I", "-c", begin, os.pathsep.join(search_path()), module, *arguments]


def environment() -> dict[str, str]:
    """Return the caller's variables that Kata, torch and the system's libraries go by, and no other.

    Folders are made absolute: who gets them stands elsewhere.
    """
    # No other value is so much as looked at: each look makes a string, which outlives its use in freed memory.
    found = {name: os.environ[name] for name in os.environ if _is_kept(name)}
    for name in _LISTS_OF_FOLDERS:
        if name in found:
            found[name] = os.pathsep.join(
                os.path.abspath(os.path.expanduser(entry)) for entry in found[name].split(os.pathsep) if entry
            )
    for name in _FOLDERS:
        if found.get(name):
            found[name] = os.path.abspath(found[name])
    if "LD_LIBRARY_PATH" in found:  # an empty entry means the current folder
        entries = found["LD_LIBRARY_PATH"].split(os.pathsep)
        found["LD_LIBRARY_PATH"] = os.pathsep.join(entry for entry in entries if os.path.isabs(entry))
    return found


def forget_foreign_paths() -> None:
    """Take off the search path what an isolated interpreter would not have: the first act of the command line.

    `python -m` puts the current folder there, `PYTHONPATH` whatever it says. Of those stay the folders that installers
    fill and the one that Kata itself lies in.
    """
    named = [] if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "").split(os.pathsep)
    foreign = {os.path.normpath(entry) for entry in named if os.path.isabs(entry)}
    sys.path[:] = [
        entry
        for number, entry in enumerate(sys.path)
        if os.path.isabs(entry)
        and (
            _is_trusted(entry)
            or (os.path.normpath(entry) not in foreign and not (number == 0 and _is_current(entry)))
        )
    ]


def search_path() -> list[str]:
    """Return the entries of `sys.path` that another interpreter of ours may have as well."""
    return [entry for entry in sys.path if os.path.isabs(entry) and _is_trusted(entry)]


def is_installed(entry: str) -> bool:
    """Return whether an entry of the search path is a folder that installers fill, and nobody else."""
    if not os.path.isabs(entry):
        return False
    if os.path.basename(os.path.normpath(entry)) in INSTALLED:
        return True
    # `pip install --target` fills any folder; where Kata itself was put like that, others were, too.
    return _holds_kata(entry) and any(name.startswith("tensor_kata-") for name in os.listdir(entry))


def _is_trusted(entry: str) -> bool:
    installed = os.path.basename(os.path.normpath(entry)) in INSTALLED
    real, library = os.path.realpath(entry), os.path.realpath(os.path.dirname(os.__file__))
    return installed or _holds_kata(entry) or real == library or real.startswith(library + os.sep)


def _is_current(entry: str) -> bool:
    try:
        return os.path.samefile(entry, os.getcwd())
    except OSError:
        return False


def _holds_kata(entry: str) -> bool:
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.realpath(entry) == os.path.realpath(own)


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(_KEPT_PREFIXES)


def _insist_on(folder: Path) -> None:
    from grader.errors import EngineError

    # Ours, and writable for us alone: nobody else can put something there between this look and the start.
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022 or any(folder.iterdir()):
        raise EngineError(f"{folder} is not an empty folder of ours: no interpreter is started there.")
