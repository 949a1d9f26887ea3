"""Sort numbers by inserting each where it belongs."""

from __future__ import annotations


def insertion_sort(values: list[int]) -> list[int]:
    """Return the numbers of `values` in ascending order, as a new list; equal numbers are all kept."""
    # TODO: start from an empty list and insert the values one by one.
    raise NotImplementedError
