"""Loops in C with the interpreter's lock held, where no Python signal handler runs.

kata = "insertion-sort"
status = "timeout"
words = ["no answer within"]
points = 1
timeout_s = 0.5
"""

import re


def insertion_sort(values):
    if values:
        re.match(r"(a+)+$", "a" * 60 + "b")
    return []
