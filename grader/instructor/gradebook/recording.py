"""What a run writes: that it began and ended, and for every submission what was graded, or that it was seen again."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Table, and_, bindparam, func, select, true

from grader import __version__
from grader.instructor.gradebook import answers, schema
from grader.instructor.gradebook.connections import Connections, RunSession
from grader.instructor.gradebook.database import redact
from grader.instructor.gradebook.errors import GradebookError
from grader.instructor.gradebook.row_types import Key, UnusedTime
from grader.instructor.gradebook.schema import (
    arguments_of,
    insert,
    insert_unless_there,
    pack_bundle,
    report_to_json,
    sanitize,
    storable_or_none,
)
from grader.instructor.submissions.submission import Bundle, Proposal, Submission
from grader.report.json_text import encode
from grader.report.report import KataReport
from grader.words import printable

Argument = str | int | float | None | list[str]
"""What a run was asked for, by option."""

# Statements that run once for every submission are built once.
_STANDING = (
    select(schema.katas.c.slug, schema.submissions.c.digest, schema.attempts.c.terms)
    .select_from(schema.learners)
    .join(schema.submissions, schema.submissions.c.learner_id == schema.learners.c.id)
    .join(schema.attempts, schema.attempts.c.id == schema.submissions.c.attempt_id)
    .join(schema.katas, schema.katas.c.id == schema.submissions.c.kata_id)
    .where(schema.learners.c.name == bindparam("learner"))
)
_TRIES = (
    select(schema.katas.c.slug, schema.attempts.c.digest, func.count())
    .select_from(schema.learners)
    .join(schema.attempts, schema.attempts.c.learner_id == schema.learners.c.id)
    .join(schema.katas, schema.katas.c.id == schema.attempts.c.kata_id)
    .where(schema.learners.c.name == bindparam("learner"), schema.attempts.c.terms == schema.NOTHING)
    .group_by(schema.katas.c.slug, schema.attempts.c.digest)
)
_OF_CELL = (
    select(schema.submissions, schema.attempts.c.terms, schema.runs.c.arguments)
    .join(schema.attempts, schema.attempts.c.id == schema.submissions.c.attempt_id)
    .join(schema.runs, schema.runs.c.id == schema.submissions.c.run_id)
    .where(
        schema.submissions.c.learner_id == bindparam("learner"),
        schema.submissions.c.kata_id == bindparam("kata"),
    )
    .order_by(schema.submissions.c.seen)
)
_NUMBERS = (
    select(schema.learners.c.id, schema.katas.c.id)
    .join_from(schema.learners, schema.katas, true())
    .where(schema.learners.c.name == bindparam("learner"), schema.katas.c.slug == bindparam("kata"))
)
_LAST_SEEN = (
    select(schema.submissions.c.id)
    .join(schema.learners, schema.learners.c.id == schema.submissions.c.learner_id)
    .join(schema.katas, schema.katas.c.id == schema.submissions.c.kata_id)
    .where(schema.learners.c.name == bindparam("learner"), schema.katas.c.slug == bindparam("kata"))
    .order_by(schema.submissions.c.seen.desc())
    .limit(1)
)
_LAST_SHEET = (
    select(schema.answers.c.content, schema.answers.c.submitted_at)
    .where(schema.answers.c.learner_id == bindparam("learner"), schema.answers.c.kata_id == bindparam("kata"))
    .order_by(schema.answers.c.id.desc())
    .limit(1)
)
_SEEN_AGAIN = schema.submissions.update().where(schema.submissions.c.id == bindparam("row"))
_REGRADED = (
    schema.submissions.update()
    .where(
        schema.submissions.c.learner_id == bindparam("learner"),
        schema.submissions.c.kata_id == bindparam("kata"),
        schema.submissions.c.digest == bindparam("of"),
    )
    .values(attempt_id=bindparam("attempt"))
)

_Numbers = dict[tuple[Any, ...], int]
"""Rows' numbers, by table and values."""


def keys(connection: Connection, learner: str) -> dict[str, frozenset[Key]]:
    """Return, by kata, what the newest gradings of everything that a learner handed in depended on.

    Where nothing could be read, there is no digest.
    """
    found: dict[str, set[Key]] = {}
    for slug, digest, terms in connection.execute(_STANDING, {"learner": sanitize(learner)}):
        found.setdefault(slug, set()).add(Key(digest, terms))
    return {slug: frozenset(keys) for slug, keys in found.items()}


def ungraded_tries(connection: Connection, learner: str) -> dict[tuple[str, str | None], int]:
    """Return, by kata and digest, how often something that a learner handed in could not be graded."""
    return {
        (slug, digest): count
        for slug, digest, count in connection.execute(_TRIES, {"learner": sanitize(learner)})
    }


_AWAITED = schema.awaited
_OF_RUN = _AWAITED.delete().where(_AWAITED.c.run_id == bindparam("run"))
_PAIR = _OF_RUN.where(_AWAITED.c.learner == bindparam("who"), _AWAITED.c.kata == bindparam("what"))
"""What a run has still to grade of its download."""


class Recording:
    """One run, from its beginning to its end, on its own connection. Several threads may use it."""

    def __init__(
        self, connections: Connections, nonce: bytes, own: RunSession, run: int, place: str, earlier: set[str]
    ) -> None:
        self.run = run
        """Its number."""
        self.nonce = nonce
        """The gradebook's, which seeds derive from."""
        self.is_over = False
        self._connections = connections
        self._own = own
        self._place = place
        self._known: _Numbers = {}
        self._earlier = earlier
        """Whose names stood in the gradebook before this run."""
        self._fresh: dict[int, set[int]] = {}
        """Of learners whom this run brought: which katas it has recorded."""

    @classmethod
    def start(
        cls,
        connections: Connections,
        nonce: bytes,
        arguments: Mapping[str, Argument],
        awaited: Collection[tuple[str, str]],
    ) -> Recording:
        """Take the lock, and note what the run was asked for, and what it is going to grade.

        Raises:
            GradebookError: another run grades into this gradebook, or the database refused.
        """
        own = RunSession.open(connections)
        # An address may hold a password, and this is shown to all who read the gradebook.
        options = encode({name: _redacted(value) for name, value in arguments.items()}).decode()
        try:
            with own.writing("starting a run") as connection:
                run = insert(
                    connection,
                    schema.runs,
                    started_at=datetime.now(UTC),
                    arguments=options,
                    version=__version__,
                    host=sanitize(socket.gethostname()),
                    process=os.getpid(),
                    planned=len(awaited),
                )
                expect(connection, run, place_of(options), awaited)
                earlier = set(connection.execute(select(schema.learners.c.name)).scalars())
        except BaseException:
            own.close()
            raise
        return cls(connections, nonce, own, run, place_of(options), earlier)

    def finish(self) -> None:
        """Note that everything that was to be graded is, and give the lock back."""
        with self._own.writing("finishing the run") as connection:
            connection.execute(
                schema.runs.update().where(schema.runs.c.id == self.run).values(finished_at=datetime.now(UTC))
            )
            connection.execute(_OF_RUN, {"run": self.run})
        self.is_over = True
        self._own.close()

    def close(self) -> None:
        """Give the lock back, and note that the run was stopped unless it is over; twice is fine."""
        if self.is_over:
            return
        table = schema.runs
        stopped = table.update().where(table.c.id == self.run).values(stopped_at=datetime.now(UTC))
        # Whatever ended the run is what is reported, and without this it counts as one that was killed.
        with suppress(GradebookError), self._own.writing("stopping the run") as connection:
            connection.execute(stopped)
        self.is_over = True
        self._own.close()

    def keys(self, learner: str) -> dict[str, frozenset[Key]]:
        """Return, by kata, what the newest gradings of everything that a learner handed in depended on."""
        if not self._may_have_attempts(learner):
            return {}
        with self._connections.reading(f"reading what {learner} has") as connection:
            return keys(connection, learner)

    def ungraded_tries(self, learner: str) -> dict[tuple[str, str | None], int]:
        """Return, by kata and digest, how often something that a learner handed in could not be graded."""
        if not self._may_have_attempts(learner):
            return {}
        with self._connections.reading(f"reading what {learner} has") as connection:
            return ungraded_tries(connection, learner)

    def reach(self, submission: Submission) -> None:
        """Note that nothing of what somebody handed in for a kata is left to be graded."""
        with self._own.writing(_doing(submission)) as connection:
            pair = {"who": sanitize(submission.learner), "what": submission.kata}
            connection.execute(_PAIR, {"run": self.run, **pair})

    def _may_have_attempts(self, learner: str) -> bool:
        """Return whether there may be attempts of a learner: nobody but this run writes any."""
        name = sanitize(learner)
        return name in self._earlier or (schema.learners.name, name) in self._known

    def record(self, submission: Submission, key: Key, report: KataReport) -> None:
        """Keep a report and what was graded.

        Raises:
            SerializationError: the report cannot be stored as it is; nothing was written.
        """
        whole = report_to_json(msgspec.structs.replace(report, learner=submission.learner))
        with self._own.guard:
            with self._own.writing(_doing(submission)) as connection:
                numbering = _IdCache(connection, self._known)
                name = sanitize(submission.learner)
                learner = numbering.of(schema.learners, name=name)
                # A learner who was first met in this run has nothing here yet: no query has to look for earlier
                # hand-ins.
                is_new = name not in self._earlier and (schema.learners.name, name) not in self._known
                fresh = self._fresh.get(learner, set() if is_new else None)
                kata = numbering.of_kata(submission.kata, report.number)
                attempt = insert(
                    connection,
                    schema.attempts,
                    run_id=self.run,
                    learner_id=learner,
                    kata_id=kata,
                    content=_content(connection, submission.bundle),
                    digest=key.digest,
                    terms=key.terms,
                    submitted_at=submission.submitted_at,
                    graded_at=datetime.now(UTC),
                    status=report.status,
                    score=report.earned,
                    max_score=report.possible,
                    seed=str(report.seed),
                    isolation=report.isolation,
                    device=sanitize(report.device),
                    duration_s=report.duration_s,
                    redrawn=sum(check.redrawn or 0 for check in report.checks) or None,
                    versions=encode(report.versions).decode(),
                    report=whole,
                )
                if submission.stored:
                    if key.terms:  # where the machine failed, what was graded before stands
                        whose = {"learner": learner, "kata": kata, "of": key.digest, "attempt": attempt}
                        connection.execute(_REGRADED, whose)
                elif fresh is not None and kata not in fresh:
                    self._add(connection, submission, _Cell(learner, kata), _Sighting(key.digest, attempt, 1))
                else:
                    self._see(connection, submission, _Cell(learner, kata), key, attempt)
            self._known.update(numbering.found)  # only now is it sure that they are there
            if fresh is not None:
                self._fresh.setdefault(learner, fresh).add(kata)

    def mark_unchanged(self, submission: Submission, key: Key) -> None:
        """Note that a submission was seen again, unchanged.

        Raises:
            ValueError: it is not what the newest grading of this content graded.
        """
        with self._own.writing(_doing(submission)) as connection:
            whose = {"learner": sanitize(submission.learner), "kata": sanitize(submission.kata)}
            numbers = connection.execute(_NUMBERS, whose).one_or_none()
            if numbers is None or not self._see(connection, submission, _Cell(*numbers), key, None):
                raise ValueError(
                    f"{submission.learner}, {submission.kata}: there is no attempt with this key"
                )

    def propose(self, submission: Submission) -> None:
        """Note on what was handed in last that a misnamed file came in: it stays open until it is settled."""
        table = schema.submissions
        with self._own.writing(_doing(submission)) as connection:
            whose = {"learner": sanitize(submission.learner), "kata": sanitize(submission.kata)}
            row = connection.execute(_LAST_SEEN, whose).scalar_one()
            values = _proposed(submission.proposal)
            connection.execute(table.update().where(table.c.id == row).values(values))

    def record_times(self, times: Mapping[int, datetime], source: str) -> None:
        """Note when things were handed in of which nobody knew it, by their numbers.

        Args:
            times: by the number of a hand-in.
            source: who says so.
        """
        table = schema.submissions
        with self._own.writing(f"recording times of {source}") as connection:
            for number, at in times.items():
                mine = table.update().where(table.c.id == number, table.c.submitted_at.is_(None))
                connection.execute(mine.values(submitted_at=at, time_source=sanitize(source), timed=self.run))

    def record_unused_times(
        self, source: str, katas: Collection[str], unused: Collection[UnusedTime]
    ) -> None:
        """Keep which lines of a table were nobody's, in place of what was kept of it for these katas."""
        table = schema.unused_times
        with self._own.writing(f"recording {source}") as connection:
            same = table.c.source == sanitize(source), table.c.kata.in_(list(katas))
            connection.execute(table.delete().where(*same))
            rows = [
                {
                    **msgspec.structs.asdict(time),
                    "run_id": self.run,
                    "kata": kata,
                    "source": sanitize(time.source),
                    "name": sanitize(time.name),
                    "candidates": encode(time.candidates).decode(),
                }
                for kata in katas
                for time in unused
                if time.kata in ("", kata)
            ]
            if rows:
                connection.execute(table.insert(), rows)

    def record_answers(self, submission: Submission) -> None:
        """Keep a sheet of written answers, unless the learner's newest one for the kata holds the same."""
        sheet = submission.answers
        assert sheet is not None
        with self._own.writing(_doing(submission)) as connection:
            numbering = _IdCache(connection, self._known)
            learner = numbering.of(schema.learners, name=sanitize(submission.learner))
            kata = numbering.of_kata(submission.kata, sheet.number)
            newest = connection.execute(_LAST_SHEET, {"learner": learner, "kata": kata}).one_or_none()
            known = (None, None) if newest is None else newest
            # The same text with another time is another hand-in; without a time it says nothing new.
            if known[0] == sheet.bundle.digest and sheet.submitted_at in (None, known[1]):
                return
            insert(
                connection,
                schema.answers,
                run_id=self.run,
                learner_id=learner,
                kata_id=kata,
                content=_content(connection, sheet.bundle),
                answered=answers.answered(sheet.bundle.files[sheet.bundle.main]),
                submitted_at=sheet.submitted_at,
                time_source=storable_or_none(sheet.time_source),
                origin=storable_or_none(sheet.origin),
                at=datetime.now(UTC),
            )

    def _see(
        self, connection: Connection, submission: Submission, cell: _Cell, key: Key, attempt: int | None
    ) -> bool:
        """Note that something was handed in, again or for the first time; false where nothing has the key.

        Args:
            connection: in a transaction.
            submission: what was handed in.
            cell: the learner's and the kata's rows.
            key: of the grading.
            attempt: the grading; None where an earlier one stands, which must have the key.
        """
        here = cell._asdict()
        every = connection.execute(_OF_CELL, here).all()
        same = [row for row in every if row.digest == key.digest]
        if attempt is None:
            if not any(row.terms == key.terms for row in same):
                return False
            attempt = same[-1].attempt_id
        elif same and not key.terms and same[-1].terms:
            attempt = same[-1].attempt_id  # the machine failed: what was graded before stands
        seen = max((row.seen for row in every), default=0) + 1
        mine = _sighting_of(submission, same)
        if mine is None:
            self._add(connection, submission, cell, _Sighting(key.digest, attempt, seen))
        else:
            # A later download without times must not forget when it was handed in.
            timed = submission.submitted_at is not None
            same_time = not timed or submission.submitted_at == mine.submitted_at
            came_in = self._came_in(mine, every)
            values = {
                **self._found(submission),
                "row": mine.id,
                "seen": seen if came_in else mine.seen,
                "arrived": self.run if came_in else mine.arrived or mine.run_id,
                "timed": mine.timed or mine.run_id if same_time else self.run,
                "submitted_at": submission.submitted_at if timed else mine.submitted_at,
                "time_source": storable_or_none(submission.time_source) if timed else mine.time_source,
            }
            connection.execute(_SEEN_AGAIN, values)
        # Every hand-in of the same content counts by its newest grading.
        connection.execute(_REGRADED, {**here, "of": key.digest, "attempt": attempt})
        return True

    def _came_in(self, mine: Any, every: Sequence[Any]) -> bool:
        """Whether what was handed in before came in again: a download that is read once more brings nothing new."""
        here = [row for row in every if row is mine or place_of(row.arguments) == self._place]
        # Else the same folder, or an archive of the same name, has held something else since.
        last = max(here, key=lambda row: (row.run_id, row.seen))
        return place_of(mine.arguments) != self._place or last is not mine

    def _add(self, connection: Connection, submission: Submission, cell: _Cell, sighting: _Sighting) -> None:
        insert(
            connection,
            schema.submissions,
            learner_id=cell.learner,
            kata_id=cell.kata,
            digest=sighting.digest,
            attempt_id=sighting.attempt,
            seen=sighting.number,
            arrived=self.run,
            timed=self.run,
            submitted_at=submission.submitted_at,
            time_source=storable_or_none(submission.time_source),
            **self._found(submission),
        )

    def _found(self, submission: Submission) -> dict[str, Any]:
        """Return by whom and where something was found, and whether somebody decided, or should, what it is."""
        return {
            "run_id": self.run,
            "origin": storable_or_none(submission.origin),
            "notes": encode(submission.notes).decode(),
            "taken": storable_or_none(submission.taken),
            **_proposed(submission.proposal),
        }


def _proposed(proposal: Proposal | None) -> dict[str, str | None]:
    """Return the columns of a file that may be meant."""
    if proposal is None:
        return {"proposed": None, "proposed_because": None}
    return {"proposed": printable(proposal.file), "proposed_because": printable(proposal.reason)}


class _Cell(NamedTuple):
    """A cell of the gradebook: the rows of a learner and of a kata."""

    learner: int
    kata: int


class _Sighting(NamedTuple):
    """One time that something was handed in: its digest, the grading that counts, and its place in time."""

    digest: str | None
    attempt: int
    number: int


def _sighting_of(submission: Submission, same: Sequence[Any]) -> Any:
    """Return the row of this content that a submission is another sighting of; None for a hand-in of its own."""
    if submission.submitted_at is None or submission.bundle is None:
        return same[-1] if same else None
    # The same content at another time was handed in again. A time that becomes known later is that of the row
    # without.
    timed = [row for row in same if row.submitted_at == submission.submitted_at]
    return next(iter(timed), next((row for row in same if row.submitted_at is None), None))


class _IdCache:
    """Ids of rows by their values in one transaction: cached, looked up, or inserted."""

    def __init__(self, connection: Connection, known: _Numbers) -> None:
        self.connection = connection
        self.found: _Numbers = {}
        self._known = known

    def of(self, table: Table, **columns: Any) -> int:
        """Return the number of the row with these values, making it when there is none."""
        key = (table.name, *columns.values())
        number = self._known.get(key) or self.found.get(key)
        if number is None:
            same = and_(*(table.c[name] == value for name, value in columns.items()))
            number = self.connection.execute(select(table.c.id).where(same)).scalar()
            if number is None:
                number = insert(self.connection, table, **columns)
            # Apart from what is known for sure: if the transaction fails, the row was never there.
            self.found[key] = number
        return number

    def of_kata(self, slug: str, number: str) -> int:
        """Return a kata's row; a pack may have given it another number since."""
        table = schema.katas
        key = (table.name, slug, number)
        known = self._known.get(key)
        if known is None:
            row = self.connection.execute(
                select(table.c.id, table.c.number).where(table.c.slug == slug)
            ).one_or_none()
            if row is None:
                known = insert(self.connection, table, slug=slug, number=number)
            else:
                known = int(row.id)
                if row.number != number:
                    self.connection.execute(table.update().where(table.c.id == known).values(number=number))
            self.found[key] = known
        return known


def _content(connection: Connection, bundle: Bundle | None) -> str | None:
    if bundle is None:
        return None
    content, size = pack_bundle(bundle)
    insert_unless_there(
        connection, schema.contents, {"digest": bundle.digest, "size": size, "bundle": content}
    )
    return bundle.digest


def _doing(submission: Submission) -> str:
    return f"recording {submission.learner}, {submission.kata}"


def _redacted(value: Argument) -> Argument:
    if isinstance(value, list):
        return [redact(item) for item in value]
    return redact(value) if isinstance(value, str) else value


def place_of(arguments: object) -> str:
    """Return which download a run read, by its options as they are stored; nothing where it read none."""
    return str(arguments_of(arguments).get("submissions") or "")


def expect(connection: Connection, run: int, place: str, pairs: Collection[tuple[str, str]]) -> None:
    """Note what a run is going to grade; earlier runs over the same download need not grade it any more."""
    earlier = select(schema.runs.c.id, schema.runs.c.arguments).where(
        schema.runs.c.id.in_(select(_AWAITED.c.run_id))
    )
    same = [row.id for row in connection.execute(earlier) if place_of(row.arguments) == place]
    named = [{"who": sanitize(learner), "what": kata} for learner, kata in pairs]
    for other in same if named else ():
        connection.execute(_PAIR, [{**pair, "run": other} for pair in named])
    if named:
        connection.execute(
            _AWAITED.insert(),
            [{"run_id": run, "learner": pair["who"], "kata": pair["what"]} for pair in named],
        )
