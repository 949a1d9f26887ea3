"""Answers with an exception whose bases are those of no class that could be.

kata = "insertion-sort"
status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct

import msgspec


def insertion_sort(values):
    for number in range(1, 30):
        head = msgspec.msgpack.encode(
            {"is": "raised", "id": number, "bases": ["ValueError", "KeyError"], "message": ""}
        )
        os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
    return []
