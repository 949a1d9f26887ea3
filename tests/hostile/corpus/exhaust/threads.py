"""Starts thousands of threads.

kata = "insertion-sort"
status = "error"
words = ["can't start new thread"]
"""

import threading

from wrong import *

go = threading.Event()
for _ in range(3000):
    threading.Thread(target=go.wait, daemon=True).start()
