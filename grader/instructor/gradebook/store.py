"""The gradebook as the rest of Kata sees it: opened, written by one run at a time, read by anybody.

How each of its words is kept is next to it: `recording` (what a run writes), `marks` (what counts), `history` (what
happened), `events` (what people decide), `identities` (who is who), `connections` (transactions and the lock).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from grader.instructor.gradebook import answers, events, identities, pushes, recording
from grader.instructor.gradebook import history as of_history
from grader.instructor.gradebook import marks as of_marks
from grader.instructor.gradebook.connections import Connections, grading
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.database import DEFAULT, Address
from grader.instructor.gradebook.errors import GradebookError, GradebookUsageError
from grader.instructor.gradebook.events import Decision, Event, Provenance, Sort
from grader.instructor.gradebook.migrate import HOW_MADE
from grader.instructor.gradebook.recording import Argument, Recording
from grader.instructor.gradebook.row_types import AttemptGraded, Given, Key, Mark
from grader.instructor.submissions.submission import Bundle
from grader.report.report import KataReport

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=Decision)
__all__ = ["DEFAULT", "Argument", "Gradebook", "GradebookError", "GradebookUsageError"]


def _reading(
    doing: str, function: Callable[Concatenate[Connection, Course, P], T], *, whole: bool = False
) -> Callable[Concatenate[Gradebook, P], T]:
    """Make a function a method, which opens the connection that it reads from.

    Args:
        doing: what for, in an error's words; `{}` is the first argument.
        function: what is called with connection and course, and documents the method.
        whole: several queries must see the same state.
    """

    @wraps(function)
    def method(book: Gradebook, /, *given: P.args, **named: P.kwargs) -> T:
        with book._connections.reading(doing.format(*given), whole=whole) as connection:
            return function(connection, book.course, *given, **named)

    return method


class Gradebook:
    """A class's marks in a database. Open it with `Gradebook.open`; it is a context manager.

    One object may be used by several threads. Every method raises `GradebookError` when the database refuses; what was
    recorded before stays.
    """

    def __init__(self, connections: Connections, nonce: bytes, course: Course) -> None:
        self.nonce = nonce
        """32 random bytes, made with the gradebook; the seeds of hidden checks derive from them."""
        self.course = course
        """The settings that `marks` follows: names, due dates, what lateness costs."""
        self._connections = connections
        self._guard = threading.RLock()
        self._recording: Recording | None = None
        self.ungraded: dict[tuple[str, str], None] = {}
        """What `rows` came upon that is not graded yet, by learner and kata: a run has not come to it, or the machine
        failed."""

    @classmethod
    def open(cls, where: str, *, create: bool, course: Course | None = None) -> Gradebook:
        """Open a gradebook, or create it.

        Args:
            where: a path, or an address such as `postgresql://USER:PASSWORD@HOST/DATABASE`.
            create: make it when nothing is there.
            course: what `marks` follows; without, nothing is late and identities are names.

        Raises:
            GradebookUsageError: there is none, or something else.
            GradebookError: it is locked, read-only, damaged, from another version, or its server is not there.
        """
        place = Address.parse(where)
        if place.file is not None:
            # Told here, since SQLite's own errors know neither folders nor pipes.
            if place.file.exists() and not place.file.is_file():
                what = "a folder" if place.file.is_dir() else "a pipe, a socket or a device"
                raise GradebookUsageError(
                    f"{place.display}: this is {what}; a gradebook is a file.", HOW_MADE
                )
            # SQLite finds its log by the file's name: two who write under two names damage it.
            if place.file.exists() and (names := place.file.stat().st_nlink) > 1:
                raise GradebookUsageError(
                    f"{place.display}: this file has {names} names (hard links), and a gradebook must have one.",
                    "Replace one of them by a copy, or delete it.",
                )
            if not create and not place.file.exists():
                raise GradebookUsageError(f"{place.display}: there is no gradebook.", HOW_MADE)
            if not place.file.parent.is_dir():
                raise GradebookUsageError(
                    f"{place.display}: its folder does not exist.",
                    "Create it, or name another file.",
                )
        connections, nonce = Connections.open(place, create=create)
        return cls(connections, nonce, course or Course())

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End this process's run, unfinished if it is, and let the database go. Twice is fine."""
        with self._guard:
            if self._recording is not None:
                self._recording.close()
            self._connections.close()

    @property
    def where(self) -> str:
        """The address as people may see it, without a password."""
        return self._connections.place.display

    @property
    def address(self) -> str:
        """The address for another process of ours, wherever that stands; it may hold a password."""
        return self._connections.place.full_url

    # A run

    def start_run(
        self, arguments: Mapping[str, Argument], awaited: Collection[tuple[str, str]] = ()
    ) -> Recording:
        """Begin grading; until it is finished or closed, no other process can.

        Args:
            arguments: what the run was asked for, kept so that it can be repeated; passwords in addresses are not.
            awaited: learners and katas of which something may be in the download: not graded yet, until `reach`.

        Raises:
            GradebookError: another run grades into this gradebook.
        """
        with self._guard:
            if self._recording is not None and not self._recording.is_over:
                raise ValueError("this gradebook object is in a run already")
            self._recording = Recording.start(self._connections, self.nonce, arguments, awaited)
            return self._recording

    def busy(self) -> str:
        """Say whose run is grading into this gradebook; nothing where one may begin now."""
        with self._connections.locked("looking whether a run is grading") as free:
            return "" if free else grading(self._connections)

    def alone(self, name: str) -> AbstractContextManager[bool]:
        """Enter with True in one process at a time, for something of this name; with False where another is inside.

        Who dies inside has left it.
        """
        return self._connections.locked(f"taking turns for {name}", name)

    def keys(self, learner: str) -> dict[str, frozenset[Key]]:
        """Return, by kata, what the newest gradings of everything that a learner handed in depended on."""
        with self._connections.reading(f"reading what {learner} has") as connection:
            return recording.keys(connection, learner)

    def ungraded_tries(self, learner: str) -> dict[tuple[str, str | None], int]:
        """Return, by kata and digest, how often something that a learner handed in could not be graded."""
        with self._connections.reading(f"reading what {learner} has") as connection:
            return recording.ungraded_tries(connection, learner)

    # What counts

    def rows(
        self, katas: Collection[str] | None = None, learners: Collection[str] | None = None
    ) -> Iterator[Mark]:
        """Yield the same as `marks`, for somebody to see: what is not graded yet is noted in `ungraded`."""
        for mark in self.marks(katas, learners):
            if not mark.graded:
                self.ungraded[mark.learner, mark.kata] = None
            yield mark

    def marks(
        self, katas: Collection[str] | None = None, learners: Collection[str] | None = None
    ) -> Iterator[Mark]:
        """Yield a mark for every learner and kata, by learner (2 before 10), then by the kata's number.

        Learners are all that were graded and all of the roster, except those who left; katas are those that were graded
        for anybody, as far as the course has them. Who is in the roster and was never graded has marks too, with status
        `missing`. What is read is one state of the gradebook, whatever is written meanwhile; memory does not grow with
        the class.

        Args:
            katas: only these, by slug, whatever the course says.
            learners: only these.
        """
        chosen = self.course.katas if katas is None else katas
        with self._connections.reading("reading its marks", whole=True) as connection:
            yield from of_marks.marks(connection, self.course, chosen, learners, self.reports_of)

    state = _reading("reading what has changed", of_history.state)

    stamps = _reading("reading what has changed", of_history.change_counters, whole=True)

    computed = _reading("reading what was computed", of_history.computed)

    def keep_computed(self, name: str, stamp: str, value: bytes) -> None:
        """Store what takes long to compute, in the place of what was stored under the name."""
        with self._guard, self._connections.deciding("storing what was computed") as connection:
            of_history.keep_computed(connection, name, stamp, value)

    def reports(
        self,
        run: int | None = None,
        katas: Collection[str] | None = None,
        learners: Collection[str] | None = None,
    ) -> Iterator[KataReport]:
        """Yield the reports that count as they were graded, in the order of `rows`.

        Args:
            run: only what this run saw last, whether it graded or reused it.
            katas: only these, by slug.
            learners: only these.
        """
        for mark in self.marks(katas, learners):
            if mark.hand_in is not None and run in (None, mark.hand_in.run):
                yield mark.report

    def reports_of(
        self, attempts: Collection[int], *, as_graded: bool = False
    ) -> Iterator[tuple[int, KataReport]]:
        """Yield attempts with their reports: in the points of the course, or `as_graded` in those of the pack."""
        read = of_history.reports_as_graded if as_graded else of_history.reports_of
        with self._connections.reading("reading reports", whole=True) as connection:
            yield from read(connection, self.course, attempts)

    learners = _reading("reading its learners", identities.learners)

    katas = _reading("reading its katas", identities.slugs)

    # What people decide

    version = _reading("reading what is decided about {}", of_history.version)

    def decide(self, event: Event, *, seen: int | None = None, of: str | None = None) -> int:
        """Write down what somebody decided; return its number, for `undo`.

        Args:
            event: what, about whom, who decided it, and why.
            seen: the version of a mark that was looked at.
            of: the kata of that mark, where the decision is not about a kata alone.

        Raises:
            GradebookUsageError: the learner or the kata is unknown, or nothing says why.
            ConflictError: the mark has another version by now; nothing was written.
        """
        event.check()
        learner = event.learner
        whose = learner or "the class"
        with self._guard, self._connections.deciding(f"writing a decision about {whose}") as connection:
            if learner is None:
                return events.write(connection, event)
            # Before anything is read: two who decide about one learner come one after the other.
            of_history.lock_learner(connection, learner)
            kata_id = None
            if (about := event.kata or of) is None:
                somebody = identities.find_learner(connection, self.course, learner)
            else:
                somebody, number = identities.find(connection, self.course, learner, about)
                # After `lock_learner`: who waited for the same learner sees what was decided meanwhile.
                of_history.check_version(connection, somebody, number, seen)
                kata_id = number if event.kata is not None else None
            own = identities.ensure_learner_row(connection, somebody)
            return events.write(connection, event, own, kata_id)

    def decide_together(self, together: Sequence[Event]) -> int:
        """Write the same decision about many marks, all or none; return one number, by which `undo` takes all back.

        Raises:
            GradebookUsageError: a learner or a kata is unknown, nothing says why, or there is none.
        """
        if not together:
            raise GradebookUsageError("There is nobody left to decide about.")
        with self._guard, self._connections.deciding("writing one decision about many") as connection:
            # In one order, so that two who do so never wait for each other.
            together = sorted(together, key=lambda event: (event.learner or "", event.kata or ""))
            for learner in dict.fromkeys(event.learner or "" for event in together):
                of_history.lock_learner(connection, learner)
            # All before the first is written: an unknown name ends the transaction with nothing in it.
            rows = identities.rows_of(
                connection, self.course, [(event.learner, event.kata) for event in together]
            )
            parts = [events.write(connection, event, *row) for event, row in zip(together, rows, strict=True)]
            return events.write(connection, events.Together(parts=parts, made=together[0].made))

    def undo(self, *numbers: int, author: str, comment: str, only: Sort | None = None) -> list[Event]:
        """Take decisions back, all or none, and return them; the history keeps both.

        Args:
            numbers: of any decisions.
            author: whose word it is.
            comment: why.
            only: what they are called, where they must be of one sort.

        Raises:
            GradebookUsageError: there is none of a number, one was taken back already, or nothing says why.
        """
        by = Provenance(author=author, comment=comment)
        with self._guard, self._connections.deciding("taking decisions back") as connection:
            return [events.undo(connection, number, by, only) for number in numbers]

    rulings = _reading("reading what was decided", of_history.rulings)

    def standing(self, of: type[E], learners: Collection[str] | None = None) -> list[E]:
        """Return the decisions of one kind that stand, oldest first, of these learners alone."""
        found = self.rulings([of], learners)
        return [event for event in found if isinstance(event, of) and not event.revoked]

    comments = _reading("reading what was said", of_history.about_hand_ins)

    left = _reading("reading who is in the course", identities.left)

    aliases = _reading("reading who is who", identities.aliases)

    identity = _reading("reading who is who", identities.identity)

    handed_in = _reading("reading what {} handed in", of_marks.submissions_of, whole=True)

    def hand_in_of(self, learner: str, kata: str, attempt: int) -> int:
        """Return the number of the hand-in that an attempt graded, as a ruling `choose` has it.

        Raises:
            GradebookUsageError: it is not an attempt of this learner at this kata, or nothing was in it.
        """
        stored = self.attempt(attempt)
        known = self.handed_in(learner, [kata]).get(kata, (0, []))[1]
        own = {attempt: number for number, attempt in self.attempts_of(learner, kata).items()}
        given = [
            hand_in
            for hand_in in known
            if stored is not None and hand_in.digest and hand_in.digest == stored.key.digest
        ]
        if attempt not in own or not given or stored is None:
            which = f"attempt {own[attempt]}" if attempt in own else "such attempt"
            raise GradebookUsageError(f"{learner} has no {which} of {kata} with anything in it.")
        exact = [hand_in for hand_in in given if hand_in.submitted_at == stored.submitted_at]
        return (exact or given)[0].id

    # Written answers; `written` is how the rest of Kata marks them

    written_answers = _reading("reading written answers", answers.written_answers, whole=True)

    answer_sheet = _reading("reading written answers", answers.sheet_of)

    answer_texts = _reading("reading the answers for {}", answers.texts)

    def mark_answers(self, given: Collection[Given], criterion: events.SetCriterion | None = None) -> int:
        """Write what somebody gives for answers, all or nothing; return one number, by which `undo` takes all back.

        Args:
            given: whose answers to which questions, and how much.
            criterion: a change of how the question is marked, if that is the reason.

        Raises:
            GradebookUsageError: a learner or a kata is unknown, or points are out of bounds.
            ConflictError: another mark than the one that was looked at stands by now.
        """
        parts: list[int] = []
        with self._guard, self._connections.deciding("marking answers") as connection:
            if criterion is not None:
                parts.append(events.write(connection, criterion))
            # In one order, so that two who do so never wait for each other.
            for answer in sorted(
                given, key=lambda answer: (answer.learner, answer.kata, answer.mark.question)
            ):
                of_history.lock_learner(connection, answer.learner)
                somebody, kata_id = identities.find(connection, self.course, answer.learner, answer.kata)
                parts.append(answers.mark(connection, somebody, kata_id, answer.mark, answer.seen))
            if len(parts) == 1:
                return parts[0]
            first = criterion or next(iter(given)).mark
            why = criterion.made.comment if criterion is not None else answers.in_words(given)
            made = Provenance(author=first.made.author, comment=why)
            return events.write(connection, events.Together(parts=parts, made=made))

    # Marks in another system; `push` is how they get there

    pushed = _reading("reading what was pushed", pushes.pushed)

    def note_push(self, learner: str, target: str, push: pushes.Push) -> None:
        """Write down, on the disk when this returns, that a mark is about to be sent or has arrived."""
        with self._guard, self._connections.deciding(f"noting what was sent of {learner}") as connection:
            pushes.record_push(connection, self.course, learner, target, push)

    # What happened

    redrawn = _reading("reading what was drawn again", of_history.redrawn)

    unused_times = _reading("reading unused times", of_history.unused_times)

    runs = _reading("reading its runs", of_history.runs)

    unfinished_runs = _reading("reading its runs", of_history.unfinished_runs)

    history = _reading("reading the history of {}", of_history.of_mark)

    decisions = _reading("reading what was decided", of_history.newest_decisions)

    def assign(
        self,
        what: Collection[tuple[str, str]],
        markers: Sequence[str],
        *,
        comment: str,
        author: str,
        most: int | None = None,
    ) -> list[int]:
        """Share hand-ins, learner and kata, among markers; return the rulings' numbers, for `undo`.

        Those that are somebody's stay theirs.

        Where `most` is given, it is the first of those that are nobody's at this moment.

        Raises:
            GradebookUsageError: nothing says why.
        """
        with self._guard, self._connections.deciding("sharing out hand-ins") as connection:
            of_history.lock_learner(connection, "")  # two who take the next ten take different ones
            people = {
                somebody.name: somebody for somebody in identities.list_learners(connection, self.course)
            }
            numbers = {slug: kata for kata, (slug, _) in identities.katas(connection, None).items()}
            rows = [
                (identities.ensure_learner_row(connection, people[learner]), numbers[kata])
                for learner, kata in what
                if learner in people and kata in numbers
            ]
            made = Provenance(author=author, comment=comment)
            drafts = [events.Assign(marker=marker, made=made) for marker in markers]
            return events.assign(connection, rows, drafts, most)

    stored = _reading("reading what was handed in", of_history.stored_contents, whole=True)

    newest_attempt = _reading("reading what {} handed in", of_history.newest_attempt)

    attempt_numbers = _reading("reading what was graded", of_history.attempt_numbers)

    def attempts_of(self, learner: str, kata: str) -> dict[int, int]:
        """Return a learner's attempts at a kata by the numbers that people see, oldest first.

        Raises:
            GradebookUsageError: the learner or the kata is unknown.
        """
        return {
            event.number: event.attempt
            for event in self.history(learner, kata)
            if isinstance(event, AttemptGraded)
        }

    def attempt_of(self, learner: str, kata: str, number: int) -> int:
        """Return the attempt that is a learner's how-manyth at a kata.

        Raises:
            GradebookUsageError: the learner or the kata is unknown, or there are not so many.
        """
        there = self.attempts_of(learner, kata)
        found = there.get(number)
        if found is None:
            known = ", ".join(map(str, there))
            raise GradebookUsageError(
                f"There is no attempt {number} of {learner} at {kata}. There is {known or 'no attempt'}."
            )
        return found

    attempt = _reading("reading attempt {}", of_history.attempt)

    bundle = _reading("reading what attempt {} graded", of_history.bundle)

    def contents_of_kata(self, kata: str) -> Iterator[tuple[str, int, Bundle]]:
        """Yield whatever was handed in for a kata, each content of a learner once, in the order it was graded.

        That is the identity, which of the learner's attempts graded it last, and the files.
        """
        identity, own = self.identity(), self.attempt_numbers()
        with self._connections.reading(f"reading what was handed in for {kata}", whole=True) as connection:
            for name, attempt, bundle in of_history.contents_of_kata(connection, kata):
                yield identity(name), own.get(attempt, 0), bundle
