"""Leaves shared memory behind, in both kinds that outlive a process.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["left"]
why = "the system has one set of these for everybody"
"""

import ctypes

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
libc.shmget(0x4B415441, ctypes.c_size_t(4096), 0o1600)
try:
    with open("/dev/shm/kata-toy-shared", "wb") as file:
        file.write(bytes(4096))
except OSError:
    pass
libc.shm_open(b"/kata-toy-posix", 0o102, 0o600)
