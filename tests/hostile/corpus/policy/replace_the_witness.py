"""Leads the pipe in which the grader is told what was used to nowhere.

kata = "layer-norm"
status = "fail or error"
"""

import os

from wrong import *

read, write = os.pipe()
os.dup2(write, 4)
