"""Bring a gradebook's tables to this version: all of it in one transaction, or nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, inspect, text

from grader import __version__
from grader.gradebook.address import Address
from grader.gradebook.errors import GradebookError, GradebookUsageError
from grader.gradebook.migration_steps import STEPS
from grader.gradebook.schema import meta, metadata, version

FIRST = "0001"

NONCE_BYTES = 32
ADVISORY_KEY = 0x6B617461
"""Ours among PostgreSQL's advisory locks: "kata"."""


def prepare(engine: Engine, place: Address, *, create: bool) -> bytes:
    """Make the tables, or bring them up to date; return the gradebook's nonce.

    Raises:
        GradebookUsageError: what is there is no gradebook, or nothing is there and `create` is false.
        GradebookError: it is from a newer version.
        SQLAlchemyError: the database refused.
    """
    with engine.connect() as connection:
        if _version(connection, place, create=create) == newest():
            return _nonce(connection)
    if place.file is not None:
        place.write_ahead(engine)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if place.file is None:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_KEY})
        before = _version(connection, place, create=create)  # another process may have been faster
        if before is None:
            metadata.create_all(connection)
            connection.execute(version.insert().values(version_num=newest()))
            now = datetime.now(UTC)
            first = {"id": 1, "nonce": os.urandom(NONCE_BYTES), "created_at": now, "created_by": __version__}
            connection.execute(meta.insert().values(**first, written_by=__version__))
        else:
            for number, step in STEPS.items():
                if number > before:
                    step(connection)
            connection.execute(version.update().values(version_num=newest()))
            connection.execute(meta.update().values(written_by=__version__))
        return _nonce(connection)


def newest() -> str:
    """Return the version that this Kata writes."""
    return max((FIRST, *STEPS))


def _version(connection: Connection, place: Address, *, create: bool) -> str | None:
    """Return the version of the tables; None when there are none yet, and they may be made."""
    tables = inspect(connection).get_table_names()
    if version.name in tables:
        found = connection.execute(version.select()).scalar()
        if found == FIRST or found in STEPS:
            return str(found)
        raise GradebookError(
            f"{place.shown}: this gradebook is from a newer Kata: its tables have version {found}, "
            f"and Kata {__version__} knows versions up to {newest()}.",
            "Install the newer Kata, or name another gradebook with --gradebook. Nothing was changed.",
        )
    if tables:
        raise GradebookUsageError(
            f"{place.shown}: this database holds other tables ({_few(tables)}) and is not a gradebook.",
            "Name another file, or give Kata a database (PostgreSQL: or a schema) of its own.",
        )
    if not create:
        raise GradebookUsageError(
            f"{place.shown}: this database is empty; no class was graded into it.", HOW_MADE
        )
    return None


HOW_MADE = "kata grade SUBMISSIONS makes one; --gradebook names another."


def _nonce(connection: Connection) -> bytes:
    return bytes(connection.execute(meta.select()).one().nonce)


def _few(names: list[str]) -> str:
    return ", ".join(sorted(names)[:3]) + (", …" if len(names) > 3 else "")
