"""When a repository's commit was made or tagged, without trusting anything of the repository but its objects.

`git` runs in a repository of our own and is only pointed at the learner's objects: no configuration, hook or attribute
of theirs is read. The time is the one that the learner's own clock had; who pushed when, only the server knows.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from typing import NamedTuple

from grader.submissions.archives import NotRead, read_file
from grader.submissions.spot import Spot

SOURCE = "git, by the committer's own clock"
_FOLDER = ".git"
_TAG = re.compile(r"(?!.*\.\.)[\w+@-][\w.+@-]{0,99}")
_MOST = 1 << 20
_PATIENCE_S = 20.0


class GitTime(NamedTuple):
    """When something was handed in, as a repository says."""

    at: datetime
    source: str
    note: str = ""
    """What the instructor should know of it."""


def git_time(folder: Spot, tag: str = "") -> GitTime | None:
    """Return when what is checked out in `folder` was tagged so, else when its commit was made.

    None where there is no repository, or no git.
    """
    git = shutil.which("git")
    head = _text(folder / _FOLDER / "HEAD")
    if git is None or head is None:
        return None
    commit = _commit(folder, head)
    if commit is None:
        return None
    read = functools.partial(_read, git, os.path.join(folder.root, *folder.names, _FOLDER, "objects"))
    note = ""
    if (tagged := _ref(folder, f"refs/tags/{tag}") if _TAG.fullmatch(tag) else None) is not None:
        text = read("tag", tagged)  # nothing where it is a mere name of a commit
        about = re.match(rb"object ([0-9a-f]{40,64})$", text, re.MULTILINE)
        if (about[1].decode() if about else tagged) != commit:
            note = f"the tag {tag} is on another commit than the one that is checked out: git checkout {tag}"
        elif (at := _signed("tagger", text)) is not None:
            return GitTime(at, f"the tag {tag} in git, by the tagger's own clock")
    at = _signed("committer", read("commit", commit))
    return GitTime(at, SOURCE, note) if at is not None else None


def _commit(folder: Spot, head: str) -> str | None:
    """Return the commit that HEAD means: itself, or the branch it names, loose or packed."""
    named = re.fullmatch(r"ref: (refs/heads/[\w./+@-]{1,200})\s*", head)
    if named is None:
        return _digest(head)
    return _ref(folder, named[1]) if ".." not in named[1] else None


def _ref(folder: Spot, name: str) -> str | None:
    """Return what a name means, loose or packed."""
    spot = folder / _FOLDER
    for part in name.split("/"):
        spot = spot / part
    found = _text(spot) or ""
    if not found:
        packed = _text(folder / _FOLDER / "packed-refs") or ""
        line = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", packed, re.MULTILINE)
        found = line[1] if line else ""
    return _digest(found)


def _digest(text: str) -> str | None:
    return text.strip() if re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?\s*", text) else None


def _read(git: str, objects: str, kind: str, digest: str) -> bytes:
    """Return the head of an object; nothing where there is none of this kind."""
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
    command = [git, "cat-file", kind, digest]
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
                return b""
    except OSError:
        return b""
    return said[:_MOST].split(b"\n\n", 1)[0]


def _signed(role: str, head: bytes) -> datetime | None:
    """Return when whoever made an object did, by their own clock."""
    line = re.search(rb"^%s [^\n]*> (\d{1,11}) [+-]\d{4}$" % role.encode(), head, re.MULTILINE)
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
