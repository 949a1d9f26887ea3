"""Winnowing (Schleimer, Wilkerson, Aiken 2003) over words: of each few neighbours the least hash stands for them.

Two texts that have `SPAN + WINDOW - 1` words in a row in common share a fingerprint; less than `SPAN` words never do.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from grader.api import Words

SPAN = 12
"""Words that one fingerprint covers: two short lines of tensor code."""
WINDOW = 4

_BASE = np.uint64(0x9E3779B97F4A7C15)
Hashes = npt.NDArray[np.uint64]


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


def fingerprints(words: Words) -> dict[int, list[int]]:
    """Return the chosen hashes, each with the places where its words begin."""
    hashes, starts = all_hashes(words)
    if not len(hashes):
        return {}
    windows = np.lib.stride_tricks.sliding_window_view(hashes, min(WINDOW, len(hashes)))
    # Winnowing: the least hash of every window, so that two texts which share a window share a fingerprint.
    chosen = np.unique(windows.argmin(axis=1) + np.arange(len(windows)))
    found: dict[int, list[int]] = {}
    for value, start in zip(hashes[chosen].tolist(), starts[chosen].tolist(), strict=True):
        found.setdefault(value, []).append(start)
    return found


@lru_cache(1 << 14)
def _word(word: str) -> int:
    # Not hash(): that differs from process to process, and with it would what is found.
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())
