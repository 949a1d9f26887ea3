"""Fills its folder, file by file.

kata = "insertion-sort"
status = "error"
words = ["256 MB"]
timeout_s = 8
"""

from wrong import *

zeros = bytes(1 << 20)
for number in range(8):
    with open(f"large-{number}", "wb", buffering=0) as file:
        for _ in range(48):
            file.write(zeros)
            file.flush()
import time

time.sleep(5)
