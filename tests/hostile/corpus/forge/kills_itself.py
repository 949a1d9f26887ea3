"""Ends itself by the signal by which the system ends others when memory runs out, in every call.

kata = "insertion-sort"
status = "error"
words = ["killed, signal 9"]
"""

import os
import signal


def insertion_sort(values):
    os.kill(os.getpid(), signal.SIGKILL)
