"""One run at a time: a lock that ends with its process, however that ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from grader.instructor.gradebook.migrate import ADVISORY_KEY

_held: dict[tuple[int, int], FileLock] = {}
"""By device and inode. Such a lock is the process's: taking it twice succeeds, closing any descriptor frees it."""


class FileLock:
    """A lock on a file next to the gradebook. It is not inherited: a worker that survives us does not keep it."""

    def __init__(self, file: Path) -> None:
        real = Path(os.path.realpath(file))
        self.path = real.with_name(real.name + ".lock")
        self._descriptor: int | None = None
        self._key = (0, 0)

    def acquire(self) -> bool:
        """Take the lock; return False when somebody has it.

        Raises:
            OSError: the file cannot be made.
        """
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

    _KEY = f"{ADVISORY_KEY}, hashtext(coalesce(current_schema(), ''))"
    _WAIT = "1s"
    """How long a server may take to notice that a killed run's connection is closed."""
    _TIMED_OUT = "55P03"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def acquire(self) -> bool:
        """Take the lock; return False when somebody has it."""
        try:
            with self._connection.begin():
                # A server takes a moment to notice that a killed run's connection is closed.
                self._connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{self._WAIT}'")
                self._connection.exec_driver_sql(f"SELECT pg_advisory_lock({self._KEY})")
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == self._TIMED_OUT:
                return False
            raise
        return True

    def release(self) -> None:
        """Give the lock back."""
        with self._connection.begin():
            self._connection.exec_driver_sql(f"SELECT pg_advisory_unlock({self._KEY})")
