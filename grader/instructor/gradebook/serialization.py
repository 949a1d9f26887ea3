"""How values go into the tables and come out of them: text that every database takes, JSON, packed files."""

from __future__ import annotations

import math
import zlib
from functools import cache
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.errors import CorruptRecordError, SerializationError
from grader.instructor.gradebook.records import Booked
from grader.instructor.submissions.submission import Bundle
from grader.report.json_text import encode
from grader.report.report import KataReport

_INSERTS = {table.name: table.insert() for table in schema.metadata.sorted_tables}
"""Built once: some run for every submission."""
_REPORTS = msgspec.json.Decoder(KataReport)
_TEXTS = msgspec.json.Decoder(tuple[str, ...])
_ARGUMENTS = msgspec.json.Decoder(dict[str, Any])
T = TypeVar("T")


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
    """Return an attempt's status, points and maximum as recorded with its report.

    Raises:
        CorruptRecordError: they are damaged.
    """
    try:
        return msgspec.convert((row.status, row.score, row.max_score), Booked)
    except msgspec.ValidationError as error:
        raise CorruptRecordError(f"a mark is damaged ({error})") from None


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
    speeds = [check.speed for check in report.checks if check.speed]
    numbers = [report.earned, report.possible, report.duration_s]
    numbers += [number for check in report.checks for number in (check.points, check.max_points)]
    numbers += [n for speed in speeds for n in (speed.threshold, speed.value or 0.0, *speed.numbers)]
    if not all(map(math.isfinite, numbers)):
        raise SerializationError(f"a report of {report.kata} cannot be stored: a number in it is not finite")
    try:
        return encode(report).decode()
    except (OverflowError, TypeError, ValueError) as error:
        raise SerializationError(f"a report of {report.kata} cannot be stored: {error}") from None


def report_of(text: Any) -> KataReport:
    """Return the report that `report_to_json` wrote.

    Raises:
        CorruptRecordError: it is damaged.
    """
    return decoded(_REPORTS, text, "a report")


def decoded(decoder: msgspec.json.Decoder[T], text: Any, what: str) -> T:
    """Return what stored JSON says.

    Raises:
        CorruptRecordError: it is damaged; `what` names it.
    """
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise CorruptRecordError(f"{what} is damaged ({error})") from None


def texts_of(text: Any) -> tuple[str, ...]:
    """Return a list of texts: what was noted of a hand-in, whom a name could mean."""
    return decoded(_TEXTS, text, "a list of texts")


def arguments_of(text: Any) -> dict[str, Any]:
    """Return what a run was asked for."""
    return decoded(_ARGUMENTS, text, "what a run was asked for")


def pack_bundle(bundle: Bundle) -> tuple[bytes, int]:
    """Return what was handed in as `schema.contents` keeps it, and its size."""
    whole = msgspec.msgpack.encode((bundle.main, bundle.files))
    return zlib.compress(whole, 6), len(whole)


def unpack_bundle(content: bytes, size: int, digest: str) -> Bundle:
    """Return what `pack_bundle` packed.

    Raises:
        CorruptRecordError: it is damaged.
    """
    why = "its content is not what was handed in"
    try:
        # No more than was packed and a byte: a damaged size must not unpack to gigabytes.
        whole = zlib.decompressobj().decompress(content, size + 1)
        bundle = Bundle(*msgspec.msgpack.decode(whole, type=tuple[str, dict[str, bytes]]))
        if bundle.digest == digest:
            return bundle
    except (zlib.error, msgspec.MsgspecError, TypeError, ValueError) as error:
        why = str(error)
    raise CorruptRecordError(f"what was handed in is damaged ({why})")
