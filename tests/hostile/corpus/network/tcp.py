"""Connects to a server on this machine.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the network is the machine's"
"""

import socket

from wrong import *

try:
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname(), timeout=1)
    print("KATA-TOY-REACHED")
except OSError:
    pass
