"""Starts a pool of processes and a manager, and forgets them.

kata = "insertion-sort"
status = "fail"
points = 1
timeout_s = 3
[process]
status = "fail or timeout"
points = 1
"""

import multiprocessing
import time

from wrong import *

try:
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        context.Process(target=time.sleep, args=(20,), daemon=False).start()
except OSError:
    pass
