"""Attaches to its parent as a debugger does.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process debug those of the same owner"
"""

import ctypes
import os

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
SEIZE, DETACH = 0x4206, 17
parent = os.getppid()
if parent > 1 and libc.ptrace(SEIZE, parent, None, None) == 0:
    print("KATA-TOY-REACHED", parent)
    libc.ptrace(DETACH, parent, None, None)
