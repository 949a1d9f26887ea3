"""your list is in descending order: the comparison is the wrong way round

Fails: test_three_numbers, test_equal_numbers
"""

from __future__ import annotations


def insertion_sort(values: list[int]) -> list[int]:
    """Return the numbers of `values`, largest first."""
    ordered: list[int] = []
    for value in values:
        index = sum(1 for other in ordered if other >= value)
        ordered.insert(index, value)
    return ordered
