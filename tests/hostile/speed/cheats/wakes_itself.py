"""Tries not to be stopped: a handler for what cannot be handled, and a thread that wakes it again and again.

check = "test_time"
words = "times as long as the baseline"
"""

import contextlib
import os
import signal
import threading
import time

import waste
from torch import nn

for number in (signal.SIGSTOP, signal.SIGCONT):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)


def wake():
    while True:
        with contextlib.suppress(OSError):
            os.kill(os.getpid(), signal.SIGCONT)
        time.sleep(0.001)


threading.Thread(target=wake, daemon=True).start()


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return waste.slow(x)
