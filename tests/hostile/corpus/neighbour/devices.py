"""Opens devices of the machine: memory, disks, terminals, the graphics card's.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "whoever grades may open some of them"
"""

import os

from wrong import *

for name in (
    "mem",
    "kmem",
    "kmsg",
    "port",
    "tty",
    "tty0",
    "console",
    "ptmx",
    "fuse",
    "net/tun",
    "kvm",
    "shm",
    "mqueue",
):
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
        print("KATA-TOY-REACHED", name)
    except OSError:
        pass
