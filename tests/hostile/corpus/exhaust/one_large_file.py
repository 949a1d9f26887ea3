"""Writes one file without end.

kata = "insertion-sort"
status = "error"
words = ["more than 64 MB to one file"]
"""

from wrong import *

with open("large", "wb", buffering=0) as file:
    while True:
        if file.write(bytes(8 << 20)) == 0:
            break
