"""Returns a new object in every call, each with a hundred more inside.

kata = "insertion-sort"
status = "fail"
"""


class Thing:
    pass


def insertion_sort(values):
    return [Thing() for _ in range(20_000)]
