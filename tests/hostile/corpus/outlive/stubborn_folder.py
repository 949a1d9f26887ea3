"""Leaves a folder that is hard to remove: three hundred levels deep, closed to everybody, with odd names.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import os

from wrong import *

here = os.getcwd()
try:
    for level in range(300):
        name = "x" * 200 if level % 2 else "kata-toy\n\x1b[2J"
        os.mkdir(name)
        os.symlink("..", f"{name}-up")
        os.chdir(name)
    for level in range(300):
        os.chmod(".", 0)
        os.chdir("..")
except OSError:
    pass
os.chdir(here)
