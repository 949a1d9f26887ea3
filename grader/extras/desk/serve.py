"""The server: this machine alone, one process, until somebody ends it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from grader.api import Catalogue, Gradebook, KataTexts, Rubrics, UsageError
from grader.extras.desk.look_alikes import LookAlikes
from grader.extras.desk.queries import DeskReader
from grader.extras.desk.request_guard import ENTER, Guard
from grader.extras.desk.routes import Desk
from grader.extras.desk.sheets import Sheets

HERE = "127.0.0.1"
MOST_IDLE = 128
"""Connections at a time on which nothing has been asked yet, or all was answered."""


class _Connection(H11Protocol):
    """A connection: where too many do nothing, the one that came first gives way to the one that comes.

    Otherwise a client that opens connections and asks nothing would lock the marker out. No clock
    decides: a marker may come on a slow machine.
    """

    _open: ClassVar[dict[_Connection, None]] = {}

    def connection_made(self, transport: Any) -> None:
        """Take it, and let go of another."""
        super().connection_made(transport)
        self._open[self] = None
        idle = [
            connection
            for connection in self._open
            if connection.cycle is None or connection.cycle.response_complete
        ]
        if len(idle) > MOST_IDLE:
            # Rather one on which nothing was ever asked.
            first = min(idle, key=lambda connection: connection.cycle is not None)
            del self._open[first]
            first.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._open.pop(self, None)
        super().connection_lost(exc)


def serve(
    book: Gradebook, catalogue: Catalogue, *, author: str, port: int, ready: Callable[[str], None]
) -> None:
    """Serve the desk until it is interrupted.

    Args:
        book: the open gradebook.
        catalogue: whose katas are marked.
        author: whose word everything is that is decided.
        port: where; 0 takes any that is free.
        ready: told the address to open, which holds the secret.

    Raises:
        UsageError: somebody else has the port.
    """
    reader = DeskReader(book, KataTexts(catalogue), author)
    reader_of_sheets = Sheets(reader, Rubrics(catalogue, book))
    desk = Desk(reader, reader_of_sheets, LookAlikes(book), catalogue)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as door:
        # Else the port stays taken for a minute after the last desk was closed.
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((HERE, port))
        except OSError as error:
            raise UsageError(
                f"Port {port} of this machine is already in use ({error.strerror}).",
                "Choose another one, or let the system choose: --port 0",
            ) from error
        # Only now is the port known, which the guard compares Host and Origin with.
        guard = Guard(desk.app(), door.getsockname()[1])
        # Before anybody can ask: the first page would wait for the class and all templates.
        desk.warm()
        door.listen()
        ready(f"http://{HERE}:{door.getsockname()[1]}{ENTER}?key={guard.secret}")
        config = uvicorn.Config(
            guard, log_level="critical", access_log=False, lifespan="off", ws="none", proxy_headers=False,
            server_header=False, date_header=False, http=_Connection, timeout_graceful_shutdown=2,
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[door])
