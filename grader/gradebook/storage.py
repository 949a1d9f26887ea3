"""How values go into the tables and come out of them: text that every database takes, JSON, packed files."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite

from grader.gradebook import schema
from grader.reports.model import KataReport
from grader.submissions.model import Bundle

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


def storable(text: str) -> str:
    """Return text that every database takes: no zero bytes, no half characters; different stays different."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def storable_or_none(text: str | None) -> str | None:
    """Return the same of text that may not be there."""
    return None if text is None else storable(text)


def to_json(value: Any) -> str:
    """Return anything that msgspec knows as JSON."""
    try:
        return msgspec.json.encode(value).decode("utf-8")
    except UnicodeEncodeError:  # half a character, from a file's name or a submission's print
        return msgspec.json.encode(_clean(msgspec.to_builtins(value))).decode("utf-8")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {_clean(name): _clean(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


def report_of(text: str) -> KataReport:
    """Return the report that `to_json` wrote."""
    return _REPORTS.decode(text)


def packed(bundle: Bundle) -> tuple[bytes, int]:
    """Return what was handed in as `schema.contents` keeps it, and its size."""
    whole = msgspec.msgpack.encode((bundle.main, bundle.files))
    return zlib.compress(whole, 6), len(whole)


def unpacked(kept: bytes, size: int) -> Bundle:
    """Return what `packed` packed."""
    whole = zlib.decompressobj().decompress(kept, size + 1)
    main, files = msgspec.msgpack.decode(whole, type=tuple[str, dict[str, bytes]])
    return Bundle(main, files)
