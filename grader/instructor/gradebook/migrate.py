"""Create a gradebook's tables, or bring those of an earlier version up to date; refuse any other version."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection, Engine, inspect, text

from grader import __version__
from grader.instructor.gradebook.database_url import Address
from grader.instructor.gradebook.errors import GradebookError, GradebookUsageError
from grader.instructor.gradebook.schema import UtcTime, awaited, meta, metadata, unused_times, version


def _add_run(connection: Connection, column: str) -> None:
    """Add a column to `submissions`: until then `run_id`, the run that saw a hand-in last, was that run, too."""
    key = f"CONSTRAINT fk_submissions_{column} REFERENCES runs (id)"
    connection.execute(text(f"ALTER TABLE submissions ADD COLUMN {column} INTEGER {key}"))
    connection.execute(text(f"UPDATE submissions SET {column} = run_id"))


def _what_runs_have_left(connection: Connection) -> None:
    time = UtcTime().load_dialect_impl(connection.dialect).compile(connection.dialect)
    connection.execute(text("ALTER TABLE runs ADD COLUMN planned INTEGER"))
    connection.execute(text(f"ALTER TABLE runs ADD COLUMN stopped_at {time}"))
    awaited.create(connection)


def _times_that_are_nobodys(connection: Connection) -> None:
    unused_times.create(connection)


def _checks_that_were_drawn_again(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE results ADD COLUMN redrawn INTEGER"))


_STEPS: dict[str, Callable[[Connection], None]] = {
    "0005": partial(_add_run, column="arrived"),
    "0006": _what_runs_have_left,
    "0007": _times_that_are_nobodys,
    "0008": _checks_that_were_drawn_again,
    "0009": partial(_add_run, column="timed"),
}
"""By the version that it starts from, oldest first: what makes tables those of the next version."""

VERSION = f"{int(max(_STEPS)) + 1:04}"
"""Of the tables in `schema`. A change of them needs a step."""

NONCE_BYTES = 32
ADVISORY_KEY = 0x6B617461
"""Ours among PostgreSQL's advisory locks: "kata"."""


def prepare(engine: Engine, place: Address, *, create: bool) -> bytes:
    """Create the tables unless they exist, or bring them up to date; return the gradebook's nonce.

    Raises:
        GradebookUsageError: what is there is no gradebook, or nothing is there and `create` is false.
        GradebookError: its tables have another version.
        SQLAlchemyError: the database refused.
    """
    with engine.connect() as connection:
        if _version(connection, place, create=create) == VERSION:
            return _nonce(connection)
    if place.file is not None:
        place.enable_wal(engine)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if place.file is None:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_KEY})
        # Another process may have been faster.
        found = _version(connection, place, create=create)
        if found is None:
            metadata.create_all(connection)
            connection.execute(version.insert().values(version_num=VERSION))
            now = datetime.now(UTC)
            first = {"id": 1, "nonce": os.urandom(NONCE_BYTES), "created_at": now, "created_by": __version__}
            connection.execute(meta.insert().values(**first, written_by=__version__))
        elif found != VERSION:
            for step in (step for since, step in _STEPS.items() if since >= found):
                step(connection)
            connection.execute(version.update().values(version_num=VERSION))
        return _nonce(connection)


def _version(connection: Connection, place: Address, *, create: bool) -> str | None:
    """Return the version of the tables, which can be brought up to date; None where they may be created.

    Raises:
        GradebookUsageError: what is there is no gradebook, or nothing is there and `create` is false.
        GradebookError: its tables have another version.
    """
    tables = inspect(connection).get_table_names()
    if version.name in tables:
        found = str(connection.execute(version.select()).scalar())
        if found == VERSION or found in _STEPS:
            return found
        age, other = ("a newer", "newer") if found > VERSION else ("an earlier", "earlier")
        raise GradebookError(
            f"{place.display}: this gradebook is from {age} Kata: its tables have version {found}, "
            f"and Kata {__version__} reads versions {min(_STEPS)} to {VERSION}.",
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
    return None


HOW_MADE = "kata grade SUBMISSIONS makes one; --gradebook names another."


def _nonce(connection: Connection) -> bytes:
    return bytes(connection.execute(meta.select()).one().nonce)


def _few(names: list[str]) -> str:
    return ", ".join(sorted(names)[:3]) + (", …" if len(names) > 3 else "")
