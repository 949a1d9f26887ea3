"""Where what a check demands is asked for: the words of the stub or a lesson that its author quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.catalogue import Kata
from grader.checks import CheckInfo


def place_of(words: str, kata: Kata) -> Path | None:
    """Return the file that a learner reads in which these words stand: the stub, the kata's lesson or the unit's."""
    wanted = _plain(words)
    for path in (kata.stub, kata.lesson, kata.folder.parent / "README.md"):
        if wanted in _plain(path.read_text(encoding="utf-8")):
            return path
    return None


def complaints(kata: Kata, infos: Sequence[CheckInfo]) -> Iterator[str]:
    """Say which words that a check quotes stand nowhere."""
    for info in infos:
        for words in info.asked:
            if place_of(words, kata) is None:
                yield f"“{info.title}” rests on “{words}”, which is in no file that learners read"


def table(kata: Kata, infos: Sequence[CheckInfo]) -> Iterator[str]:
    """Yield a kata's checks as lines of a Markdown table, each with the words that ask for it and their file."""
    yield "| check | asked for in | by the words |"
    yield "|---|---|---|"
    for info in infos:
        places = [place_of(words, kata) for words in info.asked]
        files = list(dict.fromkeys(_called(path, kata) for path in places if path is not None))
        words = " · ".join(f"“{_cell(words)}”" for words in info.asked)
        yield f"| {_cell(info.title)} | {', '.join(files)} | {words} |"


def _called(path: Path, kata: Kata) -> str:
    return f"`{path.name}`" if path.parent == kata.folder else "the unit's `README.md`"


def _plain(text: str) -> str:
    """Return a text on one line, without the marks of comments and docstrings at the beginning of its lines."""
    return " ".join(re.sub(r"^[ \t]*#(?= )", "", text, flags=re.MULTILINE).split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
