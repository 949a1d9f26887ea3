"""Overwrites what others handed in.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["harmed"]
why = "whoever grades may write there, and so may a process of theirs"
"""

import os

from wrong import *

above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for place in (above, os.path.dirname(os.getcwd())):
    try:
        names = os.listdir(place)
    except OSError:
        continue
    for name in [*names, "kata-submission-neighbour"]:
        path = os.path.join(place, name, "insertion_sort.py")
        if name.endswith("-neighbour"):
            try:
                with open(path, "w") as file:
                    file.write("raise SystemExit\n")
            except OSError:
                pass
