"""Ends the process with success before anything is checked.

kata = "insertion-sort"
status = "error"
words = ["ended the whole process (exit code 0"]
"""

import os

from wrong import *

os._exit(0)
