"""Leaves sockets behind: a listener on loopback, an abstract name, a name in the folder.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import socket

from wrong import *

kept = []
for family, name in (
    (socket.AF_INET, ("127.0.0.1", 0)),
    (socket.AF_UNIX, "\0kata-toy-name"),
    (socket.AF_UNIX, "s"),
):
    try:
        listener = socket.socket(family)
        listener.bind(name)
        listener.listen()
        kept.append(listener)
    except OSError:
        pass
