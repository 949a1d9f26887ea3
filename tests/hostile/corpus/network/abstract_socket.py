"""Talks to a process outside through a socket that has a name but no file.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "these names are the machine's"
"""

import socket

from wrong import *

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    try:
        one, other = socket.socket(socket.AF_UNIX, kind), socket.socket(socket.AF_UNIX, kind)
        one.bind(f"\0kata-toy-{kind}")
        if kind == socket.SOCK_STREAM:
            one.listen()
        other.connect(f"\0kata-toy-{kind}")
        print("KATA-TOY-REACHED")
    except OSError:
        pass
