"""The database of a gradebook: its address, read once and shown without its password, and its refusals in words."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from glob import escape
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grader import install_extra
from grader.instructor.gradebook.errors import CorruptRecordError, GradebookError, GradebookUsageError

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
        options = (str(value) for name, value in self.url.query.items() if "password" in name.lower())
        secrets = [str(self.url.password or ""), *options]
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


KEPT = "What was recorded before is kept; the same command goes on from there."

OPENING = "opening it"
"""What is done before there is anything to keep."""

_DAMAGED = "the file is damaged"

_UNREADABLE = (_DAMAGED, None, False)
_FORBIDDEN = "Correct the permissions of the file and its folder, or copy the file elsewhere."
_LOCKED = (
    "the gradebook is locked: another program is writing to it",
    f"Close it in that program (a database browser, another kata), then try again. {KEPT}",
    False,
)
_SQLITE = {
    # By the first eight bits of the code: what we say, what to do (None: restore it), whether another place was meant.
    sqlite3.SQLITE_NOTADB: ("this file is not a gradebook", "Name another file with --gradebook.", True),
    sqlite3.SQLITE_CORRUPT: _UNREADABLE,
    sqlite3.SQLITE_FORMAT: _UNREADABLE,
    sqlite3.SQLITE_MISMATCH: _UNREADABLE,
    sqlite3.SQLITE_ERROR: _UNREADABLE,  # a table or a column that we made is not there
    None: _UNREADABLE,  # Python's own refusal: what is there cannot be a text
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: ("the disk is full", f"Free some space. {KEPT}", False),
    sqlite3.SQLITE_READONLY: ("the gradebook is read-only", _FORBIDDEN, False),
    sqlite3.SQLITE_CANTOPEN: (
        "the gradebook cannot be opened; its folder must exist and be writable, even for reading",
        _FORBIDDEN,
        False,
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk refused to read or write",
        f"Check the disk: is it full, gone or failing? {KEPT}",
        False,
    ),
}
_POSTGRES = {
    # Five letters name one refusal, two a class of them.
    "28": ("the server refused the user name or the password", "Correct the address in --gradebook.", True),
    "3D000": (
        "the server has no database of this name",
        "Create it there (createdb), or correct the address.",
        True,
    ),
    "42501": ("the server does not allow it", "Ask for the right to create and write tables there.", False),
    "25006": ("the database is read-only", "Name the primary server, not a standby.", False),
    "53100": ("the server's disk is full", f"Free some space there. {KEPT}", False),
    "53": ("the server is out of resources", f"Try again when it is less busy. {KEPT}", False),
    "55P03": ("the gradebook is locked by another program", f"Try again when that is done. {KEPT}", False),
}
_AT_THE_DOOR = (
    # Before a connection stands, the driver has only the server's words (in English, unless it is set otherwise).
    (
        re.compile("authentication failed|no pg_hba.conf entry|no password supplied|role .* does not exist"),
        "28",
    ),
    (re.compile("database .* does not exist"), "3D000"),
)


@contextmanager
def translating(place: Address, doing: str) -> Iterator[None]:
    """Turn what a database refuses, and a damaged record, into a `GradebookError` that says it in words.

    Args:
        place: the gradebook.
        doing: what was being done, as in "while ... the marks of ada".
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise translated(error, place, doing) from error
    except CorruptRecordError as error:
        raise damaged(place, doing, error) from error


def translated(error: SQLAlchemyError, place: Address, doing: str) -> GradebookError:
    """Return the error for a refusal."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    message = place.scrub(" ".join(str(cause).split()))[:300]
    if place.file is not None:
        code = getattr(cause, "sqlite_errorcode", None)
        known = _SQLITE.get(code & 0xFF if code is not None else None)
        if known is not None and isinstance(cause, sqlite3.Error):
            what, hint, misnamed = known
            kind = GradebookUsageError if misnamed else GradebookError
            return kind(f"{place.display}: {what} ({doing}).", hint or _restoring(place))
        return GradebookError(f"{place.display}: the database refused, {doing}: {message}.", KEPT)
    state = str(getattr(cause, "sqlstate", None) or "")
    if not state:
        state = next((code for words, code in _AT_THE_DOOR if words.search(message)), "")
    for code in (state, state[:2]):
        if code in _POSTGRES:
            what, hint, misnamed = _POSTGRES[code]
            kind = GradebookUsageError if misnamed else GradebookError
            return kind(f"{place.display}: {what} ({doing}): {message}", hint)
    if isinstance(error, PoolTimeout) or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return server_unreachable(place, doing, message)
    if type(cause).__name__ in ("OperationalError", "ConnectionTimeout", "InterfaceError") or state[:2] in (
        "08",
        "57",
    ):
        return server_unreachable(place, doing, message)
    return GradebookError(f"{place.display}: the database refused, {doing}: {message}", KEPT)


def damaged(place: Address, doing: str, error: Exception) -> GradebookError:
    """Return the error for what the database gave out and was never put in."""
    what = " ".join(str(error).split())[:200]
    return GradebookError(
        f"{place.display}: what the gradebook holds is damaged ({doing}): {what}.", _restoring(place)
    )


def check_file(connection: Connection, place: Address, doing: str) -> None:
    """Refuse to write to an SQLite file whose pages contradict each other.

    Raises:
        GradebookError: it is damaged; nothing was written to it.
    """
    if place.file is None:  # a server checks its own
        return
    found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    if found != "ok":
        raise GradebookError(f"{place.display}: {_DAMAGED} ({doing}): {found}.", _restoring(place))


def backup_of(file: Path, version: str) -> Path:
    """Return where a gradebook is copied to before tables of this version are brought up to date."""
    return file.with_name(f"{file.name}.version-{version}")


def _restoring(place: Address) -> str:
    """Return the command that puts a copy in the place of a damaged gradebook, the backup if there is one."""
    if place.file is None:
        return "Restore a backup of the database (pg_restore)."
    file = shlex.quote(place.name)
    backups = sorted(place.file.parent.glob(f"{escape(place.file.name)}.version-????"))
    copy, of = "COPY", "a copy of it"
    if backups:
        at = datetime.fromtimestamp(backups[-1].stat().st_mtime)
        copy, of = (
            shlex.quote(str(Path(place.name).with_name(backups[-1].name))),
            f"the backup of {at:%Y-%m-%d %H:%M}",
        )
    # Without the logs, which belong to the file that is damaged.
    return (
        f"Restore {of}: rm -f {file}-wal {file}-shm; cp {copy} {file} "
        f"(before that, sqlite3 {file} .recover may save what is left)."
    )


def server_unreachable(place: Address, doing: str, message: str) -> GradebookError:
    """Return the error for a server that does not answer."""
    return GradebookError(
        f"{place.display}: the database server is not there, or went away ({doing}): {message}",
        f"Is it running, and is the address right?{'' if doing == OPENING else f' {KEPT}'}",
    )


def file_error(error: OSError, place: Address, doing: str) -> GradebookError:
    """Return the error for a file that cannot be made next to the gradebook."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return GradebookError(f"{place.display}: the disk is full ({doing}).", f"Free some space. {KEPT}")
    reason = os.strerror(error.errno) if error.errno else str(error)
    return GradebookError(
        f"{place.display}: the gradebook's folder cannot be written ({doing}): {reason}.",
        "Correct the permissions of the file and its folder, or copy the file elsewhere.",
    )
