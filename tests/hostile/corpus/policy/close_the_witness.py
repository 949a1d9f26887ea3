"""Closes the pipe in which the grader is told what was used.

kata = "layer-norm"
status = "fail or error"
"""

import os

from wrong import *

os.close(4)
