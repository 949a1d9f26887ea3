"""Puts links into its own folder, for a grader that follows them when it collects what was written.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import os

from wrong import *

for number, target in enumerate(("/etc/passwd", "/proc/self/environ", "../../solutions", "/", "..", ".")):
    for place in (os.getcwd(), os.path.dirname(os.path.abspath(__file__))):
        try:
            os.symlink(target, os.path.join(place, f"kata-toy-link-{number}"))
        except OSError:
            pass
