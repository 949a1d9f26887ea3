"""Rooms: processes that grade hostile submissions, one for each isolation level, kept for all tests of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

import pytest

from grader.engine import sandbox
from tests.hostile.room import Room
from tests.isolation.conftest import _let_others_reach_python
from tests.sandbox.conftest import become

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]

Enter = Callable[..., Room]


@pytest.fixture(scope="session")
def enter() -> Iterator[Enter]:
    """Return the room of a level, as whoever runs the tests or as an ordinary user."""
    rooms: dict[tuple[str, int | None], Room] = {}

    def find(level: str, user: int | None = None) -> Room:
        key = level, user
        if key in rooms and not rooms[key].alive:
            rooms.pop(key).close()
        if key not in rooms:
            best = offered(user)
            if not sandbox.reaches(best, level):  # type: ignore[arg-type]
                pytest.skip(f"this machine offers isolation {best!r} to this user")
            rooms[key] = Room(level, user)
        return rooms[key]

    yield find
    for room in rooms.values():
        room.close()


def offered(user: int | None) -> str:
    """Return the strongest level that this machine offers to a user; "none" if nobody here can become them."""
    if user is None:
        return sandbox.probe().level
    if os.geteuid() != 0:
        return "none"
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _let_others_reach_python()
            become(user)
            os.write(send, sandbox.probe().level.encode())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        level = pipe.read()
    os.waitpid(pid, 0)
    return level
