"""The one check of what submissions could read or become: made before the first of them is graded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.engine.sandbox.levels import Isolation
from grader.engine.sandbox.read_paths import View
from grader.errors import UsageError

CONSENT = "--require-isolation process"


def refuse_exposed(
    secrets: Mapping[Path, str], view: View, level: Isolation, *, agreed: bool = False
) -> None:
    """Refuse to go on where a submission could read what it must not.

    Args:
        secrets: files and folders, each with what it is, such as "the gradebook".
        view: what workers read.
        level: how far they are shut in; at `process` they read whatever the user does.
        agreed: whether somebody said that `process` is enough.

    Raises:
        UsageError: what lies where.
    """
    if level == "process":
        if not agreed:
            places = ", ".join(f"{what} ({path})" for path, what in secrets.items())
            raise UsageError(
                f"At isolation 'process' every submission can read what you can: {places}.",
                f"kata doctor says how to get more. If you trust the submissions with that, add: {CONSENT}",
            )
        return
    for path, what in secrets.items():
        # Any one of them is enough to refuse, so the first is named.
        for place in places_showing(path, view):
            raise UsageError(
                f"{path} ({what}) is below {place}, which every submission may read.",
                "Move it: nothing that belongs to you or to a learner may be in a folder of installed software.",
            )


def places_showing(secret: Path, view: View) -> list[Path]:
    """Return the places that show `secret` to workers."""
    ways = {secret.resolve(), Path(os.path.abspath(secret))}
    return [
        place for place in view.places if any(way.is_relative_to(place) and view.covers(way) for way in ways)
    ]


def refuse_foreign_code(folder: Path) -> None:
    """Refuse a class's folder in which Python looks for modules: its names are its learners'.

    Raises:
        UsageError: which entry of the search path it is.
    """
    own = folder.resolve()
    for entry in sys.path:
        # Resolved: a link on the search path would lead there as well.
        place = Path(entry).resolve()
        # An environment that lies in it does not count: Python looks inside that alone.
        if place.is_relative_to(own) and not _is_pythons(place):
            raise UsageError(
                f"Python imports from {place}, which is in {folder}: a learner's file could run as the grader.",
                "Take it off PYTHONPATH and out of .pth files, or move the submissions.",
            )


def _is_pythons(place: Path) -> bool:
    prefixes: Iterable[str] = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    return any(place.is_relative_to(Path(prefix).resolve()) for prefix in prefixes)
