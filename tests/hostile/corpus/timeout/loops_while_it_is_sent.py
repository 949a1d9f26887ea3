"""Returns at once, with an object that loops when it is looked at.

kata = "insertion-sort"
status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""


class Bottomless:
    @property
    def __class__(self):
        while True:
            pass


def insertion_sort(values):
    return Bottomless() if values else []
