"""Leaves an object behind whose finalizer ends the process while the answer is on its way.

kata = "insertion-sort"
status = "fail or error"
words = ["ended the whole process (exit code 0"]
"""

import os


class Trap:
    def __del__(self):
        os._exit(0)


def insertion_sort(values):
    trap = Trap()  # noqa: F841
    return sorted(values)
