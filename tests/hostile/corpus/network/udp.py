"""Sends a datagram to this machine.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the network is the machine's"
"""

import socket

from wrong import *

for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        sender = socket.socket(family, socket.SOCK_DGRAM)
        sender.sendto(b"kata-toy", (address, 9))
        print("KATA-TOY-REACHED")
    except OSError:
        pass
