"""Takes all the memory that there is, at import.

kata = "insertion-sort"
status = "error"
words = ["MemoryError", "more than 512 MB"]
"""

from wrong import *

kept = []
while True:
    kept.append(bytearray(64 << 20))
