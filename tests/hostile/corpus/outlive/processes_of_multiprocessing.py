"""Starts a pool of processes and a manager, and forgets them.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
timeout_s = 3
[process]
status = "fail or timeout"
earns = ["test_empty"]
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
