"""Where a gradebook is: a path or an address, read once, shown without its password, opened with the right settings."""

from __future__ import annotations

import re
import sqlite3
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from grader import install_extra
from grader.instructor.gradebook.errors import GradebookUsageError

DEFAULT = "gradebook.sqlite"
BUSY_SECONDS = 15.0
"""How long a write waits for another process's; `sqlite:///FILE?timeout=SECONDS` says otherwise."""
AGAIN_SECONDS = 0.02  # between two tries, where SQLite itself does not wait

_KNOWN = "Give a path, sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/DATABASE."
_CREDENTIALS = re.compile(r"(?<=://)\S*@")
_SECRET = re.compile(r"(?i)([?&][^=&]*password=)[^&#\s]*")
_SERVER = {"connect_timeout": 10, "keepalives_idle": 30, "tcp_user_timeout": 30_000}
"""A server that stops answering is noticed within half a minute, not after the kernel's quarter of an hour."""


@dataclass(frozen=True)
class Address:
    """A gradebook's address."""

    url: URL
    """With an absolute path, so that it stays the same file wherever the process goes."""
    name: str = ""
    """The file, as it was given."""

    @classmethod
    def parse(cls, where: str) -> Address:
        """Read a path or an address.

        Raises:
            GradebookUsageError: it is neither, or of a kind that Kata does not know, or its driver is missing.
        """
        if "://" not in where:
            if not where.strip():
                raise GradebookUsageError("The gradebook's name is empty.", _KNOWN)
            # The file system would refuse it with a ValueError, far from here.
            if "\0" in where:
                raise GradebookUsageError("The gradebook's name holds a zero byte.", _KNOWN)
            return cls._of_file(URL.create("sqlite"), str(Path(where).expanduser()))
        try:
            url = make_url(where)
        except (ArgumentError, ValueError) as error:
            raise GradebookUsageError(
                f"{redact(where)}: this is not the address of a gradebook.", _KNOWN
            ) from error
        kind, _, driver = url.drivername.partition("+")
        if kind == "sqlite" and driver in ("", "pysqlite"):
            # Such a gradebook would be gone with the command that wrote it.
            if not url.database or url.database == ":memory:":
                raise GradebookUsageError(
                    f"{redact(where)}: a gradebook is a file, but this address names none.", _KNOWN
                )
            return cls._of_file(url, url.database)
        if kind in ("postgresql", "postgres") and driver in ("", "psycopg"):
            # Named, or SQLAlchemy takes psycopg2, which is not installed; `postgres://` it does not know at
            # all.
            return cls(url.set(drivername="postgresql+psycopg"))
        raise GradebookUsageError(
            f"{redact(where)}: Kata keeps gradebooks in SQLite and PostgreSQL, not in {url.drivername}.",
            _KNOWN,
        )

    @classmethod
    def _of_file(cls, url: URL, name: str) -> Address:
        return cls(url.set(drivername="sqlite", database=str(Path(name).absolute())), name)

    @property
    def file(self) -> Path | None:
        """The SQLite file; None where a server has it."""
        return Path(self.url.database or "") if self.url.drivername == "sqlite" else None

    @property
    def display(self) -> str:
        """The address for people, without its password."""
        return (
            self.name
            if self.file
            else redact(self.url.set(drivername="postgresql").render_as_string(hide_password=True))
        )

    @property
    def full_url(self) -> str:
        """The address for another process of ours, which stands elsewhere: absolute, and with its password."""
        if self.file is not None and not self.url.query:
            return str(self.file)
        return self.url.render_as_string(hide_password=False)

    def scrub(self, text: str) -> str:
        """Take the password out of what a driver says."""
        secrets = [str(self.url.password or ""), *map(str, self._secret_options())]
        for secret in secrets:
            if secret:
                text = text.replace(secret, "***")
        return redact(text)

    def engine(self) -> Engine:
        """Return what connects to it; nothing is opened yet.

        Raises:
            GradebookUsageError: the driver is not installed.
        """
        if self.file is not None:
            made = create_engine(
                self.url,
                hide_parameters=True,
                connect_args={"timeout": self._timeout(), "check_same_thread": False},
            )
            event.listen(made, "connect", _set_up_sqlite)
            # Python's driver begins a transaction only at the first change; here reading has to hold as
            # well.
            event.listen(made, "begin", _begin_sqlite)
            return made
        options = {name: value for name, value in _SERVER.items() if name not in self.url.query}
        try:
            return create_engine(self.url, hide_parameters=True, connect_args=options)
        except (ImportError, NoSuchModuleError) as error:
            raise GradebookUsageError(
                f"{self.display}: a gradebook on PostgreSQL needs the driver psycopg, which is not installed.",
                f"Install it with Kata: {install_extra('postgres')}",
            ) from error

    def fix_log_permissions(self) -> None:
        """Give the log and its index the permissions of an SQLite file."""
        if self.file is None:
            return
        # SQLite (3.40) makes them with those that the file has at the time. Those of a read-only file stay
        # read-only, and then it could not be written even after its permissions were mended.
        for suffix in ("-wal", "-shm"):
            extra_file = self.file.with_name(self.file.name + suffix)
            with suppress(OSError):  # it is not there, or somebody else's
                wanted = stat.S_IMODE(self.file.stat().st_mode)
                if wanted & stat.S_IWUSR and not stat.S_IMODE(extra_file.stat().st_mode) & stat.S_IWUSR:
                    extra_file.chmod(wanted)

    def enable_wal(self, engine: Engine) -> None:
        """Have an SQLite file keep a log of what is written: readers then never wait for a writer.

        Raises:
            SQLAlchemyError: the database refused, or another process kept it locked.
        """
        # For this lock alone SQLite (3.40) asks no busy handler: it refuses at once while somebody else writes.
        until = time.monotonic() + self._timeout()
        while True:
            try:
                pragma(engine, "journal_mode = WAL").close()
                return
            except OperationalError as error:
                if "locked" not in str(error.orig) or time.monotonic() > until:
                    raise
                time.sleep(AGAIN_SECONDS)

    def _timeout(self) -> float:
        given = self.url.query.get("timeout")
        try:
            return BUSY_SECONDS if given is None else float(str(given))
        except ValueError as error:
            raise GradebookUsageError(
                f"{self.display}: timeout must be a number of seconds.", _KNOWN
            ) from error

    def _secret_options(self) -> list[Any]:
        return [value for name, value in self.url.query.items() if "password" in name.lower()]


def redact(text: str) -> str:
    """Take user names and passwords out of anything that looks like an address."""
    return _SECRET.sub(r"\1***", _CREDENTIALS.sub(_without_password, text))


def _without_password(found: re.Match[str]) -> str:
    user, colon, _ = found[0][:-1].partition(":")
    return f"{user}:***@" if colon else found[0]


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where we say, also before a read or a CREATE TABLE
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("bare", False):
        # A write that begins as a read cannot wait for another writer: it would fail at once.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes", False) else "BEGIN")


def pragma(engine: Engine, setting: str) -> Connection:
    """Return a connection to an SQLite file with a setting that can only be made outside of a transaction."""
    connection = engine.connect().execution_options(bare=True)
    try:
        connection.exec_driver_sql(f"PRAGMA {setting}").close()
        # SQLAlchemy has begun a transaction by itself, and SQLite changes such settings only outside of
        # one.
        connection.rollback()
    except BaseException:
        connection.close()
        raise
    return connection.execution_options(bare=False)
