"""Pairs of hand-ins side by side, with what they share: for `kata similar` and the desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.api import page, text
from grader.extras.similar.compare import compare
from grader.extras.similar.findings import Findings, Passage, Side
from grader.extras.similar.tokenized_submission import Candidate

__all__ = ["TEMPLATES", "WORDS", "Candidate", "Findings", "compare", "section_of", "similar_page"]

TEMPLATES = Path(__file__).parent / "templates"
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
    address: str
    """Of the page of the hand-in, where there is one."""
    share: float | None
    lines: list[_Line]
    left_out: int


class _Twin(NamedTuple):
    """A pair: two hand-ins, or a hand-in and something of the pack."""

    id: str
    title: str
    rarity: float
    passages: Sequence[Passage]
    columns: list[_Column]
    identical: bool = False
    others: int = 0
    learners: tuple[str, ...] = ()
    """Of a pair."""


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
    sections = [section_of(findings, titles.get(findings.kata, findings.kata), most) for findings in found]
    return page("similar.html", TEMPLATES, sections=sections, unread=unread, words=WORDS, most=most)


Shown = Callable[[Side], tuple[str, str]]
"""Returns what a hand-in is called, and the address of its page, if it has one."""


def section_of(
    findings: Findings, title: str, most: int, shown: Shown = lambda side: (side.name, "")
) -> Section:
    """Return what a page shows of one kata, as `similar.html` draws it."""

    def column(id: str, side: Side, places: Sequence[tuple[int, int]]) -> _Column:
        lines = findings.texts.get(side.name, ())
        shared = {number for first, last in places for number in range(first, last + 1)}
        drawn = [
            _Line(number, text.cut(line), number in shared)
            for number, line in enumerate(lines[:MAX_LINES], 1)
        ]
        name, address = shown(side)
        return _Column(id, text.name(name), address, side.share, drawn, len(lines) - len(drawn))

    twins, beside_known = [], []
    for number, pair in enumerate(findings.pairs[:most], 1):
        id = f"{findings.kata}-{number}"
        called = text.name(f"{shown(pair.left)[0]} and {shown(pair.right)[0]}")
        columns = [
            column(f"{id}a", pair.left, [passage.left for passage in pair.passages]),
            column(f"{id}b", pair.right, [passage.right for passage in pair.passages]),
        ]
        learners = pair.left.learner, pair.right.learner
        twins.append(
            _Twin(id, called, pair.rarity, pair.passages, columns, pair.identical, pair.others, learners)
        )
    for number, near in enumerate(findings.known[:most], 1):
        id, called = f"{findings.kata}-k{number}", text.name(f"{shown(near.side)[0]} and {near.to}")
        columns = [column(f"{id}a", near.side, [passage.left for passage in near.passages])]
        beside_known.append(_Twin(id, called, near.rarity, near.passages, columns))
    return Section(findings, title, twins, beside_known)
