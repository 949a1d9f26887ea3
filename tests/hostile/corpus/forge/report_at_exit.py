"""Registers handlers that write answers when the interpreter ends, and then lets it end.

kata = "insertion-sort"
status = "error or fail"
words = ["SystemExit"]
"""

import atexit
import os


def late():
    os.write(3, b"KATA" + bytes(12))


for _ in range(5):
    atexit.register(late)


def insertion_sort(values):
    raise SystemExit(0)
