"""When a repository's commit was made or tagged, without trusting anything of the repository but its objects.

`git` runs in a repository of our own and is only pointed at the learner's objects: no configuration, hook or attribute
of theirs is read. The time is the one that the learner's own clock had; who pushed when, only the server knows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from grader.data_files import UnreadableSubmission
from grader.instructor.submissions.archives import MAX_ENTRIES
from grader.instructor.submissions.entry import read_file
from grader.instructor.submissions.safe_path import SafePath

SOURCE = "git, by the committer's own clock"
_FOLDER = ".git"
_TAG = re.compile(r"(?!.*\.\.)[\w+@-][\w.+@-]{0,99}")
_MOST = 1 << 20
PATIENCE_S = 10.0
"""How long git may look at all repositories of a learner together."""
_BOUNDED = 'ulimit -t 5; ulimit -d 262144; exec "$0" "$@"'
"""Seconds of processor and KB of memory of git: an object may unpack to a thousand times its size."""


class GitTime(NamedTuple):
    """When something was handed in, as a repository says."""

    at: datetime | None
    """None where the clock was wrong."""
    source: str | None
    note: str = ""
    """What the instructor should know of it."""


class Repositories:
    """What git says of a learner's repositories: each is asked once, for all katas, and all together not for long."""

    def __init__(self) -> None:
        self._known: dict[SafePath, dict[str, GitTime]] = {}
        self._left_s = PATIENCE_S

    def times(self, folder: SafePath, tags: Iterable[str]) -> dict[str, GitTime]:
        """Return the same as `git_times`, at each call with the same tags."""
        if folder not in self._known:
            began = time.monotonic()
            self._known[folder] = git_times(folder, tags, self._left_s)
            self._left_s -= time.monotonic() - began
        return self._known[folder]


def git_times(folder: SafePath, tags: Iterable[str], patience_s: float) -> dict[str, GitTime]:
    """Return by tag when what is checked out in `folder` was tagged so, else when its commit was made.

    Empty where there is no repository that can be read within `patience_s`, or no git. However many tags are asked
    about, git runs once.
    """
    git = shutil.which("git")
    head = _text(folder / _FOLDER / "HEAD")
    if git is None or head is None:
        return {}
    # HEAD is a commit itself, or names a branch, loose or packed.
    named = re.fullmatch(r"ref: (refs/heads/[\w./+@-]{1,200})\s*", head)
    commit = _digest(head) if named is None else None if ".." in named[1] else _ref(folder, named[1])
    if commit is None or not _is_plain(folder / _FOLDER / "objects"):
        return {}
    tags = set(tags)
    # Only names that look like one: this becomes a path in a learner's folder.
    tagged = {tag: _ref(folder, f"refs/tags/{tag}") for tag in tags if _TAG.fullmatch(tag)}
    digests = {commit, *filter(None, tagged.values())}
    place = os.path.join(folder.root, *folder.names, _FOLDER, "objects")
    objects = _objects(git, place, digests, patience_s)
    found = {tag: _time(tag, commit, tagged.get(tag), objects) for tag in tags}
    return {tag: _believed(time) for tag, time in found.items() if time is not None}


def _believed(time: GitTime) -> GitTime:
    """Return a time unless it is yet to come: then the clock that made it was wrong, and nobody knows the time."""
    if time.at is None or time.at <= datetime.now(UTC):
        return time
    why = f"{time.source}, says {time.at:%Y-%m-%d %H:%M} UTC, which is yet to come: the time is unknown"
    return GitTime(None, None, f"{why}; {time.note}" if time.note else why)


def _time(tag: str, commit: str, tagged: str | None, objects: dict[str, _Object]) -> GitTime | None:
    note = ""
    if tagged is not None:
        made = objects.get(tagged, _Object("", None))
        if (made.about or tagged) != commit:
            note = f"the tag {tag} is on another commit than the one that is checked out: git checkout {tag}"
        elif made.about and made.at is not None:  # a mere name of a commit has no time of its own
            return GitTime(made.at, f"the tag {tag} in git, by the tagger's own clock")
    at = objects[commit].at if commit in objects else None
    return GitTime(at, SOURCE, note) if at is not None else None


def _ref(folder: SafePath, name: str) -> str | None:
    """Return what a name means, loose or packed. We read it ourselves: git would follow links out of the repository."""
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


def _is_plain(objects: SafePath) -> bool:
    """Whether git finds nothing but files there, and not too many: it waits for a pipe, and follows links."""
    ahead, left = [objects], MAX_ENTRIES
    while ahead:
        folder = ahead.pop()
        try:
            with folder.entries() as entries:
                for entry in entries:
                    left -= 1
                    inner = entry.is_dir(follow_symlinks=False)
                    # Alternates are folders elsewhere that git looks into as well.
                    plain = entry.is_file(follow_symlinks=False) and entry.name != "alternates"
                    if left < 0 or not (plain or inner):
                        return False
                    ahead += [folder / entry.name] if inner else []
        except OSError:
            return False
    return True


class _Object(NamedTuple):
    """A commit or a tag."""

    about: str
    """The commit that a tag is on."""
    at: datetime | None
    """When it was made, by its author's clock."""


def _objects(git: str, folder: str, digests: set[str], patience_s: float) -> dict[str, _Object]:
    """Return commits and tags out of a folder of objects, by digest; nothing where one of them is not there."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        # The learner's objects with a repository of ours: their configuration, hooks and refs are never
        # read.
        "GIT_OBJECT_DIRECTORY": folder,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }
    with tempfile.TemporaryDirectory(prefix="kata-git-") as ours:
        for name in ("objects", "refs"):
            os.mkdir(os.path.join(ours, name))
        names = "".join(f"{digest} refs/kata/{digest}\n" for digest in digests)
        for name, text in (("HEAD", "ref: refs/heads/none\n"), ("packed-refs", names)):
            with open(os.path.join(ours, name), "w", encoding="ascii") as file:
                file.write(text)
        # The committer's date, which a rebase renews; the author's may be years older.
        form = "%(objectname) %(committerdate:unix)%(taggerdate:unix) %(*objectname)"
        try:
            ran = subprocess.run(
                ["/bin/sh", "-c", _BOUNDED, git, "--git-dir", ours, "for-each-ref", f"--format={form}"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=max(patience_s, 0),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return {}
    found = {}
    for line in ran.stdout.decode("ascii", "replace").splitlines():
        digest, seconds, about = line.split(" ")
        found[digest] = _Object(about, _moment(seconds))
    return found


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _text(spot: SafePath) -> str | None:
    try:
        return read_file(spot, _MOST).decode("utf-8", "replace")
    except (UnreadableSubmission, OSError):
        return None
