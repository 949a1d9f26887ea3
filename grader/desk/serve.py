"""The server: this machine alone, one process, until somebody ends it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from grader.catalogue import Catalogue
from grader.desk.guard import ENTER, Guard
from grader.desk.look_alikes import LookAlikes
from grader.desk.queries import DeskReader
from grader.desk.routes import Desk
from grader.desk.sheets import Sheets
from grader.errors import UsageError
from grader.gradebook.store import Gradebook
from grader.gradebook.written import Rubrics
from grader.pages import Lessons

HERE = "127.0.0.1"


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
    reader = DeskReader(book, Lessons(catalogue), author)
    reader_of_sheets = Sheets(reader, Rubrics(catalogue))
    desk = Desk(reader, reader_of_sheets, LookAlikes(book), catalogue)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((HERE, port))
        except OSError as error:
            raise UsageError(
                f"Port {port} of this machine is already in use ({error.strerror}).",
                "Choose another one, or let the system choose: --port 0",
            ) from error
        guard = Guard(desk.app(), door.getsockname()[1])
        desk.warm()
        door.listen()
        ready(f"http://{HERE}:{door.getsockname()[1]}{ENTER}?key={guard.secret}")
        config = uvicorn.Config(
            guard, log_level="critical", access_log=False, lifespan="off", ws="none", proxy_headers=False,
            server_header=False, date_header=False, limit_concurrency=64, timeout_graceful_shutdown=2,
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[door])
