"""Looks beside its own folder for what others handed in.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["leaked"]
why = "whoever grades may read what was handed in, and so may a process of theirs"
"""

import os

from wrong import *

above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for place in (above, os.path.dirname(os.getcwd()), os.path.dirname(above)):
    try:
        for name in os.listdir(place):
            for file in ("insertion_sort.py", "gradebook.sqlite", "token.txt"):
                path = os.path.join(place, name, file)
                if os.path.exists(path) and path != os.path.abspath(__file__):
                    with open(path) as text:
                        print(text.read()[:200])
    except OSError:
        pass
