"""Returns a generator without end.

kata = "insertion-sort"
status = "fail"
"""

import itertools


def insertion_sort(values):
    return itertools.count()
