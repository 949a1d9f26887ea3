"""Fills the disk with files that never had a name.

kata = "insertion-sort"
status = "error"
words = ["256 MB"]
timeout_s = 8
"""

import os
import time

from wrong import *

zeros = bytes(1 << 20)
kept = []
for _ in range(8):
    try:
        kept.append(os.open(".", os.O_TMPFILE | os.O_RDWR))
    except OSError:  # not every file system has them
        kept.append(os.open("gone", os.O_CREAT | os.O_EXCL | os.O_RDWR))
        os.unlink("gone")
    for _ in range(48):
        os.write(kept[-1], zeros)
time.sleep(5)
