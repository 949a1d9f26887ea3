"""Who is at the other end of a socket."""

from __future__ import annotations

import socket
import struct

from grader.standby import place

ZYGOTE = b"kata-zygote"
"""`sandbox.ZYGOTE`, which takes too long to import: below a process of that name are submissions and nothing else."""
_MOST_ANCESTORS = 64
_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: process, user, group, as they were when it connected or began to listen."""


def process_of(link: socket.socket) -> int:
    """Return the process that connected, or that listens, at the other end.

    Raises:
        OSError: the system does not tell.
    """
    credentials = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(credentials)[0])


def is_own(link: socket.socket) -> bool:
    """Return whether the other end is this user, may do what we may, and is no submission.

    A worker has this user's number at *confined* and *process*. At *confined* it has system call filters and no
    powers, for good, which shows in its identity. At *process* it may do all that its user may; but it descends from a
    fork server, which is its subreaper, so that what it leaves behind does so too.
    """
    try:
        process = process_of(link)
        if process <= 1 or place.identity(process) != place.identity("self"):
            return False
        for _ in range(_MOST_ANCESTORS):
            if process <= 1:
                return True
            with open(f"/proc/{process}/stat", "rb") as file:
                head, _, tail = file.read().rpartition(b")")
            if head.partition(b"(")[2] == ZYGOTE:
                return False
            process = int(tail.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return False
