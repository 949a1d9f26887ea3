"""Leaves threads behind that are no daemons, and a handler that waits for them.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import atexit
import threading
import time

from wrong import *

threads = [threading.Thread(target=time.sleep, args=(20,)) for _ in range(5)]
for thread in threads:
    thread.start()
    atexit.register(thread.join)
