"""Fills the disk with files that it removes at once and keeps open, so that no folder holds them.

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
for number in range(8):
    kept.append(open(f"gone-{number}", "wb", buffering=0))
    os.unlink(f"gone-{number}")
    for _ in range(48):
        kept[-1].write(zeros)
time.sleep(5)
