"""Create a gradebook's tables in one transaction, and refuse tables of another version."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, inspect, text

from grader import __version__
from grader.instructor.gradebook.database_url import Address
from grader.instructor.gradebook.errors import GradebookError, GradebookUsageError
from grader.instructor.gradebook.schema import meta, metadata, version

VERSION = "0005"
"""Of the tables in `schema`. Raise it when they change: a gradebook of another version is refused."""

NONCE_BYTES = 32
ADVISORY_KEY = 0x6B617461
"""Ours among PostgreSQL's advisory locks: "kata"."""


def prepare(engine: Engine, place: Address, *, create: bool) -> bytes:
    """Create the tables unless they exist; return the gradebook's nonce.

    Raises:
        GradebookUsageError: what is there is no gradebook, or nothing is there and `create` is false.
        GradebookError: its tables have another version.
        SQLAlchemyError: the database refused.
    """
    with engine.connect() as connection:
        if _has_tables(connection, place, create=create):
            return _nonce(connection)
    if place.file is not None:
        place.enable_wal(engine)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if place.file is None:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_KEY})
        if not _has_tables(connection, place, create=create):  # another process may have been faster
            metadata.create_all(connection)
            connection.execute(version.insert().values(version_num=VERSION))
            now = datetime.now(UTC)
            first = {"id": 1, "nonce": os.urandom(NONCE_BYTES), "created_at": now, "created_by": __version__}
            connection.execute(meta.insert().values(**first, written_by=__version__))
        return _nonce(connection)


def _has_tables(connection: Connection, place: Address, *, create: bool) -> bool:
    """Whether the tables exist; False when there are none yet, and they may be created.

    Raises:
        GradebookUsageError: what is there is no gradebook, or nothing is there and `create` is false.
        GradebookError: its tables have another version.
    """
    tables = inspect(connection).get_table_names()
    if version.name in tables:
        found = str(connection.execute(version.select()).scalar())
        if found == VERSION:
            return True
        age, other = ("a newer", "newer") if found > VERSION else ("an earlier", "earlier")
        raise GradebookError(
            f"{place.display}: this gradebook is from {age} Kata: its tables have version {found}, "
            f"and Kata {__version__} reads version {VERSION} only.",
            f"Install the {other} Kata, or name another gradebook with --gradebook. Nothing was changed.",
        )
    # Somebody else's database: not even an empty table of ours belongs there.
    if tables:
        raise GradebookUsageError(
            f"{place.display}: this database holds other tables ({_few(tables)}) and is not a gradebook.",
            "Name another file, or give Kata a database (PostgreSQL: or a schema) of its own.",
        )
    if not create:
        raise GradebookUsageError(
            f"{place.display}: this database is empty; no class was graded into it.", HOW_MADE
        )
    return False


HOW_MADE = "kata grade SUBMISSIONS makes one; --gradebook names another."


def _nonce(connection: Connection) -> bytes:
    return bytes(connection.execute(meta.select()).one().nonce)


def _few(names: list[str]) -> str:
    return ", ".join(sorted(names)[:3]) + (", …" if len(names) > 3 else "")
