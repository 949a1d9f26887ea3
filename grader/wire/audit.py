"""The audit channel: what a submission used that its kata excludes, written by its worker at the moment of use.

It is a pipe of its own, because what was written to a pipe cannot be taken back: a list in the worker could be cleared
by the submission, which shares its memory. What it does not tell is believed only while nothing is missing:

- every record has a number, and the numbers leave no gap: a record that was led elsewhere is missed;
- every record carries a code made with a key that came before the submission and lies where nothing points to it:
  who writes records of their own cannot fill the gap;
- every exchange ends with a stamp, the grader's token: a channel that is closed, or that somebody else's program
  answers for, gives none.

Anything else that comes out of it counts as a breach (`CLOSED`), so that filling it is one as well.
"""

from __future__ import annotations

import contextlib
import enum
import itertools
import os
import struct
import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b

_BODY = struct.Struct("<QHIQ")
_CODE = 8
RECORD = _BODY.size + _CODE
"""Bytes of a record: its number, what it tells, the line, the token; the code."""
KEY = 16
"""Bytes of a key."""
PERSISTENT = 0x8000
"""Added to the number of a name whose use counts whenever it was: what is loaded once is there for every call."""
MAX_LINE = 1 << 31

CLOSED = "a way round the grader's record of what is used"
"""What is reported of a worker that no longer tells all."""


class Sign(enum.IntEnum):
    """What a record tells that is not the number of a name."""

    STAMP = 0xFFFF
    NATIVE = 0xFFFE
    TRACED = 0xFFFD
    PROCESS = 0xFFFC
    CHANGED = 0xFFFB


SIGNS = {
    Sign.NATIVE: "native code, called past Python (ctypes)",
    Sign.TRACED: "a look into the grader's record of what is used (sys.settrace and the like)",
    Sign.PROCESS: "another process, where nobody sees what is used",
    Sign.CHANGED: "a changed copy of what is excluded",
}
"""What is reported where something was done past which no use could be seen."""

Write = Callable[[int, int, int], None]
"""Told a number or `Sign`, a line and a token."""


def writer(descriptor: int, key: bytes) -> Write:
    """Return what writes records; it never raises for what the channel does, and never waits.

    Whatever it needs it holds itself: who replaces `os.write` later does not silence it.
    """
    following = itertools.count().__next__
    pack, code, write, lock = _BODY.pack, blake2b, os.write, threading.Lock()
    told: set[int] = set()
    stamp = int(Sign.STAMP)

    def put(number: int, line: int, token: int) -> None:
        with lock:
            if number == stamp:
                told.clear()
            elif number in told:  # once between two stamps, so that no honest worker ever fills the pipe
                return
            else:
                told.add(number)
            body = pack(following(), number, line, token)
            try:  # noqa: SIM105 - it may not depend on what the submission can replace
                write(descriptor, body + code(body, key=key, digest_size=8).digest())
            except OSError:  # full or closed: the grader will miss this number
                pass

    return put


class Reader:
    """The grader's end: what one worker's channel told, and whether it told all."""

    def __init__(self, key: bytes, names: Sequence[str]) -> None:
        self._key = key
        self._names = names
        self._next = 0
        self.persistent = {CLOSED}
        """What counts, of all that was told, whenever it was done."""

    def read(self, data: bytes, token: int | None = None) -> dict[str, int]:
        """Return what was used since the last time, with the line of the submission, 0 where that is unknown.

        Args:
            data: what came out of the pipe.
            token: what has to stand at the end of an exchange; None when the worker ended before.
        """
        used: dict[str, int] = {}
        stamps = 0
        whole = len(data) - len(data) % RECORD
        for place in range(0, whole, RECORD):
            body, code = data[place : place + _BODY.size], data[place + _BODY.size : place + RECORD]
            sequence, number, line, value = _BODY.unpack(body)
            if blake2b(body, key=self._key, digest_size=_CODE).digest() != code or sequence != self._next:
                used.setdefault(CLOSED, 0)
                continue
            self._next += 1
            if number == Sign.STAMP:
                stamps += 1
                if value != token:
                    used.setdefault(CLOSED, 0)
            else:
                used.setdefault(self._name(number), line if 0 < line < MAX_LINE else 0)
                if number >= PERSISTENT:
                    self.persistent.add(self._name(number))
        if whole != len(data) or (token is not None and stamps != 1):
            used.setdefault(CLOSED, 0)
        return used

    def _name(self, number: int) -> str:
        if number % PERSISTENT < len(self._names):
            return self._names[number % PERSISTENT]
        with contextlib.suppress(ValueError):
            return SIGNS.get(Sign(number), CLOSED)
        return CLOSED
