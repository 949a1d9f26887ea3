"""Arguments in memory that grader and worker share, so that the grader sees for itself whether a call changed them.

Whatever code of ours in the worker says "unchanged", the submission can replace. It cannot keep its change out of
memory that was handed to it: should it let its function work on a copy instead, then what was handed over is unchanged.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from grader.wire.messages import ALIGNMENT, TensorHead

LARGEST = 1 << 20
"""Bytes. Larger arguments travel through the channel: they are those of speed, where a mapping more would be timed."""


class Shared:
    """The bytes of one call's tensors, in a file without a name; as in a frame, one behind the other and aligned."""

    def __init__(self, buffers: Sequence[Any]) -> None:
        self._pieces = [bytes(buffer) for buffer in buffers]
        text = b"".join(piece + bytes(-len(piece) % ALIGNMENT) for piece in self._pieces)
        self.size = len(text)
        self.descriptor = os.memfd_create("arguments", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(self.descriptor, text)
        # It stays as large as it is: a worker that could let it grow would have memory beyond its limit.
        fcntl.fcntl(
            self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        )

    def changed(self, tensors: Sequence[TensorHead]) -> set[int]:
        """Return which of the tensors hold something else now, byte for byte."""
        return {
            index
            for index, (head, piece) in enumerate(zip(tensors, self._pieces, strict=True))
            if os.pread(self.descriptor, len(piece), head.offset) != piece
        }

    def __enter__(self) -> Shared:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)


def can_share(tensors: Sequence[TensorHead]) -> bool:
    """Tell whether these are to be shared: small, on the CPU, and on a system that has such files."""
    size = sum(head.nbytes for head in tensors)
    return (
        0 < size <= LARGEST and hasattr(os, "memfd_create") and all(head.device == "cpu" for head in tensors)
    )
