"""Leaves a child behind for twenty seconds."""

import os
import time

try:
    if os.fork() == 0:
        for _number in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), _number)
        time.sleep(20)
        os._exit(0)
except OSError:
    pass
