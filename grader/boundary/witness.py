"""What a submission used that its kata excludes: written by its worker at the moment of use, read by the grader.

It travels through a pipe of its own, because what was written to a pipe cannot be taken back: a list in the worker
could be cleared by the submission, which shares its memory. Each record is a number, the place of a name among those
that are watched. Before the grader believes a silence it asks for a stamp: a pipe that was closed, or led elsewhere,
gives none.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable

_RECORD = struct.Struct("<HQ")
_STAMP = 0xFFFF
MAX_NAMES = 1000

CLOSED = "a way round the grader's record of what is used"
"""What is reported of a worker that no longer tells."""


def writer(descriptor: int) -> Callable[[int], object]:
    """Return what writes the number of a name; it never raises and never waits."""
    records = tuple(_RECORD.pack(number, 0) for number in range(MAX_NAMES))

    # Whatever it needs it holds itself: who replaces `os.write` later does not silence it.
    def note(number: int, write: Callable[[int, bytes], int] = os.write) -> None:
        try:  # noqa: SIM105 - it may not depend on what the submission can replace
            write(descriptor, records[number])
        except OSError:  # full: there is evidence enough; closed: the stamp will be missing
            pass

    return note


def stamp(descriptor: int, token: int) -> None:
    """Write the grader's token, as a sign that what was written before has arrived."""
    with contextlib.suppress(OSError):
        os.write(descriptor, _RECORD.pack(_STAMP, token))


def read(data: bytes, names: list[str], token: int | None = None) -> list[str]:
    """Return the names used, in the order of their first use; `CLOSED` when a token is expected and is not there.

    Args:
        data: what came out of the pipe. Nothing in it is believed: a submission may write there, too.
        names: what is watched.
        token: what `stamp` was asked to write last.
    """
    used: dict[str, None] = {}
    stamped = token is None
    whole = len(data) - len(data) % _RECORD.size
    for number, value in _RECORD.iter_unpack(data[:whole]):
        if number == _STAMP:
            stamped = stamped or value == token
        elif number < len(names):
            used.setdefault(names[number])
        else:
            used.setdefault(CLOSED)
    if whole != len(data) or (not stamped and not used):
        used.setdefault(CLOSED)
    return list(used)
