"""Makes more files than a folder should hold.

kata = "insertion-sort"
status = "error"
words = ["files to its folder"]
[confined]
words = ["files in its folder"]
[process]
words = ["files in its folder"]
timeout_s = 8
"""

import os
import time

from wrong import *

for number in range(12_000):
    os.close(os.open(f"small-{number}", os.O_CREAT | os.O_WRONLY))
time.sleep(5)
