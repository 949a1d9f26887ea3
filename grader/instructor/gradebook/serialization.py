"""How values go into the tables and come out of them: text that every database takes, JSON, packed files."""

from __future__ import annotations

import math
import zlib
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.errors import CorruptRecordError, SerializationError
from grader.instructor.gradebook.records import Booked
from grader.instructor.submissions.submission import Bundle
from grader.report.json_text import encode, escape_surrogates
from grader.report.report import SCHEMA, KataReport

_INSERTS = {table.name: table.insert() for table in schema.metadata.sorted_tables}
"""Built once: some run for every submission."""
_REPORTS = msgspec.json.Decoder(KataReport)


def insert(connection: Connection, table: Table, **columns: Any) -> int:
    """Add a row, and return its number."""
    made = connection.execute(_INSERTS[table.name], columns).inserted_primary_key
    assert made is not None
    return int(made[0])


def insert_all(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Add any number of rows that have no number of their own."""
    if rows:
        connection.execute(_INSERTS[table.name], rows)


def insert_unless_there(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Add a row, or leave the one that has its key as it is."""
    connection.execute(_unless_there(table, connection.dialect.name), row)


@cache
def _unless_there(table: Table, dialect: str) -> Executable:
    made = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    return made.on_conflict_do_nothing()


def booked(row: Any) -> Booked:
    """Return an attempt's status, points and maximum as recorded with its report; else an error of no points."""
    try:
        found = msgspec.convert((row.status, row.score, row.max_score), Booked)
        # A damaged number may be infinite, and would make every total that.
        if math.isfinite(found.score + found.max_score):
            return found
    except msgspec.ValidationError:
        pass
    return Booked("error", 0.0, 0.0)


def sanitize(text: str) -> str:
    """Return text that every database takes: no zero bytes, no half characters; different stays different."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def storable_or_none(text: str | None) -> str | None:
    """Return the same of text that may not be there."""
    return None if text is None else sanitize(text)


def report_to_json(report: KataReport) -> str:
    """Return a report as the gradebook keeps it: what is read again is equal, but for half characters.

    Raises:
        SerializationError: it would not be: a number that is none or has no end, say, which JSON cannot hold.
    """
    try:
        text = encode(report).decode()
        # Read back before it is written: what cannot be read again would be a mark without its report.
        again = report_of(text)
        if again == report or again == msgspec.convert(
            escape_surrogates(msgspec.to_builtins(report)), KataReport
        ):
            return text
        why = "it would not be read again as it is"
    except (CorruptRecordError, OverflowError, TypeError, ValueError, RecursionError) as error:
        why = str(error)
    raise SerializationError(f"a report of {report.kata} cannot be stored: {why}")


def report_of(text: Any) -> KataReport:
    """Return the report that `report_to_json` wrote.

    Raises:
        CorruptRecordError: it is damaged, or from another version.
    """
    try:
        report = _REPORTS.decode(text)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise CorruptRecordError(f"it is damaged ({error})") from None
    if report.schema != SCHEMA:
        raise CorruptRecordError(f"it has schema {report.schema}; this version reads {SCHEMA}")
    numbers = [report.earned, report.possible, report.duration_s]
    numbers += [number for check in report.checks for number in (check.points, check.max_points)]
    if not all(map(math.isfinite, numbers)):  # 1e999 is JSON
        raise CorruptRecordError("it is damaged (a number in it is infinite)")
    return report


def is_valid_report(text: Any) -> bool:
    """Whether `report_of` can read it."""
    try:
        report_of(text)
    except CorruptRecordError:
        return False
    return True


def notes_of(text: Any) -> tuple[str, ...]:
    """Return what was noted of a hand-in; a sentence that says so where it is damaged."""
    try:
        return msgspec.json.decode(text, type=tuple[str, ...])
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return ("the notes of this row cannot be read",)


def arguments_of(text: Any) -> dict[str, Any]:
    """Return what a run was asked for; nothing where that is damaged."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, TypeError, ValueError):
        return {}


def pack_bundle(bundle: Bundle) -> tuple[bytes, int]:
    """Return what was handed in as `schema.contents` keeps it, and its size."""
    whole = msgspec.msgpack.encode((bundle.main, bundle.files))
    return zlib.compress(whole, 6), len(whole)


def unpack_bundle(content: bytes, size: int, digest: str) -> Bundle:
    """Return what `pack_bundle` packed.

    Raises:
        CorruptRecordError: it is damaged.
    """
    try:
        # No more than was packed and a byte: a damaged size must not unpack to gigabytes.
        whole = zlib.decompressobj().decompress(content, size + 1)
        bundle = Bundle(*msgspec.msgpack.decode(whole, type=tuple[str, dict[str, bytes]]))
        if bundle.digest == digest:
            return bundle
    except (zlib.error, msgspec.MsgspecError, TypeError, ValueError) as error:
        raise CorruptRecordError(f"it is damaged ({error})") from None
    raise CorruptRecordError("it is damaged (its content is not what was handed in)")
