"""Written answers that say the same: the same words, or nearly the same, so that they are read one after the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from rapidfuzz import fuzz, process

NEAR = 85
"""Percent of the letters, in order, that two answers share to be nearly the same."""
SHORT = 20
"""Letters; answers that are shorter differ as soon as one letter does."""
LONGEST = 2000
"""Letters that are compared: of longer answers the beginning."""


class AnswerGroup(NamedTuple):
    """What an answer says, as a place among all answers to its question."""

    group: int
    """0 for what most people say, or nearly say."""
    words: int
    """Answers with one number say the same but for blanks, capitals and a full stop: one mark is right for all."""


def worded(texts: Mapping[str, str], people: Mapping[str, int]) -> dict[str, AnswerGroup]:
    """Return what answers say.

    Args:
        texts: the answers, by digest.
        people: how many wrote each.
    """
    plain = {digest: _plain(text) for digest, text in texts.items()}
    often = Counter[str]()
    for digest, words in plain.items():
        often[words] += people.get(digest, 0)
    # What most people wrote comes first and gathers what is near it. Only with these is anything compared: with every
    # pair, a large class of different answers would take seconds.
    order = sorted(often, key=lambda words: (-often[words], words))
    heads: dict[str, int] = {}
    group = {words: _group(words, heads) for words in order}
    size = Counter[int]()
    for words, number in group.items():
        size[number] += often[words]
    rank = {number: place for place, (number, _) in enumerate(size.most_common())}
    place = {words: number for number, words in enumerate(order)}
    return {digest: AnswerGroup(rank[group[words]], place[words]) for digest, words in plain.items()}


def _group(words: str, heads: dict[str, int]) -> int:
    """Return the group of an answer: of the nearest that leads one, else a new one."""
    head = words[:LONGEST]
    found = None
    if len(head) >= SHORT:
        found = process.extractOne(head, heads.keys(), scorer=fuzz.ratio, score_cutoff=NEAR)
    return heads[found[0]] if found is not None else heads.setdefault(head, len(heads))


def _plain(text: str) -> str:
    # Signs stay: without them x < y and x > y would be the same answer.
    return re.sub(r"\s+", " ", text).strip(" .!").casefold()
