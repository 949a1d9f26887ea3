"""Recurses until the stack is gone, with Python's own limit out of the way.

kata = "insertion-sort"
status = "fail or error"
words = ["crashed the interpreter"]
"""

import sys

sys.setrecursionlimit(1 << 30)


class Deep:
    def __repr__(self):
        return repr(self)

    def __getattr__(self, name):
        return getattr(self, name + "x")


def insertion_sort(values):
    return repr(Deep())
