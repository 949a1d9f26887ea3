"""Sends signals to other processes (one that changes nothing, in case it arrives).

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process signal those of the same owner"
"""

import os
import signal

from wrong import *

parent = os.getppid()
for pid in (parent, 1):
    for number in (0, signal.SIGCONT):
        if pid > 1 or number == 0 < pid:
            try:
                os.kill(pid, number)
                print("KATA-TOY-REACHED", pid)
            except OSError:
                pass
