"""How processes of ours talk: messages of MessagePack, whole in a packet, or after their length in a stream.

Neither side has seen a submission's code. What a worker sends is another matter, with a module of its own: `messages`.
The client of a warm process sends by `marshal`, since it must not take the 20 ms in which msgspec is imported.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

import msgspec

MAX_PACKET = 1 << 16
LENGTH = struct.Struct(">I")
"""What stands before a message in a stream."""
Decoder = msgspec.msgpack.Decoder
encode = msgspec.msgpack.encode


def send_packet(link: socket.socket, message: Any, descriptors: Sequence[int] = ()) -> None:
    """Send a message, and descriptors by the kernel's hand, on a socket that keeps packets apart (SOCK_SEQPACKET).

    Raises:
        OSError: the other end is gone.
    """
    socket.send_fds(link, [encode(message)], descriptors)


def receive_packet(link: socket.socket, most: int) -> tuple[bytes, list[int]]:
    """Return what `send_packet` sent, with at most so many descriptors; no bytes where the other end has hung up."""
    data, descriptors, _, _ = socket.recv_fds(link, MAX_PACKET, most)
    return data, descriptors


def read_frame(stream: BinaryIO) -> bytes:
    """Return the next message of a stream, empty at its end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return b""
    (size,) = LENGTH.unpack(head)
    data = stream.read(size)
    return data if len(data) == size else b""


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Send an encoded message."""
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()
