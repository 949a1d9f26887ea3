"""The tables, as this version knows them, and how values go into them and come out: text, JSON, packed files."""

from __future__ import annotations

import math
import zlib
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    DateTime,
    Dialect,
    Double,
    Executable,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    func,
    literal,
)
from sqlalchemy.dialects import postgresql, sqlite

from grader.instructor.gradebook.errors import CorruptRecordError, SerializationError
from grader.instructor.submissions.submission import Bundle
from grader.report.json_text import encode
from grader.report.report import KataReport, KataStatus


class UtcTime(TypeDecorator[datetime]):
    """A moment, in UTC. SQLite has no such type: there it is ISO 8601 text of fixed width, which sorts."""

    impl = String(32)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Return the database's own type."""
        own = DateTime(timezone=True) if dialect.name == "postgresql" else String(32)
        return dialect.type_descriptor(own)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Bring a moment to UTC; one without a zone would mean something else on every machine."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone cannot be kept in the gradebook")
        moment = value.astimezone(UTC)
        # Always with microseconds: texts of one width sort like the times.
        return moment if dialect.name == "postgresql" else moment.isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Return a moment in UTC.

        Raises:
            CorruptRecordError: what is stored is not one.
        """
        if value is None:
            return None
        try:
            moment: datetime = value if isinstance(value, datetime) else datetime.fromisoformat(value)
            return moment.astimezone(UTC)
        except (ValueError, TypeError, OverflowError) as error:
            raise CorruptRecordError(f"a time is damaged ({error})") from None


class OrNothing(TypeDecorator[str]):
    """Text, or None, which the tables have as empty text.

    They did before it was None here, and SQLite makes no column optional without copying the whole table.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str:
        """Return what is stored."""
        return value or ""

    def column_expression(self, column: Any) -> Any:
        """Let the database return None: a class has tens of thousands of rows."""
        return func.nullif(column, "")


metadata = MetaData(
    # Named alike in both databases, so that a later version can refer to them.
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

version = Table("kata_version", metadata, Column("version_num", String(32), primary_key=True))
"""One row: the version of all tables."""

meta = Table(
    "meta",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1", name="single"), primary_key=True, autoincrement=False),
    # Seeds derive from it, so a gradebook has one for good.
    Column("nonce", LargeBinary, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("written_by", Text, nullable=False),
)

learners = Table(
    "learners",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

katas = Table(
    "katas",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("slug", Text, nullable=False, unique=True),
    Column("number", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("started_at", UtcTime, nullable=False),
    Column("finished_at", UtcTime),
    Column("arguments", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("planned", Integer),
    Column("stopped_at", UtcTime),
)
"""`planned` counts what was in the download, a learner and a kata each. Where a run was killed, it neither finished nor
stopped."""

NOTHING = literal(None, OrNothing())
"""In a query: no digest, or no terms."""

awaited = Table(
    "awaited",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True, autoincrement=False),
    Column("learner", Text, primary_key=True),
    Column("kata", Text, primary_key=True),
)
"""What a run has not come to yet. By names: nobody is in the class for what a run that was stopped never looked at."""

unused_times = Table(
    "unused_times",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("kata", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("line", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("reason", Text, nullable=False),
    Column("candidates", Text, nullable=False),
)
"""Lines of tables of times that are nobody's, until the same table is read again. `candidates` is JSON: whom the name
could mean."""

contents = Table(
    "contents",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("size", Integer, nullable=False),
    Column("bundle", LargeBinary, nullable=False),
)
"""What was handed in, once for each content: MessagePack, deflated; `size` is that before deflating."""

attempts = Table(
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False, index=True),
    Column("learner_id", ForeignKey("learners.id"), nullable=False),
    Column("kata_id", ForeignKey("katas.id"), nullable=False),
    Column("content", ForeignKey("contents.digest"), index=True),
    Column("digest", OrNothing, nullable=False),
    Column("terms", OrNothing, nullable=False),
    Column("submitted_at", UtcTime),
    Column("graded_at", UtcTime, nullable=False),
    Column("status", Text, nullable=False),
    Column("score", Double, nullable=False),
    Column("max_score", Double, nullable=False),
    Column("seed", Text, nullable=False),
    Column("isolation", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("duration_s", Double, nullable=False),
    Column("versions", Text, nullable=False),
    # Last, because SQLite reads a row from its beginning: marks are read without the long text after them.
    Column("report", Text, nullable=False),
    # Looked up by its index alone.
    Column("redrawn", Integer, index=True),
    Index(None, "learner_id", "kata_id"),
)
"""`redrawn` is how often its checks were drawn again because the reference failed the draw; mostly there is none."""

submissions = Table(
    "submissions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("learner_id", ForeignKey("learners.id"), nullable=False),
    Column("kata_id", ForeignKey("katas.id"), nullable=False),
    Column("digest", OrNothing, nullable=False),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False),
    Column("run_id", ForeignKey("runs.id"), nullable=False, index=True),
    Column("seen", Integer, nullable=False),
    Column("submitted_at", UtcTime),
    Column("time_source", Text),
    Column("origin", Text),
    Column("notes", Text, nullable=False),
    # At the end, where a gradebook of an earlier version gets it.
    Column("arrived", ForeignKey("runs.id")),
    Column("timed", ForeignKey("runs.id")),
    Column("taken", Text),
    Column("proposed", Text),
    Column("proposed_because", Text),
    Index(None, "learner_id", "kata_id"),
)
"""What was handed in, for ever: a row for each content and each time that it came in with. `attempt_id` is the newest
grading of that content, `run_id` the run that saw it last. `arrived` is the run that it came in with last, and `seen`
counts what a learner handed in for a kata: together the order of arrival. `timed` is the run that `submitted_at` became
known in. `taken` is the name of the file where it is the answer only because somebody decided so, `proposed` a file
that came in with it, or since, and may be it, `proposed_because` why. `notes` are for people; no code reads them.
Which of them counts is computed. Where nothing could be read there is no digest, and one row."""

decisions = Table(
    "decisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", Text, nullable=False, index=True),
    Column("learner_id", ForeignKey("learners.id")),
    Column("kata_id", ForeignKey("katas.id")),
    Column("value", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("revoked_at", UtcTime),
    Column("revoked_by", Text),
    Column("revoked_because", Text),
    Index(None, "learner_id", "kata_id"),
)
"""Everything that people decide, never changed but for a revocation. `value` is JSON, as `records.Decision` says.
Without a learner it holds for the whole class."""

answers = Table(
    "answers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False, index=True),
    Column("learner_id", ForeignKey("learners.id"), nullable=False),
    Column("kata_id", ForeignKey("katas.id"), nullable=False),
    Column("content", ForeignKey("contents.digest"), nullable=False),
    Column("answered", Text, nullable=False),
    Column("submitted_at", UtcTime),
    Column("time_source", Text),
    Column("origin", Text),
    Column("at", UtcTime, nullable=False),
    Index(None, "learner_id", "kata_id"),
)
"""Written answers as they were handed in, never changed. `answered` is JSON: by question, a digest of what was written;
questions without an answer are not in it."""

pushes = Table(
    "pushes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("learner_id", ForeignKey("learners.id"), nullable=False),
    Column("target", Text, nullable=False, index=True),
    Column("points", Double, nullable=False),
    Column("before", Double),
    Column("arrived", Boolean, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
)
"""Marks that were set in another system, never changed: a row before a mark is sent, and one when it has arrived.
`target` is the assignment's address there, `before` the mark that was there."""

computed = Table(
    "computed",
    metadata,
    Column("name", Text, primary_key=True),
    Column("stamp", Text, nullable=False),
    Column("value", LargeBinary, nullable=False),
)
"""What takes long to compute from the rest, once for everybody: true as long as `stamp` is what it would be now."""


_INSERTS = {table.name: table.insert() for table in metadata.sorted_tables}
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


def insert_unless_there(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Add a row, or leave the one that has its key as it is."""
    connection.execute(_unless_there(table, connection.dialect.name), row)


@cache
def _unless_there(table: Table, dialect: str) -> Executable:
    made = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    return made.on_conflict_do_nothing()


class Booked(NamedTuple):
    """What an attempt gave, before lateness and decisions, as recorded with its report."""

    status: KataStatus
    score: float
    max_score: float


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
