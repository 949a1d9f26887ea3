"""Fills the disk with files that it removes, closes, and keeps in its memory's map.

kata = "insertion-sort"
status = "error"
words = ["256 MB"]
timeout_s = 8
"""

import mmap
import os
import time

from wrong import *

zeros = bytes(1 << 20)
kept = []
for number in range(8):
    with open(f"gone-{number}", "w+b", buffering=0) as file:
        for _ in range(48):
            file.write(zeros)
        # The kernel's own descriptor of it, which Python's mmap would duplicate and keep open, is not needed.
        kept.append(mmap.mmap(file.fileno(), 48 << 20))
    os.unlink(f"gone-{number}")
for number in range(3, 256):
    if number > 4:
        try:
            os.close(number)
        except OSError:
            pass
time.sleep(5)
