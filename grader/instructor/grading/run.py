"""Grade a class: which submissions need it, hand them out, keep what comes back. Can be stopped at any moment."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import UNSET

from grader.catalogue import Kata
from grader.devices import Device
from grader.engine.wire import frames
from grader.errors import EngineError, KataError
from grader.instructor.gradebook.errors import SerializationError
from grader.instructor.gradebook.row_types import Key
from grader.instructor.grading.cache_key import kata_digest, seeds_for, terms_of
from grader.instructor.grading.cache_key import versions as versions_here
from grader.instructor.grading.messages import (
    Answer,
    NotGraded,
    Setup,
    Stopped,
    Task,
    decode_answer,
)
from grader.instructor.grading.processes import grade
from grader.instructor.submissions.submission import Submission
from grader.report.report import Isolation, KataReport, KataStatus, SpeedScore

if TYPE_CHECKING:
    from grader.instructor.gradebook.recording import Recording
    from grader.instructor.grading.regrading import Regrading

QUEUE_S = 3600.0
"""What a task may take where a device has to be free for it: waiting until it is, and being timed."""
AHEAD = 4
"""Tasks handed out per slot: enough that none waits for us, few enough that memory stays flat."""
TRIES = 3
"""How often a task is handed out when the executor loses it, a dead machine say."""


class Learner(Protocol):
    """A learner as `grader.instructor.submissions` finds one."""

    @property
    def learner(self) -> str:
        """The identity."""
        ...

    def submissions(self, katas: Sequence[Kata]) -> Iterable[Submission]:
        """Return one submission for every kata; from a gradebook, each content that was handed in."""
        ...


@dataclass(frozen=True)
class RunPolicy:
    """How submissions are graded."""

    seed: int | None = None
    """Fixed, or from the gradebook's nonce."""
    timeout_s: float | None = None
    device: str = "cpu"
    perf: bool = False
    """Whether speed and memory count."""
    require_isolation: Isolation | None = None
    force: bool = False
    """Grade also what has not changed."""


@dataclass
class Tally:
    """How far a run is. Every submission is counted once, under `graded`, `unchanged` or `untouched`."""

    total: int
    graded: int = 0
    unchanged: int = 0
    untouched: set[tuple[str, str]] = field(default_factory=set)
    """Learners and katas: what is not in this download and was handed in before: nothing of it was touched."""
    by_status: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[Submission, NotGraded]] = field(default_factory=list)
    """What could not be graded, though not for the submission's fault: graded again next time."""
    notes: list[tuple[Submission, str]] = field(default_factory=list)
    proposed: list[Submission] = field(default_factory=list)
    """What is missing, or was handed in before, though a file of another name may be the answer."""

    @property
    def done(self) -> int:
        """How many rows stand."""
        return self.graded + self.unchanged + len(self.untouched)


Watch = Callable[[Tally, Submission, KataReport | None], None]
"""Told after every row; the report is None where the old mark stands."""


class Run:
    """One run over a class."""

    def __init__(self, katas: Sequence[Kata], recording: Recording | Regrading, policy: RunPolicy) -> None:
        self._katas = list(katas)
        self._recording = recording
        self._policy = policy
        self._left = Counter[tuple[str, str]]()
        """How many submissions of a learner for a kata are not done yet: an earlier attempt is not the last word."""
        self.setup = setup_for(katas, policy)
        self._setup = frames.encode(self.setup)

    def grade(
        self,
        learners: Sequence[Learner],
        executor: Executor,
        slots: int,
        watch: Watch,
        total: int | None = None,
    ) -> Tally:
        """Grade what has changed and keep every outcome as soon as it is there.

        Args:
            learners: whose work it is.
            executor: who grades.
            slots: how many tasks it takes at once.
            watch: told after every row.
            total: how many submissions there are; one for each learner and kata otherwise.

        Raises:
            EngineError: the executor is gone. What was graded until then is kept.
        """
        tally = Tally(total=len(learners) * len(self._katas) if total is None else total)
        out: dict[Future[bytes], tuple[Submission, Task]] = {}
        waiting = self._wanted(learners, tally, watch)
        try:
            while True:
                while len(out) < AHEAD * slots and (wanted := next(waiting, None)) is not None:
                    out[self._hand_out(executor, wanted[1])] = wanted
                # Nothing is being graded and nothing waits.
                if not out:
                    return tally
                done = wait(out, return_when=FIRST_COMPLETED).done
                for future in [future for future in out if future in done]:  # in the order of handing out
                    submission, task = out.pop(future)
                    answer = self._answer(future, task)
                    if answer is None:
                        task = msgspec.structs.replace(task, tries=task.tries + 1)
                        out[self._hand_out(executor, task)] = submission, task
                    else:
                        self._keep(submission, (task.seed, task.hidden_seed or 0), answer, tally, watch)
        finally:
            for future in out:
                future.cancel()

    def _wanted(
        self, learners: Iterable[Learner], tally: Tally, watch: Watch
    ) -> Iterator[tuple[Submission, Task]]:
        """Yield what is to be graded, and note of the rest what became of it."""
        for learner in learners:
            known, tries = (
                self._recording.keys(learner.learner),
                self._recording.ungraded_tries(learner.learner),
            )
            submissions = list(learner.submissions(self._katas))
            self._left.update((submission.learner, submission.kata) for submission in submissions)
            for submission in submissions:
                had = known.get(submission.kata, frozenset())
                if submission.answers is not None:
                    self._recording.record_answers(submission)
                if submission.proposal is not None:
                    tally.proposed.append(submission)
                # What was graded once stays, also when a later download does not hold it any more.
                if submission.status == "missing" and any(key.digest for key in had):
                    tally.untouched.add((submission.learner, submission.kata))
                    if submission.proposal is not None:  # what came in since may be a better answer, misnamed
                        self._recording.propose(submission)
                    self._done(submission)
                    watch(tally, submission, None)
                    continue
                tally.notes += [(submission, note) for note in submission.notes]
                if submission.denied is not None:
                    why = NotGraded(f"{submission.denied}.", "Correct its permissions: chmod -R u+rX")
                    self._keep(submission, (0, 0), why, tally, watch)
                    continue
                key, seeds = self._draw(submission, had, tries)
                if key in had and not self._policy.force:
                    self._recording.mark_unchanged(submission, key)
                    tally.unchanged += 1
                    self._done(submission)
                    watch(tally, submission, None)
                else:
                    known[submission.kata] = had | {key}  # an earlier attempt may be among them
                    # What may be known of a submission where it is graded: not whose it is.
                    yield (
                        submission,
                        Task(
                            kata=submission.kata,
                            seed=seeds[0],
                            hidden_seed=seeds[1],
                            bundle=submission.bundle,
                            status=submission.status,
                            message=submission.message,
                        ),
                    )

    def _draw(
        self, submission: Submission, had: Collection[Key], tries: Mapping[tuple[str, str | None], int]
    ) -> tuple[Key, tuple[int, int]]:
        """Return the key and the seeds of what is to be graded: of its mark where it has one, else of the next try.

        The seeds depend on the content: the same hand-in gets the same draw, whenever it is graded again. Only where it
        could not be graded with one, through no fault of its own, it gets another.
        """
        digest = submission.bundle.digest if submission.bundle is not None else None
        for number in range(tries.get((submission.kata, digest), 0) + 1):
            seeds = seeds_for(self._recording.nonce, submission.kata, digest or "", self._policy.seed, number)
            key = self._key(submission, seeds)
            if key in had:
                break
        return key, seeds

    def _key(self, submission: Submission, seeds: tuple[int, int]) -> Key:
        terms = terms_of(self.setup, submission.kata, seeds)
        if submission.bundle is not None:
            return Key(submission.bundle.digest, terms)
        why = f"{terms}\0{submission.status}\0{submission.message}"  # there is no content that could change
        return Key(None, hashlib.sha256(why.encode()).hexdigest())

    def _hand_out(self, executor: Executor, task: Task) -> Future[bytes]:
        try:
            return executor.submit(grade, self._setup, frames.encode(task))
        except (RuntimeError, OSError) as error:
            raise _lost(error) from error

    def _answer(self, future: Future[bytes], task: Task) -> Answer | None:
        """Return the answer; None when the executor lost the task and it should be handed out again."""
        try:
            answer = future.result()
        except (BrokenExecutor, CancelledError) as error:
            raise _lost(error) from error
        except Exception as error:  # an executor's own: the machine that graded is gone
            if task.tries < TRIES:
                return None
            return NotGraded(f"The machine that was grading was lost {TRIES} times ({type(error).__name__}).")
        try:
            return decode_answer(answer)
        except (msgspec.DecodeError, TypeError) as error:
            return NotGraded(
                f"The result that came back from grading cannot be understood ({error}).",
                "Install the same version of Kata on every machine that grades.",
            )

    def _keep(
        self, submission: Submission, seeds: tuple[int, int], answer: Answer, tally: Tally, watch: Watch
    ) -> None:
        key, seed = self._key(submission, seeds), seeds[0]
        if isinstance(answer, KataReport):
            report = answer
        elif isinstance(answer, Stopped):
            report = self._without(submission, seed, answer.status, answer.message)
        else:
            tally.refused.append((submission, answer))
            # A row all the same, with the kata's maximum, or the others would make a whole mark; and with terms that
            # never recur, so that the next run tries again.
            key = Key(key.digest, None)
            text = f"This was not graded, and it is not the submission's fault. {answer.message}"
            report = self._without(submission, seed, "error", text)
        report.learner = submission.learner
        try:
            self._recording.record(submission, key, report)
        except SerializationError as error:
            refused = NotGraded(
                f"The gradebook could not read back its report ({error}).", "Report it as a fault of Kata."
            )
            self._keep(submission, seeds, refused, tally, watch)
            return
        tally.graded += 1
        tally.by_status[report.status] = tally.by_status.get(report.status, 0) + 1
        self._done(submission)
        watch(tally, submission, report)

    def _done(self, submission: Submission) -> None:
        of = submission.learner, submission.kata
        self._left[of] -= 1
        if not self._left[of]:
            self._recording.reach(submission)

    def _without(self, submission: Submission, seed: int, status: KataStatus, message: str) -> KataReport:
        kata = next(kata for kata in self._katas if kata.slug == submission.kata)
        return without_checks(kata, self._policy, seed, status, message)


def without_checks(kata: Kata, policy: RunPolicy, seed: int, status: KataStatus, message: str) -> KataReport:
    """Return the report of a submission of which no check came to an end."""
    return KataReport(
        kata=kata.slug,
        number=kata.number,
        status=status,
        score=0.0,
        max_score=kata.points + kata.hidden_points,
        speed=SpeedScore(score=0.0, max_score=kata.speed_points) if policy.perf and kata.speed else UNSET,
        seed=seed,
        device=policy.device,
        versions=versions_here(),
        message=message,
    )


def setup_for(katas: Sequence[Kata], policy: RunPolicy) -> Setup:
    """Return what every grading process of a run is told."""
    return Setup(
        katas={kata.slug: kata_digest(kata) for kata in katas},
        timeout_s=policy.timeout_s,
        queue_s=QUEUE_S if policy.perf or Device(policy.device).accelerates else 0.0,
        device=policy.device,
        perf=policy.perf,
        require_isolation=policy.require_isolation,
    )


def _lost(error: BaseException) -> KataError:
    return EngineError(
        f"The grading processes are gone ({type(error).__name__}: {error}).",
        "What was graded is kept; the same command goes on from there.",
    )
