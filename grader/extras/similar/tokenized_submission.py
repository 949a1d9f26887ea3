"""One hand-in as it is compared: the text that people see, its words and fingerprints, or why it could not be read.

Winnowing (Schleimer, Wilkerson, Aiken 2003) over words: of each few neighbours the least hash stands for them.

Two texts that have `SPAN + WINDOW - 1` words in a row in common share a fingerprint; less than `SPAN` words never do.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from grader.api import Bundle, Piece, TooMuch, UnreadableNotebook, Words, parse_module, read_notebook

MAX_CODE = 256 << 10
"""Bytes of Python that are read of a hand-in; no honest answer comes near."""
MAX_NOTEBOOK = 32 << 20
"""Notebooks carry pictures."""
MAX_FILES = 20
"""Files of a hand-in that are read."""
SPAN = 12
"""Words that one fingerprint covers: two short lines of tensor code."""
WINDOW = 4

_BASE = np.uint64(0x9E3779B97F4A7C15)
Hashes = npt.NDArray[np.uint64]
_CODE = (".py", ".ipynb")
_TOO_LONG = f"too long to be compared (at most {MAX_CODE >> 10} KB of code are read)"
_BEGINS = re.compile(r"\n(?=(?:async |def |class |@|import |from ))")
"""Where a definition begins, in a file that cannot be read as a whole."""


@dataclass(frozen=True)
class Candidate:
    """What somebody handed in for one kata."""

    learner: str
    bundle: Bundle
    attempt: int | None = None
    """The gradebook's number of it, where it comes from one."""
    term: str = ""
    """Which earlier term it is from, as a person says it; empty for the class that is looked at."""

    @property
    def who(self) -> tuple[str, str]:
        """Term and learner."""
        return self.term, self.learner

    @property
    def label(self) -> str:
        """How they are called."""
        return f"{self.learner} ({self.term})" if self.term else self.learner


class TokenizedSubmission:
    """A submission as tokens. Nothing of it is imported or run."""

    def __init__(self, work: Candidate, foreign: Collection[str]) -> None:
        """Read it.

        Args:
            work: what was handed in.
            foreign: names of files that are not part of this answer: what was given, other katas' modules.
        """
        self.work = work
        self.lines: list[str] = []
        """The text as it is shown: the module's lines, then those of other files, each below its name."""
        self.words = Words()
        self.problems: list[str] = []
        self.digests: dict[str, str] = {}
        """SHA-256 of each file, by its name."""
        # One budget for all files: many small ones are as expensive as a large one.
        left = MAX_CODE
        # The answer first: where the budget ends, it is the rest that is left out.
        names = [work.bundle.main, *sorted(name for name in work.bundle.files if name != work.bundle.main)]
        own = [
            name
            for name in names
            if name.casefold().endswith(_CODE) and (name == names[0] or os.path.basename(name) not in foreign)
        ]
        if len(own) > MAX_FILES:
            self.problems.append(f"{len(own) - MAX_FILES} of its {len(own)} files of code were not looked at")
        for name in own[:MAX_FILES]:
            data = work.bundle.files[name]
            self.digests[name] = hashlib.sha256(data).hexdigest()
            try:
                left -= self._read(name, data, left)
            except _Unread as unread:
                self.problems.append(f"{name}: {unread}")

    @cached_property
    def fingerprints(self) -> dict[int, list[int]]:
        """What stands for it, with the places of the words."""
        return chosen_hashes(self.words)

    def _read(self, name: str, data: bytes, left: int) -> int:
        """Read one file, and return how many bytes of code it has."""
        if self.lines:
            self.lines += ["", f"# {name}"]
        notebook = name.casefold().endswith(".ipynb")
        if len(data) > (MAX_NOTEBOOK if notebook else left):
            raise _Unread(_TOO_LONG)
        try:
            cells, why = _cells(name, data) if notebook else _module(data)
            size = sum(len(text) for text, _ in cells)
            if size > left:
                raise _Unread(_TOO_LONG)
            pieces: list[Piece] = []
            for text, body in cells:
                pieces.append(Piece(body, len(self.lines)))
                self.lines += text.split("\n")
            self.words.add(pieces)
        except TooMuch:
            raise _Unread("too long to be compared in full; its beginning was compared") from None
        except (RecursionError, MemoryError):
            raise _Unread("nested too deep to be read") from None
        if why:
            self.problems.append(f"{name}: {why}")
        return size


class _Unread(Exception):
    """A file that could not be compared; the message says why."""


_Cells = list[tuple[str, list[ast.stmt]]]
"""Texts in order, each with the statements that could be read of it."""


def _module(data: bytes) -> tuple[_Cells, str]:
    """Return a file's text and statements; where it is not valid Python, those of its definitions that are."""
    # Line ends as Python's parser counts them, or lines would be shown next to the wrong numbers.
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
    try:
        return [(text, parse_module(data).body)], ""
    except SyntaxError as error:
        why = f"not valid Python (line {error.lineno or 1}: {error.msg})"
    except ValueError as error:
        why = f"not valid Python ({error})"
    # One broken line must not hide a file: each definition is parsed by itself.
    cells = [(part, _statements(part)) for part in _BEGINS.split(text)]
    if not any(body for _, body in cells):
        raise _Unread(why)
    return cells, f"{why}; its valid parts were compared"


def _statements(text: str) -> list[ast.stmt]:
    try:
        return parse_module(text).body
    except (SyntaxError, ValueError):
        return []


def _cells(name: str, data: bytes) -> tuple[_Cells, str]:
    try:
        good, broken = read_notebook(name, data)
    except UnreadableNotebook as error:
        raise _Unread(f"not a readable notebook: {error}") from None
    every: list[tuple[int, str, list[ast.stmt]]] = [
        (cell.number, cell.source, cell.tree.body) for cell in good
    ]
    # Shown as they are, though nothing in them can be compared.
    every += [(cell.number, cell.source, []) for cell in broken]
    cells: _Cells = []
    for number, source, body in sorted(every, key=lambda cell: cell[0]):
        cells += [(f"# cell {number}", []), (source, body)]
    return cells, ""


def all_hashes(words: Words) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """Return the hash of every span that lies in one definition, and the place of its first word."""
    count = len(words.words) - SPAN + 1
    if count < 1:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    each = np.array([_word(word) for word in words.words], np.uint64)
    hashes = np.zeros(count, np.uint64)
    for place in range(SPAN):
        hashes = hashes * _BASE + each[place : place + count]
    hashes ^= hashes >> np.uint64(29)  # the low bits of a product know little of the first words
    parts = np.array(words.parts)
    starts = np.flatnonzero(parts[:count] == parts[SPAN - 1 :])
    return hashes[starts], starts


def chosen_hashes(words: Words) -> dict[int, list[int]]:
    """Return the chosen hashes, each with the places where its words begin."""
    hashes, starts = all_hashes(words)
    if not len(hashes):
        return {}
    windows = np.lib.stride_tricks.sliding_window_view(hashes, min(WINDOW, len(hashes)))
    # Winnowing: the least hash of every window, so that two texts which share a window share a fingerprint.
    chosen = np.unique(windows.argmin(axis=1) + np.arange(len(windows)))
    return by_hash(hashes[chosen], starts[chosen])


def by_hash(hashes: Hashes, starts: npt.NDArray[np.int64]) -> dict[int, list[int]]:
    """Return hashes, each with its places."""
    found: dict[int, list[int]] = {}
    for value, start in zip(hashes.tolist(), starts.tolist(), strict=True):
        found.setdefault(value, []).append(start)
    return found


@lru_cache(1 << 14)
def _word(word: str) -> int:
    # Not hash(): that differs from process to process, and with it would what is found.
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())
