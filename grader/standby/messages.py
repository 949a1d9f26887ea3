"""What client and warm process say to each other: lists of lists of byte strings, one message a packet.

By hand, because the client must not import anything that takes longer than reading this.
"""

from __future__ import annotations

MAX_BYTES = 1 << 20
READY = b"ready"
"""The warm process has seen who asks."""
STATUS, END, RUN = b"status", b"end", b"run"
"""What it can be asked."""
STARTED, STALE, BUSY, DIFFERENT = b"started", b"stale", b"busy", b"different"
"""What it answers to a run: with STARTED comes a descriptor of the process that waits for GO."""
GO = b"go"
CODE, SIGNAL = b"code", b"signal"
"""How that process ended."""
SIGNALS = ("SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM", "SIGTSTP", "SIGUSR1", "SIGUSR2")
"""What the client may have been started to ignore, as by `nohup`; the request says which of them."""


def pack(*lists: list[bytes]) -> bytes:
    """Put lists of strings without NUL into one packet."""
    return b"\0".join(part for one in lists for part in (b"%d" % len(one), *one))


def unpack(packet: bytes) -> list[list[bytes]]:
    """Take a packet apart.

    Raises:
        ValueError: it is none.
    """
    parts, lists = packet.split(b"\0"), []
    place = 0
    while place < len(parts):
        count = int(parts[place])
        one = parts[place + 1 : place + 1 + count]
        if count < 0 or len(one) != count:
            raise ValueError("a packet that is cut off")
        lists.append(one)
        place += 1 + count
    return lists
