"""Leaves a warm process behind when a command has ended that imported torch the cold way."""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass

from grader import interpreter
from grader.errors import KataError
from grader.standby import place

MODULE = "grader.cli.stand_by"
"""What a warm process runs."""


@dataclass(frozen=True)
class Beginning:
    """What a process was before its command ran, which changes some of it: open files allowed, variables."""

    name: str
    open_files: tuple[int, int]
    variables: dict[str, str]


def beginning() -> Beginning | None:
    """Return what this process is now; None where it is nothing usual."""
    try:
        name = place.name(place.facts())
    except (OSError, ValueError, place.Odd):
        return None
    variables = {**interpreter.environment(), **place.variables(os.environ)}
    return Beginning(name, resource.getrlimit(resource.RLIMIT_NOFILE), variables)


def leave_behind(before: Beginning | None) -> None:
    """Start a warm process for the next command, and do not wait for it; nothing comes of it where anything is odd.

    It is a fresh interpreter rather than a fork of this one, which has seen a pack's checks and a worker's answers.
    """
    if before is None or not place.wanted() or "torch" not in sys.modules:
        return
    import subprocess
    from pathlib import Path

    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, before.open_files)
        root = place.root()
        folder = place.private(os.path.join(root, before.name))
        interpreter.start(
            MODULE,
            [root, before.name],
            Path(place.private(os.path.join(folder, place.EMPTY))),
            variables=before.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError, KataError, place.Odd):
        pass
