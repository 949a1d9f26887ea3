"""Provokes errors in the grader's comparison, for a message or traceback that tells what was expected.

kata = "insertion-sort"
status = "fail"
"""


class Curious:
    def __eq__(self, other):
        print("compared with", repr(other))
        raise RuntimeError(repr(other))

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __len__(self):
        raise RuntimeError("len")

    def __iter__(self):
        raise RuntimeError("iter")


def insertion_sort(values):
    return Curious()
