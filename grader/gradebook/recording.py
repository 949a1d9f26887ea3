"""What a run writes: that it began and ended, and for every submission what was graded, or that it was seen again."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, and_, bindparam, distinct, func, select

from grader import __version__
from grader.gradebook import schema
from grader.gradebook.address import redact
from grader.gradebook.connections import Connections, RunConnection
from grader.gradebook.records import Key
from grader.gradebook.storage import (
    insert,
    insert_all,
    insert_unless_there,
    packed,
    readable,
    report_to_json,
    storable,
    storable_or_none,
)
from grader.reports.json_text import encode
from grader.reports.report import KataReport
from grader.submissions.submission import Bundle, Submission

Argument = str | int | float | None | list[str]
"""What a run was asked for, by option."""

# Statements that run once for every submission are built once.
_KEYS = (
    select(schema.katas.c.slug, schema.attempts.c.digest, schema.attempts.c.terms, schema.attempts.c.report)
    .select_from(schema.learners)
    .join(schema.submissions, schema.submissions.c.learner_id == schema.learners.c.id)
    .join(schema.attempts, schema.attempts.c.id == schema.submissions.c.attempt_id)
    .join(schema.katas, schema.katas.c.id == schema.submissions.c.kata_id)
    .where(schema.learners.c.name == bindparam("learner"))
)
_NEWEST = _KEYS.where(schema.katas.c.slug == bindparam("kata")).add_columns(
    schema.submissions.c.learner_id, schema.submissions.c.kata_id
)
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

_Numbers = dict[tuple[Any, ...], int]
"""Rows' numbers, by table and values."""


def keys(connection: Connection, learner: str) -> dict[str, Key]:
    """Return, by kata, what the learner's newest attempts depended on; a report that is damaged is made again."""
    found = connection.execute(_KEYS, {"learner": storable(learner)})
    return {slug: Key(digest, terms) for slug, digest, terms, report in found if readable(report)}


class Recording:
    """One run, from its beginning to its end, on its own connection."""

    def __init__(self, own: RunConnection, run: int, earlier: set[str]) -> None:
        self.run = run
        """Its number."""
        self._own = own
        self._known: _Numbers = {}
        self._earlier = earlier
        """Whose names stood in the gradebook before this run."""
        self._fresh: dict[int, set[int]] = {}
        """Of learners whom this run brought: which katas it has recorded."""

    @classmethod
    def start(cls, connections: Connections, arguments: Mapping[str, Argument]) -> Recording:
        """Take the lock, and note what the run was asked for.

        Raises:
            GradebookError: another run grades into this gradebook, or the database refused.
        """
        own = RunConnection.open(connections)
        try:
            with own.writing("starting a run") as connection:
                run = insert(
                    connection,
                    schema.runs,
                    started_at=datetime.now(UTC),
                    arguments=encode({name: _redacted(value) for name, value in arguments.items()}).decode(),
                    version=__version__,
                    host=storable(socket.gethostname()),
                    process=os.getpid(),
                )
                earlier = set(connection.execute(select(schema.learners.c.name)).scalars())
        except BaseException:
            own.close()
            raise
        return cls(own, run, earlier)

    def finish(self) -> None:
        """Note that everything that was to be graded is."""
        with self._own.writing("finishing the run") as connection:
            connection.execute(
                schema.runs.update().where(schema.runs.c.id == self.run).values(finished_at=datetime.now(UTC))
            )

    def close(self) -> None:
        """Give the lock back, whether the run is finished or not."""
        self._own.close()

    def may_know(self, learner: str) -> bool:
        """Return whether there may be attempts of a learner: nobody but this run writes any."""
        name = storable(learner)
        return name in self._earlier or (schema.learners.name, name) in self._known

    def record(self, submission: Submission, key: Key, report: KataReport) -> None:
        """Keep a report and what was graded.

        Raises:
            Unkeepable: the report would not be read again as it is; nothing was written.
        """
        whole = report_to_json(msgspec.structs.replace(report, learner=submission.learner))
        with self._own.writing(_doing(submission)) as connection:
            numbering = _Numbering(connection, self._known)
            name = storable(submission.learner)
            learner = numbering.of(schema.learners, name=name)
            fresh = self._fresh.get(learner, set() if self._is_new(name) else None)
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
                device=storable(report.device),
                duration_s=report.duration_s,
                versions=encode(report.versions).decode(),
                report=whole,
            )
            _results(numbering, kata, attempt, report)
            values = self._seen(submission, learner, kata)
            values |= {"attempt_id": attempt, "submitted_at": submission.submitted_at}
            first = fresh is not None and kata not in fresh
            if first or not connection.execute(_STANDS, values).rowcount:
                whose = {"learner": values.pop("learner"), "kata": values.pop("kata")}
                graded = int(bool(key.digest)) if first else connection.execute(_GRADED, whose).scalar()
                row = {"learner_id": learner, "kata_id": kata, "attempts": graded, **values}
                insert_all(connection, schema.submissions, [row])
        self._known.update(numbering.found)  # only now is it sure that they are there
        if fresh is not None:
            self._fresh.setdefault(learner, fresh).add(kata)

    def reuse(self, submission: Submission, key: Key) -> None:
        """Note that a submission was seen again, unchanged.

        Raises:
            ValueError: it is not what the newest attempt graded.
        """
        with self._own.writing(_doing(submission)) as connection:
            whose = {"learner": storable(submission.learner), "kata": storable(submission.kata)}
            row = connection.execute(_NEWEST, whose).one_or_none()
            if row is None or Key(row.digest, row.terms) != key:
                raise ValueError(
                    f"{submission.learner}, {submission.kata}: there is no attempt with this key"
                )
            values = self._seen(submission, row.learner_id, row.kata_id)
            connection.execute(_SEEN_AGAIN, {**values, "anew": submission.submitted_at})

    def _is_new(self, name: str) -> bool:
        return name not in self._earlier and (schema.learners.name, name) not in self._known

    def _seen(self, submission: Submission, learner: int, kata: int) -> dict[str, Any]:
        """Return what `_STANDS` and `_SEEN_AGAIN` both write."""
        return {
            "learner": learner,
            "kata": kata,
            "run_id": self.run,
            "origin": storable_or_none(submission.origin),
            "notes": encode(submission.notes).decode(),
        }


class _Numbering:
    """The rows' numbers in one transaction: known to be there, or found or made by it."""

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
    kept, size = packed(bundle)
    insert_unless_there(connection, schema.contents, {"digest": bundle.digest, "size": size, "bundle": kept})
    return bundle.digest


def _results(numbering: _Numbering, kata: int, attempt: int, report: KataReport) -> None:
    lines = [
        {
            "attempt_id": attempt,
            "position": position,
            "check_id": numbering.of(
                schema.checks,
                kata_id=kata,
                function=storable(check.id),
                name=storable(check.name),
                aspect=storable(check.aspect),
                hidden=check.hidden,
            ),
            "status": check.status,
            "points": check.points,
            "max_points": check.max_points,
            "misconception": storable_or_none(check.misconception),
        }
        for position, check in enumerate(report.checks)
    ]
    insert_all(numbering.connection, schema.results, lines)


def _doing(submission: Submission) -> str:
    return f"recording {submission.learner}, {submission.kata}"


def _redacted(value: Argument) -> Argument:
    if isinstance(value, list):
        return [redact(item) for item in value]
    return redact(value) if isinstance(value, str) else value
