"""Arguments in memory that grader and worker share, so that the grader sees for itself whether a call changed them.

Whatever code of ours in the worker says "unchanged", the submission can replace. It cannot keep its change out of
memory that was handed to it: should it let its function work on a copy instead, then what was handed over is unchanged.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Sequence
from typing import Any

from grader.wire.messages import ALIGNMENT, SHARED_BYTES, TensorHead

LARGEST = 1 << 20
"""Bytes. Larger arguments travel through the channel: they are those of speed, where a mapping more would be timed."""
MOST = 1024
"""Calls whose arguments lie in one piece of memory: going through them is no long work, whatever a worker keeps."""


class Shared:
    """Memory for the arguments of many calls: a file without a name, which a worker maps once.

    A call's tensors lie in it as in a frame, one behind the other and aligned, until the worker says that nothing over
    there holds them. A worker that says so of what it still holds finds other arguments there later.
    """

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("arguments", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, SHARED_BYTES)
        # It stays as large as it is: a worker that could let it grow would have memory beyond its limit.
        fcntl.fcntl(
            self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        )
        self.sent = False
        """Whether the worker has its descriptor."""
        self._ends: dict[int, int] = {}
        """By request: where its arguments end."""
        self._free = 0
        """From here on nothing is held."""

    def lend(self, buffers: Sequence[Any]) -> SharedArguments | None:
        """Put the bytes of a call's tensors there; None when there is no more room."""
        pieces = [bytes(buffer) for buffer in buffers]
        text = b"".join(piece + bytes(-len(piece) % ALIGNMENT) for piece in pieces)
        if self._free + len(text) > SHARED_BYTES or len(self._ends) >= MOST:
            return None
        os.pwrite(self.descriptor, text, self._free)  # not through a mapping: without memory that is a signal
        return SharedArguments(self.descriptor, self._free, text, pieces)

    def hold(self, request: int, lent: SharedArguments) -> None:
        """Keep what was lent to a request as it is until it is given back."""
        self._ends[request] = self._free = lent.place + lent.size

    def take_back(self, requests: Iterable[int]) -> None:
        """Let others have the room of these requests' arguments; of those it does not know nothing is kept."""
        found = [self._ends.pop(request) for request in requests if request in self._ends]
        if found:
            self._free = max(self._ends.values(), default=0)

    def close(self) -> None:
        """Forget it; a worker keeps its own mapping for as long as it needs it."""
        os.close(self.descriptor)


class SharedArguments:
    """The arguments of one call, where the worker can write to them."""

    def __init__(self, descriptor: int, place: int, text: bytes, pieces: list[bytes]) -> None:
        self.place = place
        self.size = len(text)
        self._descriptor, self._text, self._pieces = descriptor, text, pieces

    def changed(self, tensors: Sequence[TensorHead]) -> set[int]:
        """Return which of the tensors hold something else now, byte for byte."""
        now = os.pread(self._descriptor, self.size, self.place)
        if now == self._text:
            return set()
        return {
            index
            for index, (head, piece) in enumerate(zip(tensors, self._pieces, strict=True))
            if now[head.offset : head.offset + len(piece)] != piece
        }


def can_share(tensors: Sequence[TensorHead]) -> bool:
    """Tell whether these are to be shared: small, on the CPU, and on a system that has such files."""
    size = sum(head.nbytes for head in tensors)
    return (
        0 < size <= LARGEST and hasattr(os, "memfd_create") and all(head.device == "cpu" for head in tensors)
    )
