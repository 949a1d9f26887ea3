"""Names as people and systems write them: learners', files', and what renaming did to them."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from grader.catalogue import SUBMISSION_SUFFIXES

MAX_LEARNER = 128
"""Characters of a learner's identity; a longer name is cut and told apart by a digest."""

_IGNORED = frozenset({"__macosx", "__pycache__", "node_modules", "site-packages", "venv", "virtualenv"})
_IGNORED_FILES = frozenset({"thumbs.db", "desktop.ini"})
_ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")
_OTHER_ARCHIVES = (".7z", ".rar", ".gz", ".bz2", ".xz", ".tbz2", ".txz", ".zst")

_LONGEST = 255
"""Characters of a name that a pattern is tried on: in an archive a name may have thousands."""

# What systems and browsers make of a second file with the name masks.py.
_COPY = re.compile(
    r"^(?:copy of )?(?P<stem>.+?)(?:\s*\(\d+\)|-\d+|(?:\s+-)?\s+copy(?:\s*\(?\d+\)?)?)?$", re.IGNORECASE
)


def printable(text: str) -> str:
    """Return `text` with whatever hides, reorders or cannot be encoded written out: `\\u202e`, `\\x1b`, `\\udcff`.

    Joiners stay: emoji and several scripts need them.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char in "\u200c\u200d" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else ascii(char)[1:-1]
        for char in text
    )


def learner_name(raw: str) -> str:
    """Return an identity made of `raw`: NFC, one line, no slashes, nothing invisible, of bounded length."""
    name = " ".join(unicodedata.normalize("NFC", raw).split(" ")).strip()
    name = printable(name.replace("/", "_").replace("\\", "_"))
    if name in {"", ".", ".."}:
        name = "unnamed" if not name else name.replace(".", "_")
    if len(name) > MAX_LEARNER:
        name = f"{name[: MAX_LEARNER - 10].rstrip()}…~{short_digest(name)}"
    return name


def short_digest(text: str) -> str:
    """Return eight characters that tell `text` from others."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def natural(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Return a sorting key that puts `learner 9` before `learner 10`, whatever the case."""
    parts = re.split(r"([0-9]{1,18})", text.casefold())
    return [(1, 0, part) if place % 2 == 0 else (0, int(part), "") for place, part in enumerate(parts)], text


def ignored_folder(name: str) -> bool:
    """Whether no work of a learner lies in a folder of this name: hidden, caches, environments."""
    return name.startswith(".") or name.casefold() in _IGNORED


def ignored_file(name: str) -> bool:
    """Whether a file of this name is a system's, not a learner's."""
    return name.startswith(".") or name.casefold() in _IGNORED_FILES or name.endswith((".pyc", ".pyo"))


def archive_stem(name: str) -> str | None:
    """Return the name without its ending when it is an archive that can be opened, else None."""
    folded = name.casefold()
    for suffix in _ARCHIVES:
        if folded.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return None


def foreign_archive(name: str) -> str | None:
    """Return the name without its ending when it is an archive of a kind that is not opened, else None."""
    if archive_stem(name) is not None or not name.casefold().endswith(_OTHER_ARCHIVES):
        return None
    return re.sub(r"(?i)(\.tar)?\.[^.]*$", "", name) or None


def module_rank(name: str, module: str) -> int | None:
    """Return how well a file name fits a module: 0 exactly, 1 but for case, 2 renamed as a copy, None not at all."""
    stem, suffix = os.path.splitext(name)
    if suffix.casefold() not in SUBMISSION_SUFFIXES:
        return None
    if stem == module and suffix in SUBMISSION_SUFFIXES:
        return 0
    if _fold(stem) == _fold(module):
        return 1
    return 2 if _fold(without_copy_mark(stem)) == _fold(module) else None


def without_copy_mark(stem: str) -> str:
    """Return `masks` for `masks (1)`, `masks-1`, `masks - Copy` and `Copy of masks`."""
    if len(stem) > _LONGEST:
        return stem
    found = _COPY.match(stem.strip())
    return found["stem"] if found else stem


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


@dataclass(frozen=True)
class Renamed:
    """A file or folder name that a learning-management system made, taken apart."""

    system: str
    """`canvas`, `moodle` or `blackboard`."""
    learner: str
    """As the gradebook shall know them."""
    key: str
    """What tells the learner from others within the system."""
    original: str | None
    """The file's name before the system renamed it; None for a folder, or for the system's own note."""
    number: str = ""
    """Canvas: the attachment; Blackboard: the attempt's time. A later one is greater."""
    late: bool = False
    """Canvas says so."""


# lovelaceada_LATE_1234_5678_masks-1.py: name, user, attachment. Identifiers never begin with 0.
_CANVAS = re.compile(
    r"^(?P<name>[^_].*?)(?P<late>_LATE)?_(?P<user>[1-9]\d*)_(?P<file>[1-9]\d*)_(?P<original>.+)$"
)
_CANVAS_ANONYMOUS = re.compile(
    r"^anon(?P<late>_LATE)?_(?P<user>[A-Za-z0-9]{5})_(?P<file>[1-9]\d*)_(?P<original>.+)$"
)
# Ada Lovelace_12345_assignsubmission_file_ (a folder), or the same with the file's name behind it.
_MOODLE = re.compile(r"^(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+(?:_(?P<original>.*))?$")
# Homework 1_ada_attempt_2026-01-02-03-04-05_masks.py, and ….txt, the system's note.
_BLACKBOARD = re.compile(r"^(?P<before>.+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<original>.+)|\.txt)$")


def canvas(name: str) -> Renamed | None:
    """Take a file name of Canvas apart."""
    found = _CANVAS_ANONYMOUS.match(name)
    if found:
        who = f"anon_{found['user']}"
    else:
        found = _CANVAS.match(name)
        if not found:
            return None
        who = f"{found['name']}_{found['user']}"
    original = found["original"]
    stem, suffix = os.path.splitext(original)
    if suffix.casefold() in SUBMISSION_SUFFIXES or archive_stem(original) is not None:
        # Canvas numbers a later file of the same name; other files keep what may be their own number.
        ending = original[len(archive_stem(original) or stem) :]
        original = re.sub(r"-\d+$", "", original[: len(original) - len(ending)]) + ending
    return Renamed(
        "canvas", who, found["user"], original, found["file"].zfill(20), late=found["late"] is not None
    )


def moodle(name: str) -> Renamed | None:
    """Take a folder or file name of Moodle apart."""
    found = _MOODLE.match(name)
    if not found:
        return None
    return Renamed("moodle", found["name"], found["id"], found["original"] or None)


def blackboard(name: str, users: Collection[str] = ()) -> Renamed | None:
    """Take a file name of Blackboard apart; `users` are names known from its notes, which may hold a `_`."""
    found = _BLACKBOARD.match(name)
    if not found or len(name) > 4 * _LONGEST:
        return None
    before = found["before"]
    ends = [before[place + 1 :] for place, char in enumerate(before) if char == "_"] or [before]
    user = next((end for end in ends if end in users), ends[-1])
    return Renamed("blackboard", user, user, found["original"], found["time"])
