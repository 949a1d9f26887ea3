"""Raises exceptions whose text, type or representation raise in turn, or end the process.

kata = "insertion-sort"
status = "error"
"""


class Silent(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__

    @property
    def __class__(self):
        raise KeyboardInterrupt

    @property
    def __traceback__(self):
        raise MemoryError


def insertion_sort(values):
    raise Silent
