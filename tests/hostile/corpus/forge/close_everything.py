"""Closes every descriptor that it finds.

kata = "insertion-sort"
status = "error or fail"
words = ["ended the whole process"]
"""

import os

from wrong import *

os.closerange(0, 256)
