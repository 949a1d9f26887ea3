"""Starts Python anew in its place, without anybody watching.

kata = "layer-norm"
status = "error or fail"
words = ["Operation not permitted"]
[process]
status = "error or fail"
words = []
why = "nothing keeps a process from becoming another program; what it becomes is no worker"
"""

import os
import sys

from wrong import *

os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(0.031415)"])
