"""Opens its parent's memory for writing (and writes nothing, in case it may).

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process look into those of the same owner"
"""

import os

from wrong import *

for pid in (os.getppid(), 1):
    try:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
        print("KATA-TOY-REACHED", pid)
    except OSError:
        pass
