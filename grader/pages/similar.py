"""The page of `kata similar`: pairs of hand-ins side by side, with what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.pages import text
from grader.pages.html import page
from grader.similarity.findings import Findings, Known, Pair, Passage

MAX_LINES = 1500
"""Lines of a hand-in that the page holds."""
WORDS = (
    "Alike does not mean copied: a short kata has few right answers, people work from the same lectures, and this "
    "knows nothing of how an answer came about. Read both before you conclude anything."
)


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    shared: bool


@dataclass(frozen=True)
class _Column:
    id: str
    name: str
    share: float | None
    lines: list[_Line]
    left_out: int


@dataclass(frozen=True)
class _Twin:
    """A pair, or a hand-in beside something of the pack."""

    id: str
    title: str
    rarity: float
    passages: Sequence[Passage]
    columns: list[_Column]
    identical: bool
    others: int


@dataclass(frozen=True)
class Section:
    """One kata's hand-ins that are alike, as a page shows them."""

    found: Findings
    title: str
    twins: list[_Twin]
    known: list[_Twin]


def similar_page(
    found: Sequence[Findings],
    unread: Sequence[tuple[str, str]],
    titles: Mapping[str, str],
    *,
    most: int,
) -> str:
    """Return one page about all katas.

    Args:
        found: what was found, a kata each.
        unread: whose work could not be read at all, and why.
        titles: of katas, by slug.
        most: pairs of a kata that are shown line by line.
    """
    sections = [section_of(one, titles.get(one.kata, one.kata), most) for one in found]
    return page("similar.html", sections=sections, unread=unread, words=WORDS, most=most)


def section_of(one: Findings, title: str, most: int) -> Section:
    """Return what a page shows of one kata, as `similar.html` draws it."""
    return Section(
        one,
        title,
        [_twin(one, pair, number) for number, pair in enumerate(one.pairs[:most], 1)],
        [_beside_known(one, near, number) for number, near in enumerate(one.known[:most], 1)],
    )


def _twin(one: Findings, pair: Pair, number: int) -> _Twin:
    id = f"{one.kata}-{number}"
    sides = ((pair.left, [p.left for p in pair.passages]), (pair.right, [p.right for p in pair.passages]))
    columns = [
        _column(f"{id}{letter}", side.name, side.share, one.texts.get(side.name, ()), places)
        for letter, (side, places) in zip("ab", sides, strict=True)
    ]
    title = f"{pair.left.name} and {pair.right.name}"
    return _Twin(id, text.name(title), pair.rarity, pair.passages, columns, pair.identical, pair.others)


def _beside_known(one: Findings, near: Known, number: int) -> _Twin:
    id = f"{one.kata}-k{number}"
    lines = one.texts.get(near.side.name, ())
    column = _column(f"{id}a", near.side.name, near.side.share, lines, [p.left for p in near.passages])
    title = f"{near.side.name} and {near.to}"
    return _Twin(id, text.name(title), near.rarity, near.passages, [column], False, 0)


def _column(
    id: str, name: str, share: float | None, lines: Sequence[str], places: Sequence[tuple[int, int]]
) -> _Column:
    shared = {number for first, last in places for number in range(first, last + 1)}
    shown = [
        _Line(number, text.cut(line), number in shared) for number, line in enumerate(lines[:MAX_LINES], 1)
    ]
    return _Column(id, text.name(name), share, shown, len(lines) - len(shown))
