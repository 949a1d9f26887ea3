"""`kata doctor`: what this machine offers, and what is missing."""

from __future__ import annotations

import os
import platform
import resource
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import DISTRIBUTION, TRIED, __version__, machine
from grader.catalogue import Catalogue
from grader.catalogue.catalogue import answers
from grader.cli.context import json_option, print_json
from grader.cli.warm_process import SWITCH, end_all, running_daemons, wanted
from grader.devices import accelerator_here
from grader.engine import sandbox
from grader.errors import KataError, MachineFault
from grader.report.style import console, escape_controls, print_hanging, safe_text
from grader.words import counted

if TYPE_CHECKING:
    from packaging.requirements import Requirement


@click.command(short_help="Show what this machine offers: isolation, device, versions, packs.")
@click.option(
    "--end-warm",
    is_flag=True,
    help="End the processes that stand by for the next check, and do nothing else.",
)
@json_option
def doctor(end_warm: bool, as_json: bool) -> int:
    """Show what this machine offers: isolation, device, versions, packs.

    `warm` is the process that stands by for the next kata check, with torch imported.

    \b
    Example:
      kata doctor
      kata doctor --json
      kata doctor --end-warm
    """
    if end_warm:
        ended = end_all()
        if as_json:
            print_json({"ended": ended})
        else:
            click.echo("\n".join(f"ended {pid}" for pid in ended) or "No process was standing by.")
        return 0
    facts, notes, broken = _examined()
    if as_json:
        print_json({**facts, "notes": notes})
    else:
        _print(facts, notes)
    return 3 if broken else 0


def _examined() -> tuple[dict[str, object], list[str], bool]:
    """Return what this machine offers, what is worth knowing of it, and whether a pack is broken."""
    # In this order: grading takes more open files where it may, and the device is asked before workers are.
    lacking = []
    try:
        machine.prepare()
    except MachineFault as error:
        lacking.append(_in_words(error))
    found = sandbox.probe()
    device, no_device = _device()
    launcher, no_launcher = _launcher()
    isolation, not_isolated = _isolation(found, launcher)
    packs: list[str] = []
    broken: list[str] = []
    try:
        for pack in Catalogue.discover().packs:
            where = "here" if pack.solutions else "not here"
            packs.append(f"{pack.name} {pack.version} ({len(pack.katas)} katas, solutions {where})")
    except KataError as error:
        broken.append(f"A pack is broken: {error.message}")
    readable, hidden, exposed = _view([] if broken else answers())
    facts: dict[str, object] = {
        "kata": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in ("torch", "pytest", "numpy")},
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "pace": machine.pace(),
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "device": device,
        "launcher": launcher,
        "isolation": isolation,
        "landlock_abi": found.landlock_abi,
        "seccomp": found.seccomp,
        "cells": found.cells,
        "network_namespaces": found.network_namespaces,
        "user_namespaces": found.user_namespaces,
        "cgroup": found.cgroup,
        "warm": _warm(),
        "readable": readable,
        "hidden": hidden,
        "packs": packs,
    }
    # What people can mend soonest comes first.
    why = filter(None, (*lacking, no_device, no_launcher, not_isolated))
    notes = [*_requirements(), *_remarks(), *found.missing, *why, *exposed, *broken]
    return facts, notes, bool(broken)


def _print(facts: dict[str, object], notes: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        text = ", ".join(map(str, value)) or "nothing" if isinstance(value, list) else str(value)
        table.add_row(name.replace("_", " "), escape_controls({"True": "yes", "False": "no"}.get(text, text)))
    out = console()
    out.print(table)
    out.print("\nWorth knowing" if notes else "\nNothing is missing.")
    for note in notes:
        print_hanging(out, Text("  - "), safe_text(note))


def _warm() -> list[str]:
    """Return what stands by, or why nothing ever does."""
    standing = [
        f"process {daemon.pid}: {daemon.resident_bytes >> 20} MB, {counted(daemon.served, 'command')}, "
        f"idle for {daemon.idle_s} s"
        for daemon in running_daemons()
    ]
    if standing or wanted():
        return standing
    if sys.platform != "linux":
        return ["on Linux only"]
    return [f"off ({SWITCH}=0)" if os.environ.get(SWITCH) == "0" else "off (CI is set)"]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _requirements() -> Iterator[str]:
    """Yield what Kata needs and is not installed, or is too old or too new."""
    for requirement in _required():
        # Requirements of another system, or of an extra, are not missing here.
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        wanted = f"{requirement.name}{requirement.specifier}"
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            yield f"{requirement.name} is not installed: pip install '{wanted}'"
            continue
        # Prereleases too: somebody chose them.
        if not requirement.specifier.contains(version, prereleases=True):
            yield f"{requirement.name} {version} is not what Kata works with: pip install '{wanted}'"


def _wanted(name: str) -> str:
    """Return a requirement of Kata's as pip takes it; the name alone where Kata runs from its sources."""
    return next((f"{need.name}{need.specifier}" for need in _required() if need.name == name), name)


def _required() -> list[Requirement]:
    """Return what Kata requires; nothing if it runs from its sources."""
    from packaging.requirements import Requirement

    try:
        return [Requirement(line) for line in metadata.requires(DISTRIBUTION) or []]
    except metadata.PackageNotFoundError:
        return []


def _remarks() -> Iterator[str]:
    """Yield what is newer or older than what Kata has been tried with, and why checks take longer here, if they do."""
    python = ".".join(platform.python_version_tuple()[:2])
    if python != TRIED["Python"]:
        yield (
            f"Kata has not been tried with Python {python}. If something is odd: "
            f"uv tool install --python {TRIED['Python']} --torch-backend cpu {DISTRIBUTION}"
        )
    torch = _version("torch")
    if torch != "not installed" and ".".join(torch.split(".")[:2]) != TRIED["torch"]:
        yield (
            f"Kata has not been tried with torch {torch}. If something is odd: pip install 'torch=={TRIED['torch']}.*'"
        )
    if (pace := machine.pace()) > 1:
        yield (
            f"This machine is slow: a check may take {pace:g} times as long as its kata says. "
            "For one that takes longer still: kata check --timeout SECONDS"
        )
    if sys.platform == "linux" and os.environ.get(SWITCH) == "0":
        yield f"Every check waits for torch, because {SWITCH} is 0. For a verdict at once: unset {SWITCH}"


def _in_words(error: KataError) -> str:
    return f"{error.message} {error.hint or ''}".rstrip()


def _device() -> tuple[str, str | None]:
    import warnings

    warnings.simplefilter("ignore")  # a driver too old is said below, once
    try:
        found = accelerator_here()
    except (ImportError, OSError) as error:  # not there, or a library of it is not
        return "none", f"torch does not load ({error}): pip install --force-reinstall '{_wanted('torch')}'"
    if found is not None:
        return f"{found.kind} ({', '.join(found.names())})", None
    return (
        "cpu",
        "No GPU that this torch can use: checks that need one are skipped, and the maximum leaves out their points.",
    )


def _launcher() -> tuple[str, str | None]:
    try:
        from grader.engine.host.launcher import launcher_name

        return launcher_name(), None
    except (ImportError, OSError):
        return "none", None  # of torch, which is told as the device
    except KataError as error:
        return "none", error.message


def _isolation(found: sandbox.Capabilities, launcher: str) -> tuple[str, str | None]:
    """Return the level that workers will reach, and why it is not the best that the machine has."""
    try:
        wanted = sandbox.offered()
    except KataError as error:
        return "none", _in_words(error)
    if launcher == "spawn" and found.level == "full":
        return sandbox.weakest("confined", wanted), (
            "Workers that start as fresh interpreters have no namespaces of their own: "
            "unset KATA_LAUNCHER for isolation 'full'."
        )
    if sandbox.weakest(found.level, wanted) != found.level:
        return (
            wanted,
            f"KATA_ISOLATION holds workers back at {wanted!r}; this machine offers {found.level!r}.",
        )
    return found.level, None


def _view(references: list[Path]) -> tuple[list[str], list[str], list[str]]:
    """Return what submissions may read, what is hidden from them in it, and what must be moved away."""
    view = sandbox.python_view(references)
    own = [str(place) for place in view.places if not str(place).startswith(_SYSTEMS)]
    secrets: dict[Path, str] = {
        **dict.fromkeys(references, "a pack's answers"),
        Path("gradebook.sqlite"): "the gradebook of this folder",
        Path(tempfile.gettempdir()): "the temporary folder, where submissions lie while they are graded",
    }
    exposed = [
        f"Every submission may read {place}, and {path.absolute()} ({what}) lies inside it: nothing is graded "
        "until it is moved."
        for path, what in secrets.items()
        for place in (sandbox.places_showing(path, view) if path.exists() else ())
    ]
    return own, [str(path) for path in view.hidden], exposed


_SYSTEMS = ("/dev/", "/proc/", "/sys/", "/etc/", "/usr/share/zoneinfo")
