"""Leads the pipe in which the grader is told what was used to nowhere.

kata = "layer-norm"
status = "fail"
words = ["used os.dup2 (line 13)", "Write it from mean, variance"]
"""

import os

from wrong import *

read, write = os.pipe()
os.dup2(write, 4)
