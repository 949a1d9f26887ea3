"""Which warm processes of this user there are, and how they are ended."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass

from grader.standby import client, messages, place

ENDING_S = 5.0


@dataclass(frozen=True)
class WarmProcess:
    """One that answered."""

    path: str
    pid: int
    resident_bytes: int
    age_s: int
    idle_s: int
    served: int
    running: int


def standing_by() -> list[WarmProcess]:
    """Return every warm process of this user that answers, of whatever interpreter."""
    found = []
    for path in _sockets():
        with contextlib.suppress(OSError, ValueError, TypeError, place.Odd):
            found.append(WarmProcess(path, *map(int, client.ask(path, messages.STATUS))))
    return found


def end_all() -> list[int]:
    """End every warm process of this user, and return their numbers when they are gone; what they run goes on."""
    ended = []
    for one in standing_by():
        with contextlib.suppress(OSError, place.Odd):
            if client.ask(one.path, messages.END) == [messages.END]:
                ended.append(one.pid)
    until = time.monotonic() + ENDING_S
    while any(os.path.exists(f"/proc/{pid}") for pid in ended) and time.monotonic() < until:
        time.sleep(0.005)
    return ended


def _sockets() -> list[str]:
    try:
        root = place.root()
        return [os.path.join(root, name, place.SOCKET) for name in sorted(os.listdir(root))]
    except (OSError, place.Odd):
        return []
