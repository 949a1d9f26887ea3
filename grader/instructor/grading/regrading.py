"""Grade again from the gradebook alone: everything that was handed in, and what would change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from grader.catalogue import Kata
from grader.instructor.gradebook.recording import Recording
from grader.instructor.gradebook.row_types import Key, StoredSubmission
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
        """The names of the checks that came out differently."""
        was = {check.name: (check.status, check.points) for check in self.before.checks}
        now = {check.name: (check.status, check.points) for check in self.after.checks}
        return [name for name in {**was, **now} if was.get(name) != now.get(name)]

    @property
    def differs(self) -> bool:
        """Whether the mark, the status or a check is another."""
        one, other = self.before, self.after
        return (one.status, one.earned, one.possible) != (other.status, other.earned, other.possible) or bool(
            self.checks
        )


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
                    after=report,
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
