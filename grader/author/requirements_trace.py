"""Where what a check demands is asked for: the words of the stub or a lesson that its author quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.catalogue import Kata
from grader.engine.checks.decorators import CheckInfo


def place_of(words: str, kata: Kata) -> Path | None:
    """Return the file that learners read in which these words are: stub, lesson, the unit's lesson or the contract."""
    wanted = _plain(words)
    for path in (kata.stub, kata.lesson, kata.unit.lesson, kata.unit.pack.contract):
        if path is not None and wanted in _plain(path.read_text(encoding="utf-8")):
            return path
    return None


def complaints(kata: Kata, infos: Sequence[CheckInfo]) -> Iterator[str]:
    """Say which words that a check quotes stand nowhere."""
    for info in infos:
        for words in info.asked:
            if place_of(words, kata) is None:
                yield f"“{info.title}” rests on “{words}”, which is in no file that learners read"


def rows(kata: Kata, infos: Sequence[CheckInfo]) -> Iterator[tuple[str, str, str]]:
    """Yield each check's title, the name of the files that ask for it, and their words."""
    for info in infos:
        places = [place_of(words, kata) for words in info.asked]
        files = dict.fromkeys(path.name for path in places if path is not None)
        yield info.title, ", ".join(files), " · ".join(f"“{words}”" for words in info.asked)


def _plain(text: str) -> str:
    """Return a text on one line, without the marks of comments and docstrings at the beginning of its lines."""
    return " ".join(re.sub(r"^[ \t]*#(?= )", "", text, flags=re.MULTILINE).split())
