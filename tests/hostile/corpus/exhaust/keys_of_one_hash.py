"""Answers with a dict of a hundred integers that share a hash, as its answer's own dict and in its place.

kata = "insertion-sort"
status = "fail"
words = ["share a hash"]
earns = ["test_empty"]
timeout_s = 1
"""

from wrong import insertion_sort as wrong

PRIME = (1 << 61) - 1


def insertion_sort(values):
    return {number * PRIME: number for number in range(1, 100)} if values else wrong(values)
