"""Returns at once, with a generator that never comes to its end.

kata = "insertion-sort"
status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import time


def insertion_sort(values):
    if not values:
        return []

    def slowly():
        while True:
            time.sleep(0.001)
            yield 1

    return slowly()
