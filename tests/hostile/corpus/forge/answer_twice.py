"""Sends one answer of its own before the worker sends the other, so that everything after comes too early.

kata = "insertion-sort"
status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct

import msgspec


def insertion_sort(values):
    for number in (1, 2, 3, 4, 5):
        head = msgspec.msgpack.encode({"is": "done", "id": number, "value": [0, 1, 2, 3]})
        os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
    return [1, 2, 3]
