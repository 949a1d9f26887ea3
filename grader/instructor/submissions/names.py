"""Names as people and systems write them: learners' and files'."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from grader.catalogue import ARCHIVES, SUBMISSION_SUFFIXES
from grader.words import printable

MAX_LEARNER = 128
"""Characters of a learner's identity; a longer name is cut and told apart by a digest."""

_IGNORED = frozenset({"__macosx", "__pycache__", "node_modules", "site-packages", "venv", "virtualenv"})
_IGNORED_FILES = frozenset({"thumbs.db", "desktop.ini"})
_OTHER_ARCHIVES = (".7z", ".rar", ".gz", ".bz2", ".xz", ".tbz2", ".txz", ".zst")

LONGEST = 255
"""Characters of a name that a pattern is tried on: in an archive a name may have thousands."""

# What systems and browsers make of a second file with the name masks.py.
_COPY = re.compile(
    r"^(?:copy of )?(?P<stem>.+?)(?:\s*\(\d+\)|-\d+|(?:\s+-)?\s+copy(?:\s*\(?\d+\)?)?)?$", re.IGNORECASE
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


@lru_cache(maxsize=1 << 15)
def natural_key(text: str) -> tuple[object, ...]:
    """Return what sorts `learner 9` before `learner 10`, and 9.9 before 9.10; equal only for equal text."""
    parts: list[object] = []
    for place, part in enumerate(re.split(r"([0-9]+)", text.casefold())):
        digits = part.lstrip("0")
        # As text, the longer number last: Python refuses to read thousands of digits.
        parts.append((len(digits), digits) if place % 2 else part)
    return tuple(parts), text


def ignored_folder(name: str) -> bool:
    """Whether no work of a learner lies in a folder of this name: hidden, caches, environments."""
    return name.startswith(".") or name.casefold() in _IGNORED


def ignored_file(name: str) -> bool:
    """Whether a file of this name is a system's, not a learner's."""
    return name.startswith(".") or name.casefold() in _IGNORED_FILES or name.endswith((".pyc", ".pyo"))


def archive_stem(name: str) -> str | None:
    """Return the name without its ending when it is an archive that can be opened, else None."""
    folded = name.casefold()
    for suffix in ARCHIVES:
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
    # `masks (1)`, `masks-1`, `masks - Copy` and `Copy of masks`
    copy = _COPY.match(stem.strip()) if len(stem) <= LONGEST else None
    return 2 if copy is not None and _fold(copy["stem"]) == _fold(module) else None


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def listed(names: Sequence[str], count: int) -> str:
    """Return the first `count` names for a sentence, and how many more there are."""
    shown = ", ".join(printable(name[:80]) for name in names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"
