"""Reads the environment and the command line of the processes above it, where tokens and paths are.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["leaked"]
why = "the system shows a process what its owner's other processes are"
"""

import os
from pathlib import Path

from wrong import *

others = ["self", "thread-self"]
try:
    pid = str(os.getppid())
    while pid not in ("0", "1"):
        others.append(pid)
        pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
except OSError:
    pass
for folder in others:
    for name in ("environ", "cmdline"):
        try:
            text = Path("/proc", folder, name).read_bytes()
        except OSError:
            continue
        place = text.find(b"KATA-SECRET-")
        if place >= 0:
            print(folder, name, text[place : place + 60])
