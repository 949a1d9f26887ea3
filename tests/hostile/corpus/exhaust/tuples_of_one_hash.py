"""Answers with a hundred different tuples of one hash, past its own worker's encoder, for whoever makes a set of them.

kata = "insertion-sort"
status = "fail or error"
words = ["share a hash"]
timeout_s = 1
"""

import grader.engine.wire.codec as codec

codec._Budget.keys = lambda *_: None


def insertion_sort(values):
    return {tuple(-1 - (number >> bit & 1) for bit in range(7)): 0 for number in range(1 << 7)}
