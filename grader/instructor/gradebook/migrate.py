"""Create a gradebook's tables, or bring those of an earlier version up to date; refuse any other version."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from grader import __version__
from grader.instructor.gradebook.database import OPENING, Address, backup_of, check_file
from grader.instructor.gradebook.errors import GradebookError, GradebookUsageError
from grader.instructor.gradebook.schema import (
    UtcTime,
    awaited,
    computed,
    meta,
    metadata,
    unused_times,
    version,
)


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


def _checks_that_were_drawn_again(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE results ADD COLUMN redrawn INTEGER"))


def _checks_in_reports_alone(connection: Connection) -> None:
    """Drop what each check said from the tables: an attempt's report says the same, and more."""
    connection.execute(text("ALTER TABLE attempts ADD COLUMN redrawn INTEGER"))
    connection.execute(text("CREATE INDEX ix_attempts_redrawn ON attempts (redrawn)"))
    draws = "SELECT attempt_id, SUM(redrawn) AS draws FROM results WHERE redrawn > 0 GROUP BY attempt_id"
    counted = text("UPDATE attempts SET redrawn = :draws WHERE id = :attempt_id")
    for row in connection.execute(text(draws)).mappings().all():
        connection.execute(counted, dict(row))
    connection.execute(text("DROP TABLE results"))
    connection.execute(text("DROP TABLE checks"))


_TAKEN = re.compile(r".+ was taken for [^/ ]+\.(?:py|ipynb), as was decided", re.DOTALL)
_MAY_BE = " may be the answer: "
_REASON = re.compile(
    r"it is called so, and is not among what counts|it has this name with another ending|its name is similar"
    r"|its name contains the module's|it defines (?:the|\d+ of \d+) names? that \S+ must have"
)


def _what_hand_ins_are(connection: Connection) -> None:
    """Read once from notes what they were the only place for: a file that was taken by decision, one that may be meant.

    Until then a note ended so, and another note could: a folder's name was in it. So a note counts only where it begins
    with the file's own place, as those did, and a proposal only where it is the last and its reason is one of ours.
    """
    for column in ("taken", "proposed", "proposed_because"):
        connection.execute(text(f"ALTER TABLE submissions ADD COLUMN {column} TEXT"))
    wanted = text(
        "SELECT id, kata_id, origin, notes FROM submissions WHERE notes LIKE :taken OR notes LIKE :proposed"
    )
    rows = connection.execute(wanted, {"taken": "%, as was decided%", "proposed": f"%{_MAY_BE}%"}).all()
    decided = text("SELECT kata_id, value FROM decisions WHERE kind = 'take'")
    takes = [
        (row.kata_id, str(json.loads(row.value)).rpartition("/")[2]) for row in connection.execute(decided)
    ]
    for row in rows:
        try:
            notes = [str(note) for note in json.loads(row.notes)]
        except ValueError:  # a damaged row stays as it is
            continue
        where = row.origin or ""
        taken = next(
            (note for note in notes if where and note.startswith(where) and _TAKEN.fullmatch(note)), None
        )
        file, may_be, reason = notes[-1].rpartition(_MAY_BE) if notes else ("", "", "")
        values: dict[str, str | None] = dict.fromkeys(("taken", "proposed", "proposed_because"))
        if taken is not None:
            place = taken.rpartition(" was taken for ")[0]
            values["taken"] = _file_taken(place, [name for kata, name in takes if kata == row.kata_id])
        if may_be and _REASON.fullmatch(reason):
            values |= {"proposed": file, "proposed_because": reason}
            notes.pop()
        changed = text(
            "UPDATE submissions SET taken = :taken, proposed = :proposed, proposed_because = :proposed_because, "
            "notes = :notes WHERE id = :id"
        )
        text_of_notes = json.dumps(notes, ensure_ascii=False, separators=(",", ":"))
        connection.execute(changed, {**values, "notes": text_of_notes, "id": row.id})


def _file_taken(place: str, decided: list[str]) -> str:
    """Return a file's name by where it lay: in brackets is what the learner called it, else it is the end.

    After a folder, an archive, or the number that Canvas and others put before it (`…_9001_masks.py`), so that
    my_masks.py is not taken for masks.py.
    """
    fit = [name for name in decided if re.search(rf"(?:^|[/ (]|\d_){re.escape(name)}\)?$", place)]
    return max(fit, key=len, default=re.split(r"[/ (]", place)[-1].removesuffix(")"))


_STEPS: dict[str, Callable[[Connection], None]] = {
    "0005": partial(_add_run, column="arrived"),
    "0006": _what_runs_have_left,
    "0007": unused_times.create,
    "0008": _checks_that_were_drawn_again,
    "0009": partial(_add_run, column="timed"),
    "0010": _what_hand_ins_are,
    "0011": _checks_in_reports_alone,
    "0012": computed.create,
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
        found = _version(connection, place, create=create)
        if found == VERSION:
            return _nonce(connection)
        if found is not None:
            check_file(connection, place, OPENING)  # before anything is written to it
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
            if place.file is not None:
                _back_up(place, place.file, found)
            for step in (step for since, step in _STEPS.items() if since >= found):
                step(connection)
            connection.execute(version.update().values(version_num=VERSION))
        return _nonce(connection)


def _back_up(place: Address, file: Path, found: str) -> None:
    """Copy a gradebook as it is before its tables change, next to it; nobody else writes meanwhile.

    Raises:
        GradebookError: the copy cannot be written; nothing has changed.
    """
    backup = backup_of(file, found)
    try:
        # A folder of our own first: whole or not at all, and never readable by others, since it holds marks.
        with tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
            copy = Path(folder) / backup.name
            with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
                source.backup(target)
            copy.chmod(file.stat().st_mode & 0o777)
            os.replace(copy, backup)
    except (OSError, sqlite3.Error) as error:
        raise GradebookError(
            f"{place.display}: no backup can be made of it before it is brought up to date ({error}).",
            f"Nothing was changed. {backup.name} must fit into its folder, and be allowed there.",
        ) from error


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
        some = ", ".join(sorted(tables)[:3]) + (", …" if len(tables) > 3 else "")
        raise GradebookUsageError(
            f"{place.display}: this database holds other tables ({some}) and is not a gradebook.",
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
