"""When a repository's newest commit was made, without trusting anything of the repository but its objects.

`git` runs in a repository of our own and is only pointed at the learner's objects: no configuration, hook or attribute
of theirs is read. The time is the one that the committer's own clock had; who pushed when, only the server knows.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime

from grader.submissions.archives import NotRead, read_file
from grader.submissions.spot import Spot

SOURCE = "git, by the committer's own clock"
_FOLDER = ".git"
_MOST = 1 << 20
_PATIENCE_S = 20.0


def commit_time(folder: Spot) -> datetime | None:
    """Return when the commit that is checked out in `folder` was made; None where there is no repository, or no git."""
    git = shutil.which("git")
    head = _text(folder / _FOLDER / "HEAD")
    if git is None or head is None:
        return None
    commit = _commit(folder, head)
    if commit is None:
        return None
    return _committed(git, os.path.join(folder.root, *folder.names, _FOLDER, "objects"), commit)


def _commit(folder: Spot, head: str) -> str | None:
    """Return the commit that HEAD means: itself, or the branch it names, loose or packed."""
    named = re.fullmatch(r"ref: (refs/heads/[\w./+@-]{1,200})\s*", head)
    if named is None:
        found = head
    elif ".." in named[1]:
        return None
    else:
        spot = folder / _FOLDER
        for part in named[1].split("/"):
            spot = spot / part
        found = _text(spot) or ""
        if not found:
            packed = _text(folder / _FOLDER / "packed-refs") or ""
            line = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(named[1])}$", packed, re.MULTILINE)
            found = line[1] if line else ""
    return found.strip() if re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?\s*", found) else None


def _committed(git: str, objects: str, commit: str) -> datetime | None:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_DIR": _our_repository(),
        "GIT_OBJECT_DIRECTORY": objects,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }
    command = [git, "cat-file", "commit", commit]
    try:
        with subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                said, _ = process.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                return None
    except OSError:
        return None
    line = re.search(
        rb"^committer [^\n]*> (\d{1,11}) [+-]\d{4}$", said[:_MOST].split(b"\n\n", 1)[0], re.MULTILINE
    )
    try:
        return datetime.fromtimestamp(int(line[1]), UTC) if line else None
    except (OverflowError, ValueError, OSError):
        return None


@functools.cache
def _our_repository() -> str:
    """Make an empty repository for this process; what is in it is ours alone."""
    kept = _Kept()
    for name in ("objects", "refs"):
        os.mkdir(os.path.join(kept.name, name))
    with open(os.path.join(kept.name, "HEAD"), "w", encoding="ascii") as file:
        file.write("ref: refs/heads/none\n")
    _KEPT.append(kept)
    return kept.name


class _Kept(tempfile.TemporaryDirectory[str]):
    """A folder that goes when the process ends."""


_KEPT: list[_Kept] = []


def _text(spot: Spot) -> str | None:
    try:
        return read_file(spot, _MOST).decode("utf-8", "replace")
    except (NotRead, OSError):
        return None
