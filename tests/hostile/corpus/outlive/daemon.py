"""Becomes a daemon: two forks, a session of its own, no descriptors.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import os
import time

from wrong import *

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            os.chdir("/")
            time.sleep(20)
        os._exit(0)
except OSError:
    pass
