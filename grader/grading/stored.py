"""Grade again from the gradebook alone: everything that was handed in, or one check of it, and what would change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from grader.catalogue import Kata
from grader.errors import UsageError, did_you_mean
from grader.gradebook.records import Key, StoredHandIn
from grader.gradebook.store import Gradebook
from grader.grading.run import Marks
from grader.reports.report import WRONG, CheckReport, KataReport
from grader.submissions.submission import Submission


@dataclass(frozen=True)
class StoredLearner:
    """A learner's hand-ins as the gradebook kept them, each content once; nothing is opened before it is asked for."""

    learner: str
    book: Gradebook
    kept: Sequence[StoredHandIn]

    def submissions(self, katas: Sequence[Kata]) -> Iterator[Submission]:
        """Yield what was handed in for these katas."""
        wanted = {kata.slug for kata in katas}
        for one in self.kept:
            if one.kata in wanted and (bundle := self.book.bundle(one.attempt)) is not None:
                yield Submission(
                    learner=self.learner,
                    kata=one.kata,
                    bundle=bundle,
                    submitted_at=one.submitted_at,
                    stored=True,
                )


def stored_learners(
    book: Gradebook, katas: Collection[str], learners: Collection[str] | None
) -> list[StoredLearner]:
    """Return who handed in anything for these katas; `learners` are identities, None means all."""
    found: dict[str, list[StoredHandIn]] = {}
    for one in book.stored(learners):
        if one.kata in katas:
            found.setdefault(one.learner, []).append(one)
    return [StoredLearner(name, book, kept) for name, kept in found.items()]


class Regraded(msgspec.Struct, frozen=True, kw_only=True):
    """What a grading gives now, beside what it gave."""

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

    book: Marks
    before: Gradebook
    check: str | None = None
    """Only this check is taken over from the new grading, and what was skipped before."""
    rehearsal: bool = False
    changes: list[Regraded] = field(default_factory=list)

    @property
    def nonce(self) -> bytes:
        """What seeds derive from."""
        return self.book.nonce

    def keys(self, learner: str) -> dict[str, frozenset[Key]]:
        """Return, by kata, the keys of everything that was handed in; a check alone is always looked at anew."""
        found = self.book.keys(learner)
        if self.check is None:
            return found
        return {kata: frozenset(Key(key.digest, "") for key in keys) for kata, keys in found.items()}

    def record(self, run: int, submission: Submission, key: Key, report: KataReport) -> None:
        """Note what changes, and keep it unless this is a rehearsal."""
        number = self.before.newest_attempt(submission.learner, submission.kata, key.digest)
        kept = self.before.attempt(number) if number is not None else None
        if kept is not None and key.terms:
            if self.check is not None:
                report = with_check(kept.report, report, self.check)
            self.changes.append(
                Regraded(
                    learner=submission.learner,
                    kata=submission.kata,
                    attempt=kept.id,
                    before=kept.report,
                    after=report,
                )
            )
            if self.check is not None and not self.changes[-1].differs:
                return
        if not self.rehearsal:
            self.book.record(run, submission, key, report)

    def reuse(self, run: int, submission: Submission, key: Key) -> None:
        """Nothing was handed in again: there is nothing to note."""

    def record_answers(self, run: int, submission: Submission) -> None:
        """What is stored brings no answers along: they are kept by themselves."""


def with_check(old: KataReport, new: KataReport, name: str) -> KataReport:
    """Return `old` with one check as `new` has it, and those that were skipped before; where it has none, `new`."""
    if not old.checks:
        return new
    fresh = {check.id: check for check in new.checks}

    def taken(check: CheckReport) -> CheckReport:
        wanted = _is_called(check, name) or check.status == "skipped"
        return fresh.get(check.id, check) if wanted else check

    checks = [taken(check) for check in old.checks]
    known = {check.id for check in checks}
    checks += [check for check in new.checks if _is_called(check, name) and check.id not in known]
    score = old.score + sum(check.points for check in checks) - sum(check.points for check in old.checks)
    most = old.max_score + sum(one.max_points for one in checks) - sum(one.max_points for one in old.checks)
    status = old.status
    if any(check.status in WRONG for check in checks):
        status = "fail" if old.status == "pass" else old.status
    elif any(check.status in WRONG for check in old.checks) and old.status == "fail":
        status = "pass"  # else it failed for something that no check is blamed for, and still does
    return msgspec.structs.replace(
        old,
        checks=checks,
        score=round(score, 6),
        max_score=round(most, 6),
        status=status,
        versions=new.versions,
    )


def _is_called(check: CheckReport, name: str) -> bool:
    return name in (check.name, check.id)


def check_meant(kept: Gradebook, katas: Collection[str], name: str) -> str:
    """Return the check that a person means, by its claim or its function, as reports or packs have it.

    Raises:
        UsageError: none is called that.
    """
    known: dict[str, None] = {}
    for report in kept.reports(katas=katas):
        known.update(dict.fromkeys(word for check in report.checks for word in (check.name, check.id)))
    if name in known:
        return name
    raise UsageError(
        f"--check {name}: no check that was graded has this name.{did_you_mean(name, list(known))}",
        "Give its claim, as `kata gradebook show LEARNER ID` prints it, or the name of its function.",
    )
