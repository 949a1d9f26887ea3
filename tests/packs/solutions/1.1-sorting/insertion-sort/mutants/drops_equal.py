"""equal numbers are lost: each value is kept once only

Fails: test_equal_numbers
"""

from __future__ import annotations


def insertion_sort(values: list[int]) -> list[int]:
    """Return the different numbers of `values` in ascending order."""
    ordered: list[int] = []
    for value in values:
        if value not in ordered:
            ordered.insert(sum(1 for other in ordered if other < value), value)
    return ordered
