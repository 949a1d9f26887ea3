"""Greets again, as a worker that is better confined than it is.

kata = "insertion-sort"
status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct

import msgspec
from wrong import *

head = msgspec.msgpack.encode({"is": "hello", "id": 0, "isolation": "full"})
os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
