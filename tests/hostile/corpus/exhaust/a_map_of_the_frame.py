"""Writes its own answer: a map of MessagePack's with keys of one hash, which is hashed while the answer is read.

kata = "insertion-sort"
status = "error"
words = ["an answer that is none"]
timeout_s = 2
"""

import os
import struct

import msgspec


def insertion_sort(values):
    keys = {tuple(-1 - (number >> bit & 1) for bit in range(7)): 0 for number in range(1 << 7)}
    head = msgspec.msgpack.encode({"is": "done", "id": 1, "value": keys})
    data = memoryview(struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
    while data:
        data = data[os.write(3, data) :]
    return []
