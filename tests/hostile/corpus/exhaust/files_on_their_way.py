"""Sends open files that it removed through a socket to itself and takes none out, so that no process has them open.

kata = "insertion-sort"
status = "error"
words = ["PermissionError"]
timeout_s = 8
[process]
status = "fail"
words = ["wrong value"]
earns = ["test_empty"]
why = "nothing tells what a socket holds, and only a filter of system calls keeps files out of it; here are 20 MB"
"""

import os
import socket

from wrong import *

one, other = socket.socketpair()
for number in range(20):
    with open(f"gone-{number}", "wb", buffering=0) as file:
        os.unlink(f"gone-{number}")
        file.write(bytes(1 << 20))
        socket.send_fds(one, [b"x"], [file.fileno()])
