"""Grade again from the gradebook alone: everything that was handed in, and what would change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from grader.catalogue import Kata
from grader.errors import UsageError, did_you_mean
from grader.instructor.gradebook.check_points import rescaled, unknown_names
from grader.instructor.gradebook.recording import Recording
from grader.instructor.gradebook.row_types import Key, Mark, StoredSubmission
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Submission
from grader.report.report import KataReport


@dataclass(frozen=True)
class StoredLearner:
    """A learner's hand-ins as the gradebook kept them, each content once; nothing is opened before it is asked for."""

    learner: str
    book: Gradebook
    hand_ins: Sequence[StoredSubmission]

    def submissions(self, katas: Sequence[Kata]) -> Iterator[Submission]:
        """Yield what was handed in for these katas."""
        wanted = {kata.slug for kata in katas}
        for hand_in in self.hand_ins:
            if hand_in.kata in wanted and (bundle := self.book.bundle(hand_in.attempt)) is not None:
                yield Submission(
                    learner=self.learner,
                    kata=hand_in.kata,
                    bundle=bundle,
                    submitted_at=hand_in.submitted_at,
                    stored=True,
                )


def stored_learners(
    book: Gradebook, katas: Collection[str], learners: Collection[str] | None
) -> list[StoredLearner]:
    """Return who handed in anything for these katas; `learners` are identities, None means all."""
    found: dict[str, list[StoredSubmission]] = {}
    for hand_in in book.stored(learners):
        if hand_in.kata in katas:
            found.setdefault(hand_in.learner, []).append(hand_in)
    return [StoredLearner(name, book, hand_ins) for name, hand_ins in found.items()]


class Regraded(msgspec.Struct, frozen=True, kw_only=True):
    """What a grading gives now, and what it gave."""

    learner: str
    kata: str
    attempt: int
    before: KataReport
    after: KataReport

    @property
    def checks(self) -> list[str]:
        """The names of the checks that came out differently, whatever they are worth."""
        was = {
            check.name: (check.status, _part(check.points, check.max_points)) for check in self.before.checks
        }
        now = {
            check.name: (check.status, _part(check.points, check.max_points)) for check in self.after.checks
        }
        return [name for name in {**was, **now} if was.get(name) != now.get(name)]

    @property
    def gain(self) -> float:
        """By how much of all its points the mark changes: 15 of 15 is as much as 17 of 17."""
        was, now = self.before, self.after
        return round(_part(now.earned, now.possible) - _part(was.earned, was.possible), 6)

    @property
    def differs(self) -> bool:
        """Whether the mark, the status or a check is another; not where only what it is out of changes."""
        return bool(self.gain) or self.before.status != self.after.status or bool(self.checks)


def _part(points: float, most: float) -> float:
    return round(points / most, 6) if most else 0.0


def worth_changes(book: Gradebook, marks: Iterable[Mark]) -> list[Regraded]:
    """Return the marks that count otherwise because the course says what checks are worth, the largest change first.

    Args:
        book: with the course.
        marks: those that count.

    Raises:
        UsageError: the course names a check that no hand-in's report has.
    """
    counting = {
        mark.attempt: mark for mark in marks if mark.attempt is not None and mark.kata in book.course.points
    }
    graded = dict(book.reports_of(counting, as_graded=True))
    for kata, table in book.course.points.items():
        wrong, there = unknown_names((report for report in graded.values() if report.kata == kata), table)
        if wrong:
            guess = did_you_mean(wrong[0], there, most=1)
            raise UsageError(
                f"{book.course.path}: `points.{kata}`: {kata} has no check or aspect {wrong[0]}.{guess}",
                f"It has {'; '.join(there)}.",
            )
    found = [
        Regraded(
            learner=mark.learner, kata=mark.kata, attempt=attempt, before=graded[attempt], after=mark.report
        )
        for attempt, mark in counting.items()
    ]
    return largest_first(change for change in found if change.gain)


def largest_first(changes: Iterable[Regraded]) -> list[Regraded]:
    """Return changes, the largest first."""
    return sorted(changes, key=lambda change: (-abs(change.gain), change.learner, change.kata))


@dataclass
class Regrading:
    """The marks of a run from the gradebook: notes what changes, and writes it unless it is a rehearsal."""

    book: Gradebook
    recording: Recording | None
    """None where it is a rehearsal: the history would show a run as if marks had come from it."""
    changes: list[Regraded] = field(default_factory=list)

    @property
    def nonce(self) -> bytes:
        """What seeds derive from."""
        return self.book.nonce

    def keys(self, learner: str) -> dict[str, frozenset[Key]]:
        """Return, by kata, the keys of everything that was handed in."""
        return self.book.keys(learner)

    def ungraded_tries(self, learner: str) -> dict[tuple[str, str | None], int]:
        """Return, by kata and content, how often it could not be graded."""
        return self.book.ungraded_tries(learner)

    def record(self, submission: Submission, key: Key, report: KataReport) -> None:
        """Note what changes, and keep it unless this is a rehearsal."""
        number = self.book.newest_attempt(submission.learner, submission.kata, key.digest)
        stored = self.book.attempt(number) if number is not None else None
        if stored is not None and key.terms:
            self.changes.append(
                Regraded(
                    learner=submission.learner,
                    kata=submission.kata,
                    attempt=stored.id,
                    before=stored.report,
                    after=rescaled(report, self.book.course.points.get(report.kata, {})),
                )
            )
        if self.recording is not None:
            self.recording.record(submission, key, report)

    def mark_unchanged(self, submission: Submission, key: Key) -> None:
        """Nothing was handed in again: there is nothing to note."""

    def propose(self, submission: Submission) -> None:
        """What is stored was taken for an answer already."""

    def reach(self, submission: Submission) -> None:
        """What is stored was in no download."""

    def record_answers(self, submission: Submission) -> None:
        """What is stored brings no answers along: they are kept by themselves."""
