"""Prints a hundred megabytes.

kata = "insertion-sort"
status = "fail or error"
earns = ["test_empty"]
timeout_s = 5
[full]
status = "error or fail"
"""

import sys

from wrong import *

line = "x" * 99_999 + "\n"
for _ in range(300):
    sys.stdout.write(line)
sys.stdout.flush()
