"""Hints in three tiers: a nudge, an idea, nearly there."""

from __future__ import annotations

import re
from pathlib import Path

from grader.data_files import read_text
from grader.errors import PackError

TIERS = 3
LIMIT_BYTES = 200_000

_HEADING = re.compile(r"##[ \t]+(\d+)\b[^\n]*")
_FENCE = re.compile(r"[ ]{0,3}(```+|~~~+)")


def read_hints(path: Path) -> tuple[str, str, str]:
    """Return the three hints of `path`, without their headings.

    Raises:
        PackError: it cannot be read, or a section of `## 1`, `## 2`, `## 3` is absent, misplaced or empty.
    """
    text = read_text(path, LIMIT_BYTES, what="the hints")
    sections: dict[int, list[str]] = {}
    order: list[int] = []
    fence: str | None = None
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark is not None:
            # A heading inside a code block is code; only the same kind of mark closes the block.
            kind = mark[1][0]
            fence = kind if fence is None else (None if fence == kind else fence)
        heading = _HEADING.fullmatch(line.rstrip()) if fence is None else None
        if heading is not None:
            order.append(int(heading[1]))
            sections.setdefault(order[-1], [])
        elif order:
            sections[order[-1]].append(line)
    if order != list(range(1, TIERS + 1)):
        found = ", ".join(f"`## {number}`" for number in order) or "none"
        raise PackError(
            f"{path}: needs the sections `## 1`, `## 2`, `## 3`, once each and in this order; found {found}."
        )
    texts = ["\n".join(sections[number]).strip() for number in order]
    for number, body in zip(order, texts, strict=True):
        if not body:
            raise PackError(f"{path}: the section `## {number}` is empty; each of the three needs a hint.")
    return texts[0], texts[1], texts[2]
