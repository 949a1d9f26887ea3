"""Slide each value to the left by swaps, in a copy."""

from __future__ import annotations


def insertion_sort(values: list[int]) -> list[int]:
    """Return the numbers of `values` in ascending order."""
    hand = list(values)
    for end in range(1, len(hand)):
        place = end
        while place > 0 and hand[place - 1] > hand[place]:
            hand[place - 1], hand[place] = hand[place], hand[place - 1]
            place -= 1
    return hand
