"""Raises an exception that has a hundred thousand causes, in a ring.

kata = "insertion-sort"
status = "fail"
"""


def insertion_sort(values):
    first = error = ValueError("0")
    for number in range(100_000):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    error.__cause__ = first
    raise first
