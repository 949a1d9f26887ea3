"""Bring a gradebook's tables to this version: all of it in one transaction, or nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from grader import __version__
from grader.gradebook.errors import GradebookError, GradebookUsageError
from grader.gradebook.place import Place, pragma
from grader.gradebook.schema import VERSION_TABLE, VERSIONS, meta

NONCE_BYTES = 32
ADVISORY_KEY = 0x6B617461
"""Ours among PostgreSQL's advisory locks: "kata"."""


def prepare(engine: Engine, place: Place, *, create: bool) -> bytes:
    """Make the tables, or bring them up to date; return the gradebook's nonce.

    Raises:
        GradebookUsageError: what is there is no gradebook, or nothing is there and `create` is false.
        GradebookError: it is from a newer version.
        SQLAlchemyError: the database refused.
    """
    with engine.connect() as connection:
        version = _version(connection, place, create=create)
        if version == VERSIONS[-1]:
            return _nonce(connection)
    if place.file is not None:
        pragma(engine, "journal_mode = WAL").close()  # kept in the file; readers then never wait for a writer
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if place.file is None:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_KEY})
        before = _version(connection, place, create=create)  # another process may have been faster
        if before != VERSIONS[-1]:
            upgrade(connection, VERSIONS[-1])
        if before is None:
            now = datetime.now(UTC)
            first = {"id": 1, "nonce": os.urandom(NONCE_BYTES), "created_at": now, "created_by": __version__}
            connection.execute(meta.insert().values(**first, written_by=__version__))
        else:
            connection.execute(meta.update().values(written_by=__version__))
        return _nonce(connection)


def upgrade(connection: Connection, version: str) -> None:
    """Run the migrations up to `version` on a connection, in its transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def _version(connection: Connection, place: Place, *, create: bool) -> str | None:
    """Return the version of the tables; None when there are none yet, and they may be made."""
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE in tables:
        found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        if found in VERSIONS:
            return str(found)
        raise GradebookError(
            f"{place.shown}: this gradebook is from a newer Kata: its tables have version {found}, "
            f"and Kata {__version__} knows them up to {VERSIONS[-1]}.",
            "Install the newer Kata, or name another gradebook with --gradebook. Nothing was changed.",
        )
    if tables:
        raise GradebookUsageError(
            f"{place.shown}: this database holds other tables ({_few(tables)}) and is no gradebook.",
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
