"""Makes a socket past Python: by system call, and with io_uring.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the network is the machine's"
"""

import ctypes
import platform

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
machine = platform.machine()
if machine in ("x86_64", "aarch64"):
    for number in (41, 425) if machine == "x86_64" else (198, 425):
        parameters = ctypes.create_string_buffer(120)
        arguments = (2, 1, 0) if number != 425 else (4, ctypes.byref(parameters), 0)
        if libc.syscall(number, *arguments) >= 0:
            print("KATA-TOY-REACHED", number)
