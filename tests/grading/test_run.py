"""A run, with an executor and a gradebook of our own: what is handed out, what is kept, what is tried again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from typing import Any

import pytest

from grader.catalogue import Catalogue, Kata
from grader.errors import EngineError
from grader.instructor.gradebook.errors import SerializationError
from grader.instructor.gradebook.row_types import Key
from grader.instructor.grading.messages import NotGraded, Stopped, Task, encode_answer, task_decoder
from grader.instructor.grading.run import AHEAD, TRIES, Run, RunPolicy, Tally
from grader.instructor.submissions import Bundle, Submission
from grader.report.report import KataReport


@dataclass
class Book:
    """What a run needs of a gradebook, in memory."""

    nonce: bytes = b"n" * 32
    kept: dict[tuple[str, str], tuple[Key, KataReport]] = field(default_factory=dict)
    reused: list[tuple[str, str]] = field(default_factory=list)

    def keys(self, learner: str) -> dict[str, frozenset[Key]]:
        return {kata: frozenset({key}) for (who, kata), (key, _) in self.kept.items() if who == learner}

    def record(self, submission: Submission, key: Key, report: KataReport) -> None:
        self.kept[submission.learner, submission.kata] = key, report

    def mark_unchanged(self, submission: Submission, key: Key) -> None:
        self.reused.append((submission.learner, submission.kata))

    def reach(self, submission: Submission) -> None: ...

    def ungraded_tries(self, learner: str) -> dict[tuple[str, str], int]:
        return {}


@dataclass(frozen=True)
class Pupil:
    """A learner with the same source for every kata, or nothing."""

    learner: str
    source: str | None = "x = 1"

    def submissions(self, katas: Sequence[Kata]) -> list[Submission]:
        if self.source is None:
            return [
                Submission(learner=self.learner, kata=kata.slug, status="missing", message="not there")
                for kata in katas
            ]
        bundle = Bundle("a.py", {"a.py": self.source.encode()})
        return [Submission(learner=self.learner, kata=kata.slug, bundle=bundle) for kata in katas]


Answer = Callable[[Task], KataReport | NotGraded | Stopped]


def passes(task: Task) -> KataReport:
    status = "pass" if task.bundle is not None else "missing"
    report = KataReport(kata=task.kata, number="1", status=status, score=1, max_score=1, seed=task.seed)  # type: ignore[arg-type]
    return report


class Desk(Executor):
    """Answers at once, and notes what was asked."""

    def __init__(self, answer: Answer = passes) -> None:
        self.answer = answer
        self.tasks: list[Task] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        task = task_decoder.decode(args[1])
        self.tasks.append(task)
        future: Future[Any] = Future()
        try:
            future.set_result(encode_answer(self.answer(task)))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module")
def katas() -> list[Kata]:
    return list(Catalogue.discover().katas)[:3]


def nothing(tally: Tally, submission: Submission, report: KataReport | None) -> None:
    """Watch nothing."""


def test_every_learner_and_kata_gets_a_row(katas: list[Kata]) -> None:
    book = Book()
    tally = Run(katas, book, RunPolicy()).grade([Pupil("ada"), Pupil("bob", None)], Desk(), 2, nothing)
    assert set(book.kept) == {(who, kata.slug) for who in ("ada", "bob") for kata in katas}
    assert tally.done == tally.total == 6
    assert tally.by_status == {"pass": 3, "missing": 3}
    assert book.kept["bob", katas[0].slug][1].learner == "bob"


def test_what_has_not_changed_is_not_graded_again(katas: list[Kata]) -> None:
    book, desk = Book(), Desk()
    Run(katas, book, RunPolicy()).grade([Pupil("ada"), Pupil("bob", None)], desk, 2, nothing)
    tally = Run(katas, book, RunPolicy()).grade([Pupil("ada"), Pupil("bob", None)], desk, 2, nothing)
    assert (tally.graded, tally.unchanged) == (0, 6)
    assert len(desk.tasks) == 6
    assert len(book.reused) == 6
    changed = Run(katas, book, RunPolicy()).grade(
        [Pupil("ada", "x = 2"), Pupil("bob", None)], desk, 2, nothing
    )
    assert (changed.graded, changed.unchanged) == (3, 3)


@pytest.mark.parametrize(
    "policy",
    [
        RunPolicy(force=True),
        RunPolicy(seed=7),
        RunPolicy(timeout_s=3.0),
        RunPolicy(require_isolation="process"),
    ],
)
def test_other_terms_are_graded_again(katas: list[Kata], policy: RunPolicy) -> None:
    book, desk = Book(), Desk()
    Run(katas, book, RunPolicy()).grade([Pupil("ada")], desk, 1, nothing)
    assert Run(katas, book, policy).grade([Pupil("ada")], desk, 1, nothing).graded == 3


def test_a_kata_that_changed_is_graded_again(katas: list[Kata], monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book()
    Run(katas, book, RunPolicy()).grade([Pupil("ada")], Desk(), 1, nothing)
    from grader.instructor.grading import run

    before = run.kata_digest
    monkeypatch.setattr(run, "kata_digest", lambda kata: before(kata) + ("!" if kata is katas[1] else ""))
    tally = Run(katas, book, RunPolicy()).grade([Pupil("ada")], Desk(), 1, nothing)
    assert (tally.graded, tally.unchanged) == (1, 2)


def test_seeds_follow_the_content_the_kata_and_the_gradebook(katas: list[Kata]) -> None:
    pupils = [Pupil("ada"), Pupil("bob"), Pupil("cy", "x = 2")]
    seeds: dict[tuple[str, bytes, bytes], set[int]] = {}
    hidden: dict[tuple[str, bytes], set[int | None]] = {}
    for nonce in (b"a" * 32, b"b" * 32):
        for _ in range(2):  # the same again in another run
            desk = Desk()
            Run(katas, Book(nonce), RunPolicy()).grade(pupils, desk, 1, nothing)
            for task in desk.tasks:
                assert task.bundle is not None
                seeds.setdefault((task.kata, nonce, task.bundle.files["a.py"]), set()).add(task.seed)
                hidden.setdefault((task.kata, nonce), set()).add(task.hidden_seed)
    assert len(seeds) == len(katas) * 2 * 2
    assert all(len(found) == 1 for found in seeds.values()), "equal content, equal inputs"
    assert all(len(found) == 1 for found in hidden.values()), "hidden checks ask everybody the same"
    assert len(set.union(*hidden.values())) == len(hidden), "in this kata and gradebook alone"
    of = {(kata, nonce): set[int]() for kata, nonce in hidden}
    for (kata, nonce, _), found in seeds.items():
        of[kata, nonce] |= found
    assert len(set.union(*of.values())) == sum(map(len, of.values())), "so do the draws of visible checks"


def test_a_fixed_seed_is_everybodys(katas: list[Kata]) -> None:
    desk, book = Desk(), Book()
    Run(katas, book, RunPolicy(seed=9)).grade([Pupil("ada"), Pupil("cy", "x = 2")], desk, 1, nothing)
    assert {task.seed for task in desk.tasks} == {9}
    assert Run(katas, book, RunPolicy(seed=9)).grade([Pupil("ada")], desk, 1, nothing).unchanged == 3
    assert Run(katas, book, RunPolicy()).grade([Pupil("ada")], desk, 1, nothing).graded == 3


def test_a_refusal_leaves_a_row_that_is_tried_again(katas: list[Kata]) -> None:
    book = Book()

    def refuses_ada(task: Task) -> KataReport | NotGraded:
        return NotGraded("no room", "free some") if task.bundle is not None else passes(task)

    tally = Run(katas, book, RunPolicy()).grade(
        [Pupil("ada"), Pupil("bob", None)], Desk(refuses_ada), 1, nothing
    )
    assert [answer.message for _, answer in tally.refused] == ["no room"] * 3
    report = book.kept["ada", katas[0].slug][1]
    assert (report.status, report.score) == ("error", 0)
    # Or the others would make a whole mark.
    assert report.max_score == katas[0].points + katas[0].hidden_points
    assert "not the submission's fault" in (report.message or "")
    again = Run(katas, book, RunPolicy()).grade([Pupil("ada"), Pupil("bob", None)], Desk(), 1, nothing)
    assert (again.graded, again.unchanged) == (3, 3)
    assert book.kept["ada", katas[0].slug][1].status == "pass"


def test_a_task_that_the_executor_loses_is_handed_out_again(katas: list[Kata]) -> None:
    lost: list[str] = []

    def loses_some(task: Task) -> KataReport:
        if lost.count(task.kata) < TRIES - 1:
            lost.append(task.kata)
            raise ConnectionError("the machine is gone")
        return passes(task)

    book = Book()
    tally = Run(katas, book, RunPolicy()).grade([Pupil("ada")], Desk(loses_some), 1, nothing)
    assert tally.by_status == {"pass": 3}
    assert not tally.refused


def test_a_task_that_is_lost_for_good_is_a_refusal_for_that_learner_alone(katas: list[Kata]) -> None:
    def loses_one(task: Task) -> KataReport:
        if task.kata == katas[1].slug:
            raise ConnectionError("the machine is gone")
        return passes(task)

    desk = Desk(loses_one)
    tally = Run(katas, Book(), RunPolicy()).grade([Pupil("ada")], desk, 1, nothing)
    assert [submission.kata for submission, _ in tally.refused] == [katas[1].slug]
    assert tally.by_status == {"pass": 2, "error": 1}
    assert len(desk.tasks) == 2 + TRIES


def test_an_answer_that_makes_no_sense_is_no_lost_machine(katas: list[Kata]) -> None:
    class Garbled(Desk):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_result(b"\xc1")
            return future

    book = Book()
    tally = Run(katas[:1], book, RunPolicy()).grade([Pupil("ada")], Garbled(), 1, nothing)
    ((_, refused),) = tally.refused
    assert "cannot be understood" in refused.message
    assert "lost" not in refused.message
    assert book.kept["ada", katas[0].slug][1].status == "error"


def test_who_stops_the_grader_twice_has_a_time_out_that_stays(katas: list[Kata]) -> None:
    book, desk = Book(), Desk(lambda task: Stopped("it was busy"))
    tally = Run(katas[:1], book, RunPolicy()).grade([Pupil("ada")], desk, 1, nothing)
    report = book.kept["ada", katas[0].slug][1]
    assert (report.status, report.score, report.message) == ("timeout", 0, "it was busy")
    assert report.max_score == katas[0].points + katas[0].hidden_points
    assert not tally.refused
    again = Run(katas[:1], book, RunPolicy()).grade([Pupil("ada")], desk, 1, nothing)
    assert again.unchanged == 1


def test_an_executor_that_is_gone_ends_the_run_and_keeps_what_was_graded(katas: list[Kata]) -> None:
    book = Book()

    def breaks(task: Task) -> KataReport:
        if task.kata == katas[2].slug:
            raise BrokenExecutor("no more")
        return passes(task)

    with pytest.raises(EngineError, match="gone") as caught:
        Run(katas, book, RunPolicy()).grade([Pupil("ada"), Pupil("bob")], Desk(breaks), 1, nothing)
    assert "goes on from there" in (caught.value.hint or "")
    assert ("ada", katas[0].slug) in book.kept


def test_no_more_is_read_than_is_being_graded(katas: list[Kata]) -> None:
    open_now, most = 0, 0

    class Slow(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            future: Future[Any] = Future()
            waiting.append((future, task_decoder.decode(args[1])))
            if len(waiting) == AHEAD * 2 or open_now + done[0] == 60:
                finish()
            return future

    waiting: list[tuple[Future[Any], Task]] = []
    done = [0]

    def finish() -> None:
        nonlocal open_now
        for future, task in waiting:
            future.set_result(encode_answer(passes(task)))
        done[0] += len(waiting)
        open_now -= len(waiting)
        waiting.clear()

    pupils = [Pupil(f"p{number}") for number in range(20)]
    tally = Run(katas, Book(), RunPolicy()).grade(pupils, Slow(), 2, nothing)
    assert tally.graded == 60
    assert most <= AHEAD * 2


def test_a_report_that_cannot_be_kept_is_our_fault_and_ends_no_run(katas: list[Kata]) -> None:
    class Strict(Book):
        def record(self, submission: Submission, key: Key, report: KataReport) -> None:
            if not math.isfinite(report.score):
                raise SerializationError("score is nan")
            super().record(submission, key, report)

    def endless(task: Task) -> KataReport:
        graded = passes(task)
        if task.kata == katas[1].slug:
            graded.report.score = math.inf
        return graded

    book = Strict()
    tally = Run(katas, book, RunPolicy()).grade([Pupil("ada")], Desk(endless), 1, nothing)
    assert tally.by_status == {"pass": 2, "error": 1}
    assert [submission.kata for submission, _ in tally.refused] == [katas[1].slug]
    assert "not the submission's fault" in (book.kept["ada", katas[1].slug][1].message or "")
