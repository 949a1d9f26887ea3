"""Marks into Canvas or Moodle: which there differ from ours, and setting those that nobody there has touched."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from grader.api import (
    Column,
    Gradebook,
    Person,
    Push,
    UsageError,
    by_assignment,
    by_learner,
    columns_of,
    marks_of,
)
from grader.api import number as as_text
from grader.extras.push.courses import (
    NO_MARK,
    Client,
    MarkRefusedError,
    RemoteAssignment,
    RemoteMark,
    account_of,
    host_of,
)

TOKEN = "KATA_LMS_TOKEN"
SERVICE = "kata"
"""What tokens are kept under in the system's keyring, by host."""

Verdict = Literal["push", "same", "kept", "unmarked", "no_account", "refused"]
"""`kept`: somebody changed it there; `unmarked`: we have no mark yet; `refused`: the system does not take this mark."""


@dataclass(frozen=True)
class PushTarget:
    """A column of ours with its assignment there."""

    column: Column
    title: str
    assignment: RemoteAssignment
    key: str
    """How the gradebook calls it."""


@dataclass(frozen=True)
class Difference:
    """One learner's mark here and there."""

    learner: str
    name: str
    target: PushTarget
    verdict: Verdict
    ours: float | None = None
    theirs: RemoteMark = NO_MARK
    account: str = ""
    sent: Push | None = None
    """What was sent of it last."""
    reason: str = ""
    """Why it was refused."""


class Pusher:
    """Compares a class's marks with those in another system, and sets them there."""

    def __init__(self, book: Gradebook, client: Client, author: str) -> None:
        self._book = book
        self._client = client
        self._author = author

    def targets(
        self, only: Collection[str] | None, titles: Mapping[str, str], *, to_set: bool = True
    ) -> list[PushTarget]:
        """Return the columns that have a number there, of `only` these katas if given.

        Args:
            only: katas.
            titles: of all katas.
            to_set: marks are set there, so that the points must be the same.

        Raises:
            UsageError: none has, or an assignment there is out of other points than here.
        """
        found, course, own = [], self._book.course, columns_of(self._book.rows(), titles)
        # A column for each assignment and each kata.
        of_assignments = [column for column in by_assignment(own, course, {}) if column.katas]
        for column in (*of_assignments, *(column for column in own if not column.written)):
            # At the end of what a column is called there: `Week 1 (501)`.
            number = re.search(r"\(([0-9]+)\)\s*$", course.columns.get(column.kata, ""))
            if number and (only is None or set(column.katas or [column.kata]) <= set(only)):
                assignment = self._client.assignment(number[1])
                if to_set:
                    self._insist_on_same(column, assignment)
                address = f"{course.lms.partition('#')[0]} {number[1]}"
                found.append(PushTarget(column, assignment.title, assignment, address))
        if not found:
            raise UsageError(
                f"No column of the course has a number in {self._client.title}.",
                "The number is in the assignment's address there: kata course set --column 'week1=Week 1 (501)'",
            )
        return found

    def _insist_on_same(self, column: Column, assignment: RemoteAssignment) -> None:
        title, where = assignment.title, self._client.title
        if assignment.refusal:
            raise UsageError(
                f"{title} {assignment.refusal} in {where}.", "Import a file instead: kata gradebook export"
            )
        if assignment.max_points != column.max_score:
            there = "no points" if assignment.max_points is None else as_text(assignment.max_points)
            raise UsageError(
                f"{title} is out of {there} in {where} and out of {as_text(column.max_score)} here.",
                f"Set its points in {where} to {as_text(column.max_score)}.",
            )

    def differences(
        self, targets: Sequence[PushTarget], unsure: Collection[tuple[str, str]]
    ) -> Iterator[Difference]:
        """Yield everybody's marks here and there, assignment by assignment.

        Args:
            targets: of which columns.
            unsure: learners and katas whose work may lie here under another name: no 0 for these.
        """
        course, accounts = self._book.course, self._client.accounts()
        columns = [target.column for target in targets]
        # Before the first target: everybody's reports are read once, whatever the number of columns.
        own = []
        for learner, rows in by_learner(self._book.rows()):
            marks = marks_of(rows, columns, course, unsure, self._client.decimals)
            own.append((learner, next(iter(rows.values())).name, marks))
        for place, target in enumerate(targets):
            # Once for each assignment there: a request for each learner would take minutes.
            theirs, sent = self._client.marks(target.assignment), self._book.pushed(target.key)
            for learner, name, marks in own:
                person = course.person(learner) or Person(learner=learner)
                account = account_of(person, accounts, self._client.columns)
                difference = Difference(learner, name, target, "no_account", marks[place])
                if account is not None:
                    there = theirs.get(account.id, NO_MARK)
                    difference = replace(
                        difference,
                        verdict=_verdict(marks[place], there, sent.get(learner)),
                        theirs=there,
                        account=account.id,
                        sent=sent.get(learner),
                    )
                yield difference

    def push(self, difference: Difference) -> Difference:
        """Set a mark that is to be pushed, and note those that are there already; return what became of it."""
        if difference.ours is None or difference.verdict not in ("push", "same"):
            return difference
        push = Push(difference.ours, difference.theirs.points, arrived=False, author=self._author)
        if difference.verdict == "push":
            # Before it is sent: whenever this ends, the next push knows which two marks may be there.
            self._note(difference, push)
            try:
                found = self._client.give(
                    difference.target.assignment, difference.account, difference.ours, difference.theirs
                )
            except MarkRefusedError as error:
                return replace(difference, verdict="refused", reason=error.message)
            if found is not None:
                return replace(difference, verdict="kept", theirs=found)
        elif (
            difference.sent is not None
            and difference.sent.arrived
            and difference.sent.points == difference.ours
        ):
            return difference
        self._note(difference, push._replace(arrived=True))
        return difference

    def _note(self, difference: Difference, push: Push) -> None:
        self._book.note_push(difference.learner, difference.target.key, push)


def _verdict(ours: float | None, theirs: RemoteMark, sent: Push | None) -> Verdict:
    if ours is None:
        return "unmarked"
    if theirs.excused:
        return "kept"
    if theirs.points == ours:
        return "same"
    untouched = theirs.points is None if sent is None else sent.made(theirs.points)
    return "push" if untouched else "kept"


def token_for(address: str) -> str:
    """Return the token for a system: from the environment, or from this machine's keyring.

    It is in no file of ours, in no argument and in no message.

    Raises:
        UsageError: neither has one.
    """
    host = host_of(address)
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        import keyring
        from keyring.errors import KeyringError

        with suppress(KeyringError):  # a machine without one, or one that stays locked
            token = (keyring.get_password(SERVICE, host) or "").strip()
    if not token:
        raise UsageError(
            f"There is no token for {host}.",
            f"Make one in your account there, then: keyring set {SERVICE} {host}, or the environment variable {TOKEN}",
        )
    return token
