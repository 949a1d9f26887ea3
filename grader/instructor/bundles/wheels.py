"""What a bundle installs: Kata and what it needs, at the versions that are installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from grader import DISTRIBUTION, interpreter
from grader.errors import UsageError

SOURCE = Path(__file__).resolve().parents[3]
PLATFORMS = (
    "manylinux_2_28_x86_64",
    "manylinux_2_27_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
)
"""What hand-in systems run on, as wheels call it, newest first."""

_LINUX = {
    "extra": "",
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
}


def pins(python: str) -> dict[str, str]:
    """Return by name the version of everything that Kata needs on Linux with this Python, as installed here.

    Extras are left out. What only Linux or that Python needs may not be installed here: it has no version.

    Raises:
        UsageError: something of it is not installed.
    """
    found: dict[str, str] = {}
    # Markers are read as on the machine that will install it, which is seldom this one.
    there = {**_LINUX, "python_version": python, "python_full_version": f"{python}.0"}
    waiting = [(DISTRIBUTION, True)]
    while waiting:
        name, needed_here = waiting.pop()
        name = str(canonicalize_name(name))
        if name in found:
            continue
        try:
            one = metadata.distribution(name)
        except metadata.PackageNotFoundError as error:
            if not needed_here:
                found[name] = ""
                continue
            raise UsageError(
                f"{name} is not installed here, so its version is not known.", f"pip install {DISTRIBUTION}"
            ) from error
        found[name] = Version(one.version).public  # an index does not know of "+cpu"
        for line in one.requires or ():
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or marker.evaluate(there):
                # Whether it has to be installed here as well depends on this machine's own values.
                waiting.append((requirement.name, marker is None or marker.evaluate({"extra": ""})))
    return dict(sorted(found.items()))


def lines(python: str) -> list[str]:
    """Return what is needed as the lines of a requirements.txt.

    Raises:
        UsageError: as `pins`.
    """
    return [f"{name}=={version}" if version else name for name, version in pins(python).items()]


def own_wheel(folder: Path) -> Path:
    """Put the wheel of this Kata into a folder: built from its sources where they lie here, else from the index.

    Raises:
        UsageError: pip could do neither.
    """
    version = Version(metadata.version(DISTRIBUTION)).public
    folder = folder.absolute()  # pip runs in a folder of its own
    if (SOURCE / "pyproject.toml").is_file():
        _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(SOURCE))
    else:
        _pip("download", "--no-deps", "--dest", str(folder), f"{DISTRIBUTION}=={version}")
    return next(folder.glob(f"{DISTRIBUTION.replace('-', '_')}-{version}-*.whl"))


def download(folder: Path, python: str) -> None:
    """Download the wheels of everything else that is needed, for Linux and a version of Python.

    Raises:
        UsageError: pip could not.
    """
    wanted = [line for line in lines(python) if not line.startswith(f"{DISTRIBUTION}==")]
    platforms = [part for platform in PLATFORMS for part in ("--platform", platform)]
    target = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python, *platforms]
    _pip("download", "--no-deps", "--dest", str(folder), *target, *wanted)


def copy(source: Path, folder: Path) -> None:
    """Copy the wheels of a folder.

    Raises:
        UsageError: it holds none.
    """
    found = sorted(source.glob("*.whl"))
    if not found:
        raise UsageError(
            f"{source} holds no wheels.",
            "pip download --only-binary :all: -d FOLDER … fills one; or leave it out.",
        )
    for wheel in found:
        shutil.copyfile(wheel, folder / wheel.name)


def _pip(*arguments: str) -> None:
    with tempfile.TemporaryDirectory(prefix="kata-pip-") as stand:
        # Its index and its proxy are told by the caller's variables.
        process = interpreter.start(
            "pip",
            ["--disable-pip-version-check", *arguments],
            Path(stand),
            variables=os.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        _, said_by_pip = process.communicate()
    if process.returncode != 0:
        hint = (
            "\n  ".join(said_by_pip.decode(errors="replace").strip().splitlines()[-3:])
            or "it printed nothing"
        )
        raise UsageError(
            f"pip {arguments[0]} failed:\n  {hint}",
            "--wheels FOLDER takes wheels that you have; --online leaves them to be downloaded there.",
        )
