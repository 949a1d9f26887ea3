"""Stops its own process, so that it takes no processor time at all.

kata = "insertion-sort"
status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import os
import signal


def insertion_sort(values):
    if values:
        os.kill(os.getpid(), signal.SIGSTOP)
    return []
