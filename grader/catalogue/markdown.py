"""A pack's Markdown: its sections; hints in three tiers: a nudge, an idea, nearly there; a lesson's pictures.

Pictures are SVG files next to its README.md. One rule for every place where a lesson is read: where its file is copied,
the pictures are copied next to it; where only its text goes, they are embedded in it; and where nothing can be drawn,
what they show is said in words.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from grader.catalogue.katas import Kata, Unit
from grader.data_files import read_bytes, read_text
from grader.errors import PackError

TIERS = 3
LIMIT_BYTES = 200_000

_HEADING = re.compile(r"##[ \t]+(.*)")
_TIER = re.compile(r"(\d+)\b.*")
_FENCE = re.compile(r"[ ]{0,3}(?P<mark>```+|~~~+)(?P<about>.*)")


def read_hints(path: Path) -> tuple[str, str, str]:
    """Return the three hints of `path`, without their headings.

    Raises:
        PackError: it cannot be read, or a section of `## 1`, `## 2`, `## 3` is absent, misplaced or empty.
    """
    found = sections(read_text(path, LIMIT_BYTES, what="the hints"), _TIER)
    if [tier[1] for tier, _ in found] != [str(number + 1) for number in range(TIERS)]:
        there = ", ".join(f"`## {tier[1]}`" for tier, _ in found) or "none"
        raise PackError(
            f"{path}: needs the sections `## 1`, `## 2`, `## 3`, once each and in this order; found {there}."
        )
    for tier, body in found:
        if not body:
            raise PackError(f"{path}: the section `## {tier[1]}` is empty; each of the three needs a hint.")
    nudge, idea, nearly = (body for _, body in found)
    return nudge, idea, nearly


def sections(text: str, title: re.Pattern[str]) -> list[tuple[re.Match[str], str]]:
    """Return the sections of a Markdown text whose heading of the second level fits `title`, with what is below it."""
    found: list[tuple[re.Match[str], list[str]]] = []
    lines = text.splitlines()
    code = in_code(lines)
    for place, line in enumerate(lines):
        heading = _HEADING.fullmatch(line.rstrip()) if place not in code else None
        fits = title.fullmatch(heading[1]) if heading is not None else None
        if fits is not None:
            found.append((fits, []))
        elif found:
            found[-1][1].append(line)
    return [(fits, "\n".join(body).strip()) for fits, body in found]


def in_code(lines: Sequence[str]) -> set[int]:
    """Return which lines of a Markdown text are in fenced code blocks: what looks like a heading there is code."""
    found: set[int] = set()
    start, opened = 0, ""
    for place, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if not opened:
            start, opened = place, fence["mark"]
        # As in CommonMark: a fence closes with as many marks or more, and with no word after them.
        elif fence["mark"].startswith(opened) and not fence["about"].strip():
            # A fence that is never closed makes no block: one that somebody forgot must not swallow the rest of
            # the text.
            found.update(range(start, place + 1))
            opened = ""
    return found


_POINT = re.compile(r"^(?=- )", re.MULTILINE)
_ABOUT = re.compile(r"- (?:`[^`]+`(?:,| and|)\s*)+")
_NAME = re.compile(r"`(\w+)")


def without_done(hint: str, done: Collection[str]) -> str:
    """Return a hint without its points about functions that are done.

    A point is about the names that it begins with. One without a name between two that have one goes with the first.
    """
    first, *points = _POINT.split(hint)
    about = [_NAME.findall(found[0]) if (found := _ABOUT.match(point)) else [] for point in points]
    last = max((place for place, names in enumerate(about) if names), default=0)
    for place in range(1, last):
        about[place] = about[place] or about[place - 1]
    left = [
        point for point, names in zip(points, about, strict=True) if not names or not set(names) <= set(done)
    ]
    return (first + "".join(left)).strip() if left else hint


PICTURE = re.compile(r"!\[([^\]]*)\]\(([\w-]+\.svg)\)")
"""A picture in Markdown: what it shows, in words, and the name of its file."""


def pictures(item: Kata | Unit, lesson: str) -> dict[str, bytes]:
    """Return the pictures that a lesson shows, by the files' names; a name without a file is left out."""
    paths: list[Path] = [item.folder / found[2] for found in PICTURE.finditer(lesson)]
    return {path.name: read_bytes(path) for path in paths if path.is_file()}


def embedded(item: Kata | Unit, lesson: str) -> str:
    """Return a lesson whose pictures are part of its text."""
    data = pictures(item, lesson)

    def embed(found: re.Match[str]) -> str:
        if found[2] not in data:
            return found[0]
        return f"![{found[1]}](data:image/svg+xml;base64,{base64.b64encode(data[found[2]]).decode()})"

    return PICTURE.sub(embed, lesson)


def in_words(lesson: str) -> str:
    """Return a lesson that says what its pictures show."""
    return PICTURE.sub(lambda found: f"*Figure: {' '.join(found[1].split())}*", lesson)
