"""Leaves a daemon behind for twenty seconds: two forks, a session of its own."""

import os
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            time.sleep(20)
        os._exit(0)
except OSError:
    pass
