"""Forks as often as it can, up to a hundred times.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
earns = []
status = "error"
words = ["started more than 64 processes"]
why = "what is there more than 64 times is ended when somebody looks"
"""

import os
import time

from wrong import *

started = 0
for _ in range(100):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        started += 1
    except OSError:
        pass
if started:
    time.sleep(1)
