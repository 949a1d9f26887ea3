"""The gradebook: what was graded, durably; what counts, computed when it is asked for."""

from __future__ import annotations

import math
import os
import socket
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Engine, Select, Table, and_, bindparam, distinct, func, select
from sqlalchemy.exc import SQLAlchemyError

from grader import __version__
from grader.gradebook import schema
from grader.gradebook.course import Course
from grader.gradebook.errors import GradebookError, GradebookUsageError
from grader.gradebook.lock import FileLock, ServerLock
from grader.gradebook.marks import settle
from grader.gradebook.migrate import HOW_MADE, prepare
from grader.gradebook.model import (
    Adjustment,
    Attempt,
    CheckRate,
    Event,
    Key,
    MisconceptionCount,
    Row,
    Run,
)
from grader.gradebook.order import natural_key
from grader.gradebook.place import DEFAULT, Place, pragma, redact
from grader.gradebook.trouble import OPENING, gone, refused_file, told
from grader.reports.model import KataReport
from grader.submissions.model import Bundle, Submission

__all__ = ["DEFAULT", "Argument", "Gradebook", "GradebookError", "GradebookUsageError"]

Argument = str | int | float | None | list[str]
"""What a run was asked for, by option."""

_CHUNK = 50
"""Learners that are read at once: few queries, and memory that does not grow with the class."""
_INSERTS = {table.name: table.insert() for table in schema.metadata.sorted_tables}
# Statements that run once for every submission are built once.
_KEYS = (
    select(schema.katas.c.slug, schema.attempts.c.digest, schema.attempts.c.terms)
    .select_from(schema.learners)
    .join(schema.submissions, schema.submissions.c.learner_id == schema.learners.c.id)
    .join(schema.attempts, schema.attempts.c.id == schema.submissions.c.attempt_id)
    .join(schema.katas, schema.katas.c.id == schema.submissions.c.kata_id)
    .where(schema.learners.c.name == bindparam("learner"))
)
_NEWEST = _KEYS.where(schema.katas.c.slug == bindparam("kata")).add_columns(
    schema.submissions.c.learner_id, schema.submissions.c.kata_id
)
_SIZE = select(schema.contents.c.size).where(schema.contents.c.digest == bindparam("digest"))
_GRADED = select(func.count(distinct(schema.attempts.c.digest))).where(
    schema.attempts.c.learner_id == bindparam("learner"),
    schema.attempts.c.kata_id == bindparam("kata"),
    schema.attempts.c.digest != "",
)
_MINE = and_(
    schema.submissions.c.learner_id == bindparam("learner"), schema.submissions.c.kata_id == bindparam("kata")
)
_STANDS = (
    schema.submissions.update()
    .where(_MINE)
    .values(
        {name: bindparam(name) for name in ("run_id", "origin", "notes", "attempt_id", "submitted_at")}
        | {"attempts": _GRADED.scalar_subquery()}
    )
)
_SEEN_AGAIN = (
    schema.submissions.update()
    .where(_MINE)
    .values(
        {name: bindparam(name) for name in ("run_id", "origin", "notes")}
        | {
            "submitted_at": func.coalesce(
                bindparam("anew", type_=schema.UtcTime), schema.submissions.c.submitted_at
            )
        }
    )
)
_NEVER = "Nothing of this learner was graded for this kata."


class Gradebook:
    """A class's marks in a database. Open it with `Gradebook.open`; it is a context manager.

    One object may be used by several threads. Every method raises `GradebookError` when the database refuses; what was
    recorded before stays.
    """

    def __init__(self, place: Place, engine: Engine, nonce: bytes, course: Course) -> None:
        self.nonce = nonce
        """32 random bytes, made with the gradebook; the seeds of hidden checks derive from them."""
        self.course = course
        """The settings that `rows` follows: names, due dates, what lateness costs."""
        self._place = place
        self._engine = engine
        self._guard = threading.RLock()
        self._run: int | None = None
        self._connection: Connection | None = None
        self._lock: FileLock | ServerLock | None = None
        self._known: dict[tuple[Any, ...], int] = {}

    @classmethod
    def open(cls, where: str, *, create: bool, course: Course | None = None) -> Gradebook:
        """Open a gradebook, bringing it up to this version.

        Args:
            where: a path, or an address such as `postgresql://USER:PASSWORD@HOST/DATABASE`.
            create: make it when nothing is there.
            course: what `rows` follows; without, nothing is late and identities are names.

        Raises:
            GradebookUsageError: there is none, or something else.
            GradebookError: it is locked, read-only, damaged, from a newer version, or its server is not there.
        """
        place = Place.parse(where)
        if place.file is not None:
            if place.file.is_dir():
                raise GradebookUsageError(
                    f"{place.shown}: this is a folder; a gradebook is a file.", HOW_MADE
                )
            if not create and not place.file.exists():
                raise GradebookUsageError(f"{place.shown}: there is no gradebook.", HOW_MADE)
            if not place.file.parent.is_dir():
                raise GradebookUsageError(
                    f"{place.shown}: its folder does not exist.",
                    "Make it, or name another.",
                )
        engine = place.engine()
        try:
            with told(place, OPENING):
                nonce = prepare(engine, place, create=create)
        except BaseException:
            engine.dispose()
            raise
        return cls(place, engine, nonce, course or Course())

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End this process's run, unfinished if it is, and let the database go. Twice is fine."""
        with self._guard:
            self._release()
            self._engine.dispose()

    @property
    def where(self) -> str:
        """The address as people may see it, without a password."""
        return self._place.shown

    # A run

    def start_run(self, arguments: Mapping[str, Argument]) -> int:
        """Begin grading; until `finish_run` or `close`, no other process can.

        Args:
            arguments: what the run was asked for, kept so that it can be repeated; passwords in addresses are not.

        Raises:
            GradebookError: another run grades into this gradebook.
        """
        doing = "starting a run"
        with self._guard:
            if self._run is not None:
                raise ValueError("this gradebook object is in a run already")
            try:
                with told(self._place, doing):
                    self._acquire()
                    assert self._connection is not None
                    with self._connection.begin():
                        made = self._connection.execute(
                            schema.runs.insert().values(
                                started_at=datetime.now(UTC),
                                arguments=_json(
                                    {name: _redacted(value) for name, value in arguments.items()}
                                ),
                                version=__version__,
                                host=_text(socket.gethostname()),
                                process=os.getpid(),
                            )
                        )
            except BaseException:
                self._release()
                raise
            key = made.inserted_primary_key
            assert key is not None
            self._run = int(key[0])
            return self._run

    def finish_run(self, run: int) -> None:
        """End the run: everything that was to be graded is."""
        with self._guard:
            with self._writing(run, "finishing the run") as connection:
                connection.execute(
                    schema.runs.update().where(schema.runs.c.id == run).values(finished_at=datetime.now(UTC))
                )
            self._release()

    def keys(self, learner: str) -> dict[str, Key]:
        """Return, by kata, what the learner's newest attempts depended on."""
        with self._reading(f"reading what {learner} has") as connection:
            found = connection.execute(_KEYS, {"learner": _text(learner)})
            return {slug: Key(digest, terms) for slug, digest, terms in found}

    def record(self, run: int, submission: Submission, key: Key, report: KataReport) -> None:
        """Keep a report and what was graded, in one transaction; it is durable when this returns."""
        kept = msgspec.structs.replace(report, learner=submission.learner)
        doing = f"recording {submission.learner}, {submission.kata}"
        found: dict[tuple[Any, ...], int] = {}
        with self._guard:
            with self._writing(run, doing) as connection:
                learner = self._id(connection, found, schema.learners, name=_text(submission.learner))
                kata = self._kata(connection, found, submission.kata, report.number)
                attempt = self._insert(
                    connection,
                    schema.attempts,
                    run_id=run,
                    learner_id=learner,
                    kata_id=kata,
                    content=self._content(connection, submission.bundle),
                    digest=key.digest,
                    terms=key.terms,
                    submitted_at=submission.submitted_at,
                    graded_at=datetime.now(UTC),
                    status=report.status,
                    score=report.score,
                    max_score=report.max_score,
                    seed=str(report.seed),
                    isolation=report.isolation,
                    device=report.device,
                    duration_s=report.duration_s,
                    versions=_json(report.versions),
                    report=_json(kept),
                )
                self._results(connection, found, kata, attempt, report)
                self._stand(connection, run, submission, (learner, kata), attempt)
            self._known.update(found)  # only now is it sure that they are there

    def reuse(self, run: int, submission: Submission, key: Key) -> None:
        """Note that a submission was seen again, unchanged; it may have been handed in anew.

        Raises:
            ValueError: it is not what the newest attempt graded.
        """
        doing = f"recording {submission.learner}, {submission.kata}"
        with self._guard, self._writing(run, doing) as connection:
            whose = {"learner": _text(submission.learner), "kata": _text(submission.kata)}
            row = connection.execute(_NEWEST, whose).one_or_none()
            if row is None or Key(row.digest, row.terms) != key:
                raise ValueError(
                    f"{submission.learner}, {submission.kata}: there is no attempt with this key"
                )
            self._stand(connection, run, submission, (row.learner_id, row.kata_id), None)

    # What counts

    def rows(
        self, katas: Collection[str] | None = None, learners: Collection[str] | None = None
    ) -> Iterator[Row]:
        """Yield a row for every learner and kata, by learner (2 before 10), then by the kata's number.

        Learners are all that were graded and all of the roster; katas are those that were graded for anybody, as far as
        the course has them. Who is in the roster and was never graded has rows too, with status `missing`. What is
        read is one state of the gradebook, whatever is written meanwhile; memory does not grow with the class.

        Args:
            katas: only these, by slug, whatever the course says.
            learners: only these.
        """
        with self._reading("reading its rows", whole=True) as connection:
            chosen = self._katas(connection, katas)
            blanks: dict[int, KataReport] | None = None
            last_run = None
            for people in _chunks(self._people(connection, learners), _CHUNK):
                found = self._standing(connection, people, chosen)
                decided = self._decided(connection, people)
                for name, person in people:
                    for kata, (slug, _) in chosen.items():
                        row = found.get((person, kata))
                        adjusted = decided.get((person, kata), [])
                        if row is not None:
                            yield self._row(name, row, adjusted)
                            continue
                        if blanks is None:
                            blanks, last_run = self._blanks(connection, chosen), self._last_run(connection)
                        assert last_run is not None, slug
                        yield self._blank_row(name, blanks[kata], last_run, adjusted)

    def reports(
        self,
        run: int | None = None,
        katas: Collection[str] | None = None,
        learners: Collection[str] | None = None,
    ) -> Iterator[KataReport]:
        """Yield the newest reports as they were graded, in the order of `rows`.

        Args:
            run: only what this run saw last, whether it graded or reused it.
            katas: only these, by slug.
            learners: only these.
        """
        with self._reading("reading its reports", whole=True) as connection:
            chosen = self._katas(connection, katas)
            for people in _chunks(self._people(connection, learners), _CHUNK):
                found = self._standing(connection, people, chosen)
                for _, person in people:
                    for kata in chosen:
                        row = found.get((person, kata))
                        if row is not None and run in (None, row.run_id):
                            yield _report(row.report)

    def learners(self) -> list[str]:
        """Return everybody who was graded or is in the roster, in the order of `rows`."""
        with self._reading("reading its learners") as connection:
            return [name for name, _ in self._people(connection, None)]

    def katas(self) -> list[str]:
        """Return the katas that were graded for anybody, in the order of their numbers."""
        with self._reading("reading its katas") as connection:
            return [slug for slug, _ in self._katas(connection, None).values()]

    def runs(self) -> list[Run]:
        """Return every run, the newest last."""
        with self._reading("reading its runs") as connection:
            return [
                Run(
                    id=row.id,
                    started_at=row.started_at,
                    finished_at=row.finished_at,
                    arguments=msgspec.json.decode(row.arguments),
                    version=row.version,
                )
                for row in connection.execute(schema.runs.select().order_by(schema.runs.c.id))
            ]

    def check_rates(
        self, katas: Collection[str] | None = None, learners: Collection[str] | None = None
    ) -> list[CheckRate]:
        """Count, over the newest attempts, who passes each check; in the order of the katas, then of the checks."""
        checks, results = schema.checks, schema.results
        passed = func.count(results.c.attempt_id).filter(results.c.status == "pass")
        counted = func.count(results.c.attempt_id).filter(results.c.status != "skipped")
        with self._reading("counting its checks") as connection:
            chosen = self._katas(connection, katas)
            wanted = (
                self._newest_results(learners, passed, counted)
                .add_columns(
                    checks.c.kata_id, checks.c.function, checks.c.name, checks.c.aspect, checks.c.hidden
                )
                .where(checks.c.kata_id.in_(chosen))
                .group_by(checks.c.id)
                .order_by(func.min(results.c.position), checks.c.id)
            )
            rows = connection.execute(wanted).all()
        order = {kata: place for place, kata in enumerate(chosen)}
        return [
            CheckRate(
                kata=chosen[row.kata_id][0],
                id=row.function,
                name=row.name,
                aspect=row.aspect,
                hidden=row.hidden,
                passed=row[0],
                counted=row[1],
            )
            for row in sorted(rows, key=lambda row: order[row.kata_id])
        ]

    def misconceptions(
        self, katas: Collection[str] | None = None, learners: Collection[str] | None = None
    ) -> list[MisconceptionCount]:
        """Count, over the newest attempts, whose work shows each catalogued mistake; the most frequent first."""
        checks, results, submissions = schema.checks, schema.results, schema.submissions
        people = func.count(distinct(submissions.c.learner_id))
        with self._reading("counting misconceptions") as connection:
            chosen = self._katas(connection, katas)
            wanted = (
                self._newest_results(learners, people)
                .add_columns(checks.c.kata_id, results.c.misconception)
                .where(checks.c.kata_id.in_(chosen), results.c.misconception.is_not(None))
                .group_by(checks.c.kata_id, results.c.misconception)
            )
            rows = connection.execute(wanted).all()
        order = {kata: place for place, kata in enumerate(chosen)}
        rows = sorted(rows, key=lambda row: (-row[0], order[row.kata_id], row.misconception))
        return [
            MisconceptionCount(kata=chosen[row.kata_id][0], misconception=row.misconception, learners=row[0])
            for row in rows
        ]

    # What people decide, and how it came about

    def adjust(self, learner: str, kata: str, points: float, *, comment: str, author: str) -> int:
        """Give points, or take them when negative; return the adjustment's number, for `revoke`.

        Raises:
            GradebookUsageError: the learner or the kata is unknown, or the points are no number, or nothing says why.
        """
        return self._decide("adjust", learner, kata, points, comment, author)

    def override(self, learner: str, kata: str, points: float, *, comment: str, author: str) -> int:
        """Set the mark, whatever was graded, is late, or was adjusted before; return its number, for `revoke`.

        Raises:
            GradebookUsageError: as `adjust`, or the points are below 0.
        """
        if points < 0:
            raise GradebookUsageError(f"A mark cannot be {points:g}; it is 0 or more.")
        return self._decide("override", learner, kata, points, comment, author)

    def revoke(self, adjustment: int, *, author: str, comment: str = "") -> None:
        """Take an adjustment or an override back; the history keeps both.

        Raises:
            GradebookUsageError: there is no such adjustment, or it is revoked already.
        """
        table = schema.adjustments
        with self._guard, self._deciding("revoking an adjustment") as connection:
            row = connection.execute(select(table.c.revoked_at).where(table.c.id == adjustment)).one_or_none()
            if row is None:
                raise GradebookUsageError(
                    f"There is no adjustment {adjustment}.", "See: kata gradebook history LEARNER KATA"
                )
            if row.revoked_at is not None:
                raise GradebookUsageError(f"Adjustment {adjustment} is revoked already.")
            values = {
                "revoked_at": datetime.now(UTC),
                "revoked_by": _text(author),
                "revoked_because": _text(comment),
            }
            connection.execute(table.update().where(table.c.id == adjustment).values(**values))

    def history(self, learner: str, kata: str) -> list[Event]:
        """Return what happened to one mark: attempts, adjustments, overrides, revocations, oldest first.

        Raises:
            GradebookUsageError: the learner or the kata is unknown.
        """
        with self._reading(f"reading the history of {learner}") as connection:
            person, kata_id = self._find(connection, learner, kata)
            if person is None:
                return []
            events = [*self._attempt_events(connection, person, kata_id)]
            events += self._adjustment_events(connection, person, kata_id)
        return sorted(events, key=lambda event: event.at)

    def attempt(self, attempt: int) -> Attempt | None:
        """Return one grading, whole; None when there is none of this number."""
        table = schema.attempts
        wanted = (
            select(
                table.c.id,
                table.c.run_id,
                schema.learners.c.name,
                schema.katas.c.slug,
                table.c.digest,
                table.c.terms,
                table.c.submitted_at,
                table.c.graded_at,
                table.c.report,
            )
            .join(schema.learners, schema.learners.c.id == table.c.learner_id)
            .join(schema.katas, schema.katas.c.id == table.c.kata_id)
            .where(table.c.id == attempt)
        )
        with self._reading(f"reading attempt {attempt}") as connection:
            row = connection.execute(wanted).one_or_none()
        if row is None:
            return None
        return Attempt(
            id=row.id,
            run=row.run_id,
            learner=row.name,
            kata=row.slug,
            key=Key(row.digest, row.terms),
            report=_report(row.report),
            submitted_at=row.submitted_at,
            graded_at=row.graded_at,
        )

    def bundle(self, attempt: int) -> Bundle | None:
        """Return the files that an attempt graded; None when it had none, or there is no such attempt."""
        contents = schema.contents
        wanted = (
            select(contents.c.size, contents.c.bundle)
            .join(schema.attempts, schema.attempts.c.content == contents.c.digest)
            .where(schema.attempts.c.id == attempt)
        )
        with self._reading(f"reading what attempt {attempt} graded") as connection:
            row = connection.execute(wanted).one_or_none()
        return None if row is None else _unpacked(bytes(row.bundle), row.size)

    # Connections

    @contextmanager
    def _reading(self, doing: str, *, whole: bool = False) -> Iterator[Connection]:
        """Open a connection that sees one state of the gradebook.

        Args:
            doing: what for, in an error's words.
            whole: several queries must see the same state.
        """
        with told(self._place, doing), self._engine.connect() as connection:
            if whole and self._place.file is None:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def _writing(self, run: int, doing: str) -> Iterator[Connection]:
        """Open a transaction on the run's own connection, which holds the lock: no lock, no writing."""
        if self._connection is None or run != self._run:
            raise ValueError(f"run {run} is not this gradebook object's run")
        if self._connection.invalidated:  # a new connection would not hold the lock
            raise gone(self._place, doing, "the connection of this run is lost")
        with told(self._place, doing), self._connection.begin():
            yield self._connection

    @contextmanager
    def _deciding(self, doing: str) -> Iterator[Connection]:
        """Open a transaction for a person's word, which no machine can repeat: on the disk when it returns."""
        with told(self._place, doing), self._engine.connect() as connection:
            connection.execution_options(writes=True)
            with connection.begin():
                yield connection

    def _acquire(self) -> None:
        if self._place.file is not None:
            self._lock = lock = FileLock(self._place.file)
            try:
                taken = lock.acquire()
            except OSError as error:
                raise refused_file(error, self._place, "starting a run") from error
            if taken:
                # In the write-ahead log a killed process loses nothing even so. A power cut may take the last marks,
                # and they are graded again; what people decide is written with FULL.
                self._connection = pragma(self._engine, "synchronous = NORMAL").execution_options(writes=True)
                self._connection.detach()  # not back among the others with it
        else:
            self._connection = self._engine.connect()
            server_lock = ServerLock(self._connection)
            taken = server_lock.acquire()
            self._lock = server_lock if taken else None
        if not taken:
            raise self._busy()

    def _busy(self) -> GradebookError:
        """Say who else is grading."""
        open_runs = schema.runs.select().where(schema.runs.c.finished_at.is_(None))
        with self._reading("starting a run") as connection:
            row = connection.execute(open_runs.order_by(schema.runs.c.id.desc()).limit(1)).one_or_none()
        who = ""
        if row is not None:
            who = f" (process {row.process} on {row.host}, since {row.started_at:%Y-%m-%d %H:%M} UTC)"
        return GradebookError(
            f"{self.where}: another run is grading into this gradebook{who}.",
            "Wait until it is done, or name another gradebook with --gradebook.",
        )

    def _release(self) -> None:
        connection, lock = self._connection, self._lock
        self._run = self._connection = self._lock = None
        self._known.clear()
        with suppress(SQLAlchemyError):  # the server is gone, and the lock with it
            if connection is not None:
                with closing(connection):
                    if isinstance(lock, ServerLock) and not connection.invalidated:
                        lock.release()
        if isinstance(lock, FileLock):
            lock.release()

    # Writing

    def _id(
        self, connection: Connection, found: dict[tuple[Any, ...], int], table: Table, **columns: Any
    ) -> int:
        """Return the number of the row with these values, making it when there is none."""
        key = (table.name, *columns.values())
        number = self._known.get(key) or found.get(key)
        if number is None:
            same = and_(*(table.c[name] == value for name, value in columns.items()))
            number = connection.execute(select(table.c.id).where(same)).scalar()
            if number is None:
                number = self._insert(connection, table, **columns)
            found[key] = number
        return number

    def _kata(self, connection: Connection, found: dict[tuple[Any, ...], int], slug: str, number: str) -> int:
        """Return a kata's row; a pack may have given it another number since."""
        table = schema.katas
        key = (table.name, slug, number)
        known = self._known.get(key)
        if known is None:
            row = connection.execute(
                select(table.c.id, table.c.number).where(table.c.slug == slug)
            ).one_or_none()
            if row is None:
                known = self._insert(connection, table, slug=slug, number=number)
            else:
                known = int(row.id)
                if row.number != number:
                    connection.execute(table.update().where(table.c.id == known).values(number=number))
            found[key] = known
        return known

    def _insert(self, connection: Connection, table: Table, **columns: Any) -> int:
        made = connection.execute(_INSERTS[table.name], columns).inserted_primary_key
        assert made is not None
        return int(made[0])

    def _content(self, connection: Connection, bundle: Bundle | None) -> str | None:
        if bundle is None:
            return None
        if connection.execute(_SIZE, {"digest": bundle.digest}).scalar() is None:
            packed, size = _packed(bundle)
            content = {"digest": bundle.digest, "size": size, "bundle": packed}
            connection.execute(_INSERTS["contents"], content)
        return bundle.digest

    def _results(
        self,
        connection: Connection,
        found: dict[tuple[Any, ...], int],
        kata: int,
        attempt: int,
        report: KataReport,
    ) -> None:
        lines = [
            {
                "attempt_id": attempt,
                "position": position,
                "check_id": self._id(
                    connection,
                    found,
                    schema.checks,
                    kata_id=kata,
                    function=_text(check.id),
                    name=_text(check.name),
                    aspect=_text(check.aspect),
                    hidden=check.hidden,
                ),
                "status": check.status,
                "points": check.points,
                "max_points": check.max_points,
                "misconception": _maybe(check.misconception),
            }
            for position, check in enumerate(report.checks)
        ]
        if lines:
            connection.execute(_INSERTS["results"], lines)

    def _stand(
        self,
        connection: Connection,
        run: int,
        submission: Submission,
        whose: tuple[int, int],
        attempt: int | None,
    ) -> None:
        """Say how it stands for one learner and kata: the newest attempt, or what is new about the same one."""
        values: dict[str, Any] = {
            "learner": whose[0],
            "kata": whose[1],
            "run_id": run,
            "origin": _maybe(submission.origin),
            "notes": _json(submission.notes),
        }
        if attempt is None:
            connection.execute(_SEEN_AGAIN, {**values, "anew": submission.submitted_at})
            return
        values |= {"attempt_id": attempt, "submitted_at": submission.submitted_at}
        if not connection.execute(_STANDS, values).rowcount:
            learner, kata = values.pop("learner"), values.pop("kata")
            values["attempts"] = connection.execute(_GRADED, {"learner": learner, "kata": kata}).scalar()
            connection.execute(_INSERTS["submissions"], {"learner_id": learner, "kata_id": kata, **values})

    def _decide(
        self,
        kind: Literal["adjust", "override"],
        learner: str,
        kata: str,
        points: float,
        comment: str,
        author: str,
    ) -> int:
        if not math.isfinite(points):
            raise GradebookUsageError(f"Points must be a number, not {points}.")
        if not comment.strip():
            raise GradebookUsageError("A mark is not changed without a reason.", "Give one: --comment TEXT")
        with self._guard, self._deciding(f"writing a decision about {learner}") as connection:
            person, kata_id = self._find(connection, learner, kata)
            if person is None:  # in the roster, never graded
                person = self._insert(connection, schema.learners, name=_text(learner))
            return self._insert(
                connection,
                schema.adjustments,
                learner_id=person,
                kata_id=kata_id,
                kind=kind,
                points=points,
                comment=_text(comment),
                author=_text(author),
                at=datetime.now(UTC),
            )

    # Reading

    def _find(self, connection: Connection, learner: str, kata: str) -> tuple[int | None, int]:
        """Return the rows of a learner and a kata; the learner's is None for one who is in the roster only."""
        everybody = self._people(connection, None)
        names = {self.course.same(name): number for name, number in everybody}
        name = self.course.same(_text(learner))
        if name not in names:
            known = [name for name, _ in everybody]
            raise _unknown("learner", learner, known, "See who is there: kata gradebook show")
        person = names[name]
        slug = select(schema.katas.c.id).where(schema.katas.c.slug == _text(kata))
        kata_id = connection.execute(slug).scalar()
        if kata_id is None:
            slugs = [known for known, _ in self._katas(connection, None, narrow=False).values()]
            raise _unknown("kata", kata, slugs, "See what was graded: kata gradebook show")
        return person, kata_id

    def _people(
        self, connection: Connection, learners: Collection[str] | None
    ) -> list[tuple[str, int | None]]:
        """Return names and numbers, sorted; the number is None for who is in the roster only."""
        rows = connection.execute(select(schema.learners.c.name, schema.learners.c.id))
        people: dict[str, int | None] = {name: number for name, number in rows}
        recorded = {self.course.same(name) for name in people}
        people |= {name: None for name in self.course.roster if self.course.same(name) not in recorded}
        if learners is not None:
            wanted = {self.course.same(_text(name)) for name in learners}
            people = {name: number for name, number in people.items() if self.course.same(name) in wanted}
        return sorted(people.items(), key=lambda item: natural_key(item[0]))

    def _katas(
        self, connection: Connection, katas: Collection[str] | None, *, narrow: bool = True
    ) -> dict[int, tuple[str, str]]:
        """Return slug and number of the katas to show, by their rows, in order."""
        table = schema.katas
        wanted = katas if katas is not None else self.course.katas if narrow else None
        rows = connection.execute(select(table.c.id, table.c.slug, table.c.number)).all()
        chosen = [row for row in rows if wanted is None or row.slug in wanted]
        chosen.sort(key=lambda row: (natural_key(row.number), row.slug))
        return {row.id: (row.slug, row.number) for row in chosen}

    def _standing(
        self, connection: Connection, people: Iterable[tuple[str, int | None]], katas: Collection[int]
    ) -> dict[tuple[int | None, int], Any]:
        submissions, attempts = schema.submissions, schema.attempts
        wanted = (
            select(
                submissions.c.learner_id,
                submissions.c.kata_id,
                submissions.c.run_id,
                submissions.c.attempt_id,
                submissions.c.attempts,
                submissions.c.submitted_at,
                submissions.c.origin,
                submissions.c.notes,
                attempts.c.graded_at,
                attempts.c.report,
            )
            .join(attempts, attempts.c.id == submissions.c.attempt_id)
            .where(
                submissions.c.learner_id.in_([number for _, number in people if number is not None]),
                submissions.c.kata_id.in_(list(katas)),
            )
        )
        return {(row.learner_id, row.kata_id): row for row in connection.execute(wanted)}

    def _decided(
        self, connection: Connection, people: Iterable[tuple[str, int | None]]
    ) -> dict[tuple[int | None, int], list[Adjustment]]:
        table = schema.adjustments
        wanted = table.select().where(
            table.c.learner_id.in_([number for _, number in people if number is not None])
        )
        decided: dict[tuple[int | None, int], list[Adjustment]] = {}
        for row in connection.execute(wanted.order_by(table.c.id)):
            one = Adjustment(
                id=row.id,
                kind=row.kind,
                points=row.points,
                comment=row.comment,
                author=row.author,
                at=row.at,
                revoked=row.revoked_at is not None,
            )
            decided.setdefault((row.learner_id, row.kata_id), []).append(one)
        return decided

    def _row(self, name: str, row: Any, adjustments: list[Adjustment]) -> Row:
        report = _report(row.report)
        late = self.course.lateness(name, report.kata, row.submitted_at, report.score, report.max_score)
        score, taken = settle(report.score, late.points, adjustments)
        return Row(
            learner=name,
            name=self.course.name_of(name),
            report=report,
            attempts=row.attempts,
            submitted_at=row.submitted_at,
            graded_at=row.graded_at,
            adjustments=adjustments,
            days_late=late.days,
            late_points=taken,
            attempt=row.attempt_id,
            origin=row.origin,
            notes=msgspec.json.decode(row.notes, type=tuple[str, ...]),
            score=score,
            max_score=report.max_score,
        )

    def _blank_row(self, name: str, blank: KataReport, at: datetime, adjustments: list[Adjustment]) -> Row:
        score, _ = settle(0.0, 0.0, adjustments)
        return Row(
            learner=name,
            name=self.course.name_of(name),
            report=msgspec.structs.replace(blank, learner=name),
            attempts=0,
            submitted_at=None,
            graded_at=at,
            adjustments=adjustments,
            score=score,
            max_score=blank.max_score,
        )

    def _blanks(self, connection: Connection, katas: Mapping[int, tuple[str, str]]) -> dict[int, KataReport]:
        """Return, by kata, the report of somebody who was never graded: no points, of as many as others could get."""
        attempts = schema.attempts
        most = (
            select(attempts.c.kata_id, func.max(attempts.c.max_score))
            .join(schema.submissions, schema.submissions.c.attempt_id == attempts.c.id)
            .group_by(attempts.c.kata_id)
        )
        points: dict[int, float] = {kata: whole for kata, whole in connection.execute(most)}
        return {
            kata: KataReport(
                kata=slug,
                number=number,
                status="missing",
                score=0.0,
                max_score=points.get(kata, 0.0),
                seed=0,
                message=_NEVER,
            )
            for kata, (slug, number) in katas.items()
        }

    def _last_run(self, connection: Connection) -> datetime:
        newest = select(schema.runs.c.started_at).order_by(schema.runs.c.id.desc()).limit(1)
        at = (
            connection.execute(newest).scalar()
            or connection.execute(select(schema.meta.c.created_at)).scalar()
        )
        assert isinstance(at, datetime)
        return at

    def _newest_results(self, learners: Collection[str] | None, *columns: Any) -> Select[Any]:
        checks, results, submissions = schema.checks, schema.results, schema.submissions
        wanted = (
            select(*columns)
            .select_from(submissions)
            .join(results, results.c.attempt_id == submissions.c.attempt_id)
            .join(checks, checks.c.id == results.c.check_id)
        )
        if learners is not None:
            names = [_text(name) for name in learners]
            wanted = wanted.join(schema.learners, schema.learners.c.id == submissions.c.learner_id).where(
                schema.learners.c.name.in_(names)
            )
        return wanted

    def _attempt_events(self, connection: Connection, person: int, kata: int) -> Iterator[Event]:
        table = schema.attempts
        columns = [column for column in table.c if column.name not in ("report", "versions")]
        mine = select(*columns).where(table.c.learner_id == person, table.c.kata_id == kata)
        for row in connection.execute(mine.order_by(table.c.id)):
            yield Event(
                kind="attempt",
                at=row.graded_at,
                run=row.run_id,
                attempt=row.id,
                digest=row.digest,
                submitted_at=row.submitted_at,
                status=row.status,
                score=row.score,
                max_score=row.max_score,
                seed=int(row.seed),
            )

    def _adjustment_events(self, connection: Connection, person: int, kata: int) -> Iterator[Event]:
        table = schema.adjustments
        mine = table.select().where(table.c.learner_id == person, table.c.kata_id == kata)
        for row in connection.execute(mine.order_by(table.c.id)):
            yield Event(
                kind=row.kind,
                at=row.at,
                adjustment=row.id,
                points=row.points,
                comment=row.comment,
                author=row.author,
                revoked=row.revoked_at is not None,
            )
            if row.revoked_at is not None:
                yield Event(
                    kind="revoke",
                    at=row.revoked_at,
                    adjustment=row.id,
                    comment=row.revoked_because,
                    author=row.revoked_by,
                )


def _chunks(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _text(text: str) -> str:
    """Return text that every database takes: no zero bytes, no half characters; different stays different."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def _maybe(text: str | None) -> str | None:
    return None if text is None else _text(text)


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8")
    except UnicodeEncodeError:  # half a character, from a file's name or a submission's print
        return msgspec.json.encode(_clean(msgspec.to_builtins(value))).decode("utf-8")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_clean(name): _clean(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


_REPORTS = msgspec.json.Decoder(KataReport)


def _report(text: str) -> KataReport:
    return _REPORTS.decode(text)


def _redacted(value: Argument) -> Argument:
    if isinstance(value, list):
        return [redact(item) for item in value]
    return redact(value) if isinstance(value, str) else value


def _packed(bundle: Bundle) -> tuple[bytes, int]:
    whole = msgspec.msgpack.encode((bundle.main, bundle.files))
    return zlib.compress(whole, 6), len(whole)


def _unpacked(packed: bytes, size: int) -> Bundle:
    whole = zlib.decompressobj().decompress(packed, size + 1)
    main, files = msgspec.msgpack.decode(whole, type=tuple[str, dict[str, bytes]])
    return Bundle(main, files)


def _unknown(what: str, name: str, known: list[str], hint: str) -> GradebookUsageError:
    import difflib

    close = difflib.get_close_matches(name, known, n=2)
    guess = f" Did you mean {' or '.join(close)}?" if close else ""
    return GradebookUsageError(f"The gradebook has no {what} {name}.{guess}", hint)
