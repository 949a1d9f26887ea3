"""Makes processes with system calls that Python has no function for.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import ctypes
import os
import platform
import signal
import time

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
if number is not None:
    for flags in (signal.SIGCHLD, 0, 0x00008000 | signal.SIGCHLD):
        if libc.syscall(number, flags, 0, 0, 0, 0) == 0:
            time.sleep(20)
            os._exit(0)
