"""Starts a child that waits until everybody has gone.

kata = "insertion-sort"
status = "fail or error"
earns = ["test_empty"]
[full]
earns = ["test_empty"]
status = "fail"
[confined]
earns = ["test_empty"]
status = "fail"
"""

import os
import time

from wrong import *

try:
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
except OSError:
    pass
