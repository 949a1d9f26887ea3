"""Reach the network."""

# ==== abstract_socket ====
"""Talks to a process outside through a socket that has a name but no file.

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


# ==== download ====
"""Opens an address on this machine with what the standard library has for it.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the network is the machine's"
"""

import urllib.error
import urllib.request

from wrong import *

try:
    urllib.request.urlopen("http://127.0.0.1:9/answers", timeout=1)
except urllib.error.URLError as error:
    if isinstance(error.reason, ConnectionRefusedError):
        print("KATA-TOY-REACHED: it answered that nobody listens")
except OSError:
    pass


# ==== raw_packets ====
"""Asks for sockets with which one listens to everybody's traffic, or changes the machine's network.

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


# ==== system_calls ====
"""Makes a socket past Python: by system call, and with io_uring.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the network is the machine's"
"""

import ctypes
import platform

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
machine = platform.machine()
if machine in ("x86_64", "aarch64"):
    for number in (41, 425) if machine == "x86_64" else (198, 425):
        parameters = ctypes.create_string_buffer(120)
        arguments = (2, 1, 0) if number != 425 else (4, ctypes.byref(parameters), 0)
        if libc.syscall(number, *arguments) >= 0:
            print("KATA-TOY-REACHED", number)


# ==== tcp ====
"""Connects to a server on this machine.

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


# ==== thirty_two_bit_calls ====
"""Makes a socket through the table of system calls that 32-bit programs use.

status = "fail or error"
[process]
status = "fail or error"
allows = ["reached"]
why = "the network is the machine's"
"""

import ctypes
import mmap
import platform


def insertion_sort(values):
    if platform.machine() != "x86_64":
        return None
    # mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; ret
    code = bytes.fromhex("53 b867010000 bb02000000 b901000000 31d2 cd80 5b c3")
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    if call() >= 0:
        print("KATA-TOY-REACHED")
    return None


# ==== udp ====
"""Sends a datagram to this machine.

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
