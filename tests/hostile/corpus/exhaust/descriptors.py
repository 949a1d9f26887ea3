"""Opens files until no more can be opened.

kata = "insertion-sort"
status = "error"
words = ["opened more than 256 files"]
"""

import os

from wrong import *

kept = (
    [open(os.devnull) for _ in range(5000)]
    if os.path.exists(os.devnull)
    else [os.dup(0) for _ in range(5000)]
)
