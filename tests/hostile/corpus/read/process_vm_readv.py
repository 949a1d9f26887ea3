"""Asks the kernel for its parent's memory without opening a file.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process look into those of the same owner"
"""

import ctypes
import os

from wrong import *


class Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


libc = ctypes.CDLL(None, use_errno=True)
own = ctypes.create_string_buffer(16)
here = Span(ctypes.addressof(own), 16)
for pid in (os.getppid(), 1):
    if pid > 0 and pid != os.getpid():
        there = Span(ctypes.addressof(own), 16)
        for address in (ctypes.addressof(own), id(object), id(int)):
            there.base = address
            if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0:
                print("KATA-TOY-REACHED the memory of", pid)
                break
