"""Opens the grader's, Python's and torch's files for writing (and writes nothing, in case it may).

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "whoever grades may have installed them, and then may write there"
"""

import os
import sys

import torch
from wrong import *

worker = sys.modules["grader.engine.worker.serve"].__file__
for path in (worker, os.__file__, torch.__file__, sys.executable, os.path.realpath(sys.executable)):
    try:
        os.close(os.open(path, os.O_WRONLY))
        print("KATA-TOY-REACHED", path)
    except OSError:
        pass
