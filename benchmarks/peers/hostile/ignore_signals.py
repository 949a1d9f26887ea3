"""Ignores every signal that it can, and sleeps longer than anybody waits."""

import signal
import time


def causal_mask(seq_len):
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    time.sleep(100)
