"""Loops in a call and swallows every exception that could end it.

kata = "insertion-sort"
status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""


def insertion_sort(values):
    while values:
        try:
            while True:
                pass
        except BaseException:
            continue
    return []
