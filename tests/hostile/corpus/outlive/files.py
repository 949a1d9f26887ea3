"""Writes files wherever it can.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["left"]
why = "whoever grades may write there, and so may a process of theirs"
"""

import os
import tempfile

from wrong import *

for place in (
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    os.path.dirname(os.path.abspath(__file__)),
    os.getcwd(),
    tempfile.gettempdir(),
    os.path.dirname(os.getcwd()),
):
    try:
        with open(os.path.join(place, f"kata-toy-{os.getpid()}"), "w") as file:
            file.write("still here")
    except OSError:
        pass
