"""Connections to a gradebook's database: to read, to decide, and the one of a run, which holds the lock."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, TextClause, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.database import (
    AGAIN_SECONDS,
    OPENING,
    Address,
    check_file,
    damaged,
    file_error,
    pragma,
    server_unreachable,
    translating,
)
from grader.instructor.gradebook.errors import GradebookError
from grader.instructor.gradebook.migrate import ADVISORY_KEY, prepare

RUN = ""
"""The lock of grading runs; all others have names."""
WAIT_S = 1.0
"""How long a lock is waited for that somebody may only look at, or whose holder was killed and not noticed yet."""
_held: dict[tuple[int, int], FileLock] = {}
"""By device and inode. Such a lock is the process's: taking it twice succeeds, closing any descriptor frees it."""


class FileLock:
    """A lock on a file next to the gradebook. It is not inherited: a worker that survives us does not keep it."""

    def __init__(self, file: Path, name: str = RUN) -> None:
        real = Path(os.path.realpath(file))
        self.path = real.with_name(f"{real.name}{name and f'.{name}'}.lock")
        self._descriptor: int | None = None
        self._key = (0, 0)

    def acquire(self, wait_s: float = WAIT_S) -> bool:
        """Take the lock; return False when somebody has it, and still has after so many seconds.

        Raises:
            OSError: the file cannot be made.
        """
        until = time.monotonic() + wait_s
        while not (taken := self._try()) and time.monotonic() < until:
            time.sleep(AGAIN_SECONDS)
        return taken

    def _try(self) -> bool:
        while True:
            if self._file_key() in _held:
                return False
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
            except OSError as error:
                os.close(descriptor)
                if isinstance(error, PermissionError):  # how some systems say that somebody has it
                    return False
                raise
            found = os.fstat(descriptor)
            if self._file_key() == (found.st_dev, found.st_ino):
                self._descriptor, self._key = descriptor, (found.st_dev, found.st_ino)
                _held[self._key] = self
                return True
            os.close(descriptor)  # its holder removed the file while we were opening it

    def release(self) -> None:
        """Give the lock back; the file goes with it."""
        if self._descriptor is None:
            return
        self.path.unlink(missing_ok=True)
        _held.pop(self._key, None)
        os.close(self._descriptor)
        self._descriptor = None

    def _file_key(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino


class ServerLock:
    """PostgreSQL's advisory lock: the server frees it when the connection ends."""

    _TIMED_OUT = "55P03"

    def __init__(self, connection: Connection, name: str = RUN) -> None:
        self._connection = connection
        self._key = {"ours": ADVISORY_KEY, "name": name}

    def acquire(self) -> bool:
        """Take the lock; return False when somebody has it."""
        try:
            with self._connection.begin():
                # A server takes a moment to notice that a killed run's connection is closed.
                self._connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WAIT_S}s'")
                self._connection.execute(self._sql("pg_advisory_lock"), self._key)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == self._TIMED_OUT:
                return False
            raise
        return True

    def release(self) -> None:
        """Give the lock back."""
        with self._connection.begin():
            self._connection.execute(self._sql("pg_advisory_unlock"), self._key)

    @staticmethod
    def _sql(function: str) -> TextClause:
        return text(f"SELECT {function}(:ours, hashtext(concat(current_schema(), CAST(:name AS text))))")


_STARTING = "starting a run"
_DAMAGE = (ValueError, TypeError, LookupError, AssertionError)
"""What our own code meets where the database gives out something else than was put in."""


class Connections:
    """What connects to one gradebook. What the database refuses becomes a `GradebookError` here."""

    def __init__(self, place: Address, engine: Engine) -> None:
        self.place = place
        self.engine = engine

    @classmethod
    def open(cls, place: Address, *, create: bool) -> tuple[Connections, bytes]:
        """Create the tables unless they exist; return the connections and the gradebook's nonce.

        Raises:
            GradebookError: as `Gradebook.open`.
        """
        place.fix_log_permissions()
        engine = place.engine()
        try:
            with translating(place, OPENING):
                nonce = prepare(engine, place, create=create)
        except BaseException as error:
            # Else the pool keeps a connection to a file or a server that is not a gradebook.
            engine.dispose()
            if isinstance(error, _DAMAGE):
                raise damaged(place, OPENING, error) from error
            raise
        return cls(place, engine), nonce

    def close(self) -> None:
        """Let the database go; twice is fine."""
        self.engine.dispose()

    @contextmanager
    def reading(self, doing: str, *, whole: bool = False) -> Iterator[Connection]:
        """Open a connection that sees one state of the gradebook.

        Args:
            doing: what for, in an error's words.
            whole: several queries must see the same state.
        """
        with translating(self.place, doing), self.engine.connect() as connection:
            if whole and self.place.file is None:
                # PostgreSQL shows each query the newest state; SQLite shows one transaction one state
                # anyway.
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            try:
                yield connection
            except _DAMAGE as error:
                raise damaged(self.place, doing, error) from error

    @contextmanager
    def deciding(self, doing: str) -> Iterator[Connection]:
        """Open a transaction for a person's word, which no machine can repeat: on the disk when it returns."""
        with translating(self.place, doing), self.engine.connect() as connection:
            connection.execution_options(writes=True)
            with connection.begin():
                yield connection

    @contextmanager
    def locked(self, doing: str, name: str = RUN) -> Iterator[bool]:
        """Hold a lock that goes with this process, however it ends; yields False, at once, where somebody has it."""
        lock: FileLock | ServerLock
        with ExitStack() as held:
            with translating(self.place, doing):
                if self.place.file is not None:
                    lock = FileLock(self.place.file, name)
                    try:
                        taken = lock.acquire(0.0)
                    except OSError as error:
                        raise file_error(error, self.place, doing) from error
                else:
                    connection = held.enter_context(self.engine.connect())
                    lock = ServerLock(connection, name)
                    taken = lock.acquire()
            if taken:
                held.callback(lock.release)
            yield taken


class RunSession:
    """The connection of one grading run, which holds the lock: without the lock, no writing."""

    def __init__(self, place: Address, connection: Connection, lock: FileLock | ServerLock) -> None:
        self._place = place
        self._connection = connection
        self._lock = lock
        self.guard = threading.RLock()
        """Held while something is written: threads take turns."""

    @classmethod
    def open(cls, connections: Connections) -> RunSession:
        """Take the lock.

        Raises:
            GradebookError: another run grades into this gradebook, or the database refused.
        """
        with translating(connections.place, _STARTING):
            if connections.place.file is None:
                return cls._on_server(connections)
            lock = FileLock(connections.place.file)
            try:
                taken = lock.acquire()
            except OSError as error:
                raise file_error(error, connections.place, _STARTING) from error
            if not taken:
                raise GradebookError(grading(connections), _WAIT_FOR_IT)
            try:
                # In the write-ahead log a killed process loses nothing even so. A power cut may take the last marks,
                # and they are graded again; what people decide is written with FULL.
                connection = pragma(connections.engine, "synchronous = NORMAL")
                check_file(connection, connections.place, _STARTING)
                connection.rollback()
                connection.execution_options(writes=True)
                connection.detach()  # not back among the others with it
            except BaseException:
                lock.release()
                raise
            return cls(connections.place, connection, lock)

    @classmethod
    def _on_server(cls, connections: Connections) -> RunSession:
        connection = connections.engine.connect()
        try:
            lock = ServerLock(connection)
            if not lock.acquire():
                raise GradebookError(grading(connections), _WAIT_FOR_IT)
        except BaseException:
            connection.close()
            raise
        return cls(connections.place, connection, lock)

    @contextmanager
    def writing(self, doing: str) -> Iterator[Connection]:
        """Open a transaction.

        Raises:
            ValueError: the run is over.
        """
        if self._connection.invalidated:  # a new connection would not hold the lock
            raise server_unreachable(self._place, doing, "the connection of this run is lost")
        if self._connection.closed:
            raise ValueError(f"the run is over ({doing})")
        with self.guard, translating(self._place, doing), self._connection.begin():
            yield self._connection

    def close(self) -> None:
        """Give the lock back, and the connection."""
        connection, lock = self._connection, self._lock
        with suppress(SQLAlchemyError), closing(connection):  # the server is gone, and the lock with it
            if isinstance(lock, ServerLock) and not connection.invalidated:
                lock.release()
        if isinstance(lock, FileLock):
            lock.release()


_WAIT_FOR_IT = "Wait until it is done, or name another gradebook with --gradebook."


def grading(connections: Connections) -> str:
    """Say whose run is grading."""
    open_runs = schema.runs.select().where(schema.runs.c.finished_at.is_(None))
    with connections.reading(_STARTING) as connection:
        row = connection.execute(open_runs.order_by(schema.runs.c.id.desc()).limit(1)).one_or_none()
    who = ""
    if row is not None:
        who = f" (process {row.process} on {row.host}, since {row.started_at:%Y-%m-%d %H:%M} UTC)"
    return f"{connections.place.display}: another run is grading into this gradebook{who}."
