"""A database's refusals in the instructor's words: what happened, what is not lost, what to do."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from glob import escape
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grader.instructor.gradebook.database_url import Address
from grader.instructor.gradebook.errors import CorruptRecordError, GradebookError, GradebookUsageError

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
    state = str(getattr(cause, "sqlstate", None) or "") or _guessed(message)
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


def _guessed(message: str) -> str:
    return next((state for words, state in _AT_THE_DOOR if words.search(message)), "")


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
