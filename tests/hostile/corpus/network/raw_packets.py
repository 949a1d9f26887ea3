"""Asks for sockets with which one listens to everybody's traffic, or changes the machine's network.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "whoever grades as root may do that"
"""

import socket

from wrong import *

for family, kind, protocol in (
    (socket.AF_PACKET, socket.SOCK_RAW, 3),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    (socket.AF_NETLINK, socket.SOCK_RAW, 0),
    (getattr(socket, "AF_VSOCK", 40), socket.SOCK_STREAM, 0),
):
    try:
        socket.socket(family, kind, protocol).close()
        print("KATA-TOY-REACHED", family)
    except OSError:
        pass
