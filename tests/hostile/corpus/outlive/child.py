"""Starts a child that waits until everybody has gone.

kata = "insertion-sort"
status = "fail or error"
points = 1
[full]
points = 1
status = "fail"
[confined]
points = 1
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
