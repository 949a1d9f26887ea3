"""The record of uses: which excluded operators a submission used, written by its worker at the moment of use.

It is a pipe of its own, because what was written to a pipe cannot be taken back: a list in the worker could be cleared
by the submission, which shares its memory.
"""

from __future__ import annotations

import contextlib
import functools
import os
import struct
from collections.abc import Callable, Iterator, Sequence

import torch

_RECORD = struct.Struct("<II")
"""The number of an operator, the line of the submission; 0 where that is unknown."""
MAX_LINE = 1 << 31

CLOSED = "a way round the grader's record of what is used"
"""What is reported of a worker that closes its record, or writes something else to it."""

Note = Callable[[int, int], object]
"""Told the number of an operator, and a line."""


@functools.cache
def overloads() -> dict[str, list[str]]:
    """Return the overloads of every operator that torch brings, by the operator's name such as `aten::gelu`."""
    found: dict[str, list[str]] = {}
    for name in torch._C._dispatch_get_all_op_names():
        found.setdefault(name.partition(".")[0], []).append(name)
    return found


def operators_of(is_of: Callable[[str], bool]) -> list[str]:
    """Return the operators of these names, in whatever namespace: `aten::gelu` by `gelu`."""
    return [name for name in overloads() if is_of(name.partition("::")[2])]


def writer(descriptor: int) -> Note:
    """Return what writes a record; it never raises for what the pipe does, and never waits."""
    # Whatever it needs it holds itself: replacing `os.write` later does not silence it.
    pack, write = _RECORD.pack, os.write

    def note(number: int, line: int) -> None:
        # Where the pipe is full, enough has been written to it already.
        with contextlib.suppress(OSError):
            write(descriptor, pack(number, line))

    return note


def read(data: bytes, operators: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the operators used, each with its line, of what came out of the pipe."""
    whole = len(data) - len(data) % _RECORD.size
    for number, line in _RECORD.iter_unpack(data[:whole]):
        known = number < len(operators) and line < MAX_LINE
        yield (operators[number], line) if known else (CLOSED, 0)
    # A record is far below PIPE_BUF, so the kernel never splits one: half a record was written by somebody else.
    if whole != len(data):
        yield CLOSED, 0
