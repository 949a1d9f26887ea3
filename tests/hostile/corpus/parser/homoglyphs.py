"""Defines a function whose name looks like the right one.

kata = "insertion-sort"
status = "fail"
words = ["has no `insertion_sort`"]
"""


def insertiоn_sort(values):  # the o is Cyrillic
    return sorted(values)
