"""Asks the grader for something with a map of MessagePack's own, whose 30,000 keys share a hash.

kata = "masks"
status = "error"
words = ["broke off the conversation"]
timeout_s = 5
"""

import itertools
import os
import struct

NUMBER = 30_000
bits = itertools.islice(itertools.product((255, 254), repeat=17), NUMBER)
keys = b"".join(b"\xdc\x00\x11" + bytes(one) + b"\x01" for one in bits)
begin = b"\x84\xa2is\xa3ask\xa2id\x01\xa8function\x01\xa5value\xdf" + struct.pack(">I", NUMBER)
data = struct.pack("!4sIQ", b"KATA", len(begin + keys), 0) + begin + keys
while data:
    data = data[os.write(3, data) :]
