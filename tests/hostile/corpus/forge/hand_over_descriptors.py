"""Sends open descriptors along the channel, again and again, until the grader has none left.

kata = "insertion-sort"
status = "error"
words = ["PermissionError"]
[process]
words = ["broke off the conversation"]
"""

import array
import socket

from wrong import *

channel = socket.socket(fileno=3)
places = array.array("i", [0, 1, 2] * 20)
for _ in range(50):
    channel.sendmsg([b"KATA" + bytes(12)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, places)])
channel.detach()
