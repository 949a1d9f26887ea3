"""Leaves its view of the files through /proc: the root, folder and descriptors of other processes.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["leaked"]
why = "the system shows a process the folders of its owner's other processes"
"""

import os

from wrong import *

for number in {os.getppid(), os.getpid()}:
    for way in ("cwd", "cwd/..", "root"):
        for file in ("gradebook.sqlite", "home/token.txt"):
            try:
                with open(f"/proc/{number}/{way}/{file}") as text:
                    print(text.read()[:200])
            except OSError:
                pass
