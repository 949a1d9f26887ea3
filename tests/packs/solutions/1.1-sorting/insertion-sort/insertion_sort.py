"""Sort numbers by inserting each where it belongs."""

from __future__ import annotations


def insertion_sort(values: list[int]) -> list[int]:
    """Return the numbers of `values` in ascending order, as a new list; equal numbers are all kept."""
    ordered: list[int] = []
    for value in values:
        index = sum(1 for other in ordered if other <= value)
        ordered.insert(index, value)
    return ordered
