"""The page of `kata similar`: pairs of hand-ins side by side, with what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from grader.pages import text
from grader.pages.html import page
from grader.similarity.findings import Findings, Known, Pair, Passage, Side

MAX_LINES = 1500
"""Lines of a hand-in that the page holds."""
WORDS = (
    "Alike does not mean copied: a short kata has few right answers, people work from the same lectures, and this "
    "knows nothing of how an answer came about. Read both before you conclude anything."
)


class _Line(NamedTuple):
    number: int
    text: str
    shared: bool


class _Column(NamedTuple):
    id: str
    name: str
    share: float | None
    lines: list[_Line]
    left_out: int


class _Twin(NamedTuple):
    """A pair, or a hand-in beside something of the pack."""

    id: str
    title: str
    rarity: float
    passages: Sequence[Passage]
    columns: list[_Column]
    identical: bool = False
    others: int = 0


class Section(NamedTuple):
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
    id, title = f"{one.kata}-{number}", text.name(f"{pair.left.name} and {pair.right.name}")
    columns = [
        _column(f"{id}a", pair.left, one, [passage.left for passage in pair.passages]),
        _column(f"{id}b", pair.right, one, [passage.right for passage in pair.passages]),
    ]
    return _Twin(id, title, pair.rarity, pair.passages, columns, pair.identical, pair.others)


def _beside_known(one: Findings, near: Known, number: int) -> _Twin:
    id, title = f"{one.kata}-k{number}", text.name(f"{near.side.name} and {near.to}")
    column = _column(f"{id}a", near.side, one, [passage.left for passage in near.passages])
    return _Twin(id, title, near.rarity, near.passages, [column])


def _column(id: str, side: Side, one: Findings, places: Sequence[tuple[int, int]]) -> _Column:
    lines = one.texts.get(side.name, ())
    shared = {number for first, last in places for number in range(first, last + 1)}
    shown = [
        _Line(number, text.cut(line), number in shared) for number, line in enumerate(lines[:MAX_LINES], 1)
    ]
    return _Column(id, text.name(side.name), side.share, shown, len(lines) - len(shown))
