"""Changes priority, processor and limits of its parent (to what they are).

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process do that to those of the same owner"
"""

import os
import resource

from wrong import *

parent = os.getppid()
if parent > 0:
    for change in (
        lambda: os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent)),
        lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent)),
        lambda: resource.prlimit(parent, resource.RLIMIT_CORE, (0, 0)),
    ):
        try:
            change()
            print("KATA-TOY-REACHED")
        except OSError:
            pass
