"""Loops in C with the interpreter's lock held, where no Python signal handler runs.

kata = "insertion-sort"
status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import re


def insertion_sort(values):
    if values:
        re.match(r"(a+)+$", "a" * 60 + "b")
    return []
