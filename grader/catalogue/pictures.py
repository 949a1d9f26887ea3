"""A lesson's pictures: SVG files next to its README.md.

One rule for every place where a lesson is read: where its file is copied, the pictures are copied next to it; where
only its text goes, they are embedded in it; and where nothing can be drawn, what they show is said in words.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

from grader.catalogue.katas import Kata, Unit
from grader.data_files import read_bytes

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
