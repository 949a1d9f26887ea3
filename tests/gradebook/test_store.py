"""What goes into a gradebook comes out again, in both databases."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Engine, event

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.events import CHANGE, RULING
from grader.instructor.gradebook.exports.documents import document_of_event
from grader.instructor.gradebook.roster import Person
from grader.instructor.gradebook.row_types import AttemptGraded, Key, Mark, SeenAgain
from grader.instructor.gradebook.store import Gradebook, GradebookError, GradebookUsageError
from grader.instructor.gradebook.times import LatePolicy
from tests.conftest import Run
from tests.gradebook.handmade import (
    MONDAY,
    adjust,
    bundle,
    check,
    decide,
    grade,
    key,
    override,
    report,
    results,
    submission,
)


def only(rows: Iterator[Mark]) -> Mark:
    (row,) = rows
    return row


def test_a_report_comes_back_whole(gradebook: Gradebook) -> None:
    checks = [check(), check("hidden one", "fail", hidden=True, misconception="shifted")]
    run = gradebook.start_run({})
    grade(gradebook, run, "ada", checks=checks, seed=2**63 + 5)
    row = only(gradebook.rows())
    assert row.report == report("ada", checks=checks, seed=2**63 + 5)
    assert (row.learner, row.name, row.kata, row.score, row.max_score) == ("ada", "ada", "masks", 3.0, 10.0)
    assert (row.attempts, row.submitted_at, row.origin) == (1, MONDAY, "ada/a.py")
    assert row.graded_at.utcoffset() == timedelta(0)
    assert abs(row.graded_at - datetime.now(UTC)) < timedelta(minutes=5)


def test_everything_is_there_after_reopening(where: str) -> None:
    with Gradebook.open(where, create=True) as gradebook:
        nonce = gradebook.nonce
        grade(gradebook, gradebook.start_run({}), "ada")
        before = list(gradebook.rows())
    with Gradebook.open(where, create=False) as again:
        assert again.nonce == nonce
        assert len(nonce) == 32
        assert list(again.rows()) == before


def test_each_gradebook_has_a_nonce_of_its_own(tmp_path: Path) -> None:
    with (
        Gradebook.open(str(tmp_path / "a"), create=True) as one,
        Gradebook.open(str(tmp_path / "b"), create=True) as two,
    ):
        assert one.nonce != two.nonce


def test_the_newest_attempt_counts_and_different_contents_are_counted(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    for source, score in (("a", 1.0), ("b", 2.0), ("a", 3.0), (None, 0.0)):
        grade(gradebook, run, "ada", source=source, score=score)
    row = only(gradebook.rows())
    # "a" again is its newest word; that a later download has no file for it takes nothing away.
    assert (row.score, row.attempts, row.report.status, row.submitted_at) == (3.0, 2, "fail", MONDAY)
    assert Key(None, "terms") in gradebook.keys("ada")["masks"]


def test_keys_are_those_of_everything_that_was_handed_in(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    grade(gradebook, run, "ada", source="a")
    grade(gradebook, run, "ada", source="b")
    grade(gradebook, run, "ada", "layer-norm", source="c")
    grade(gradebook, run, "bob", source="d")
    expected = {
        "masks": {key(submission("ada", source="a")), key(submission("ada", source="b"))},
        "layer-norm": {key(submission("ada", source="c"))},
    }
    assert gradebook.keys("ada") == expected
    assert gradebook.keys("nobody") == {}


def test_what_is_seen_again_keeps_its_mark_and_takes_the_newer_time(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    grade(gradebook, run, "ada")
    run.finish()
    before = only(gradebook.rows())
    run = gradebook.start_run({})
    again = submission("ada", at=MONDAY + timedelta(days=2))
    run.mark_unchanged(again, key(again))
    row = only(gradebook.rows())
    assert row.submitted_at == MONDAY + timedelta(days=2)
    assert (row.report, row.graded_at, row.attempts) == (before.report, before.graded_at, 1)
    timeless = submission("ada", at=None)
    run.mark_unchanged(timeless, key(timeless))
    assert only(gradebook.rows()).submitted_at == MONDAY + timedelta(days=2)
    attempt, *rest = gradebook.history("ada", "masks")
    assert isinstance(attempt, AttemptGraded)
    assert attempt.submitted_at == MONDAY
    assert [e.submitted_at for e in rest if isinstance(e, SeenAgain)] == [MONDAY + timedelta(days=2)]


def test_only_what_the_newest_attempt_graded_can_be_reused(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    given = submission("ada")
    with pytest.raises(ValueError, match="no attempt with this key"):
        run.mark_unchanged(given, key(given))
    grade(gradebook, run, "ada")
    with pytest.raises(ValueError, match="no attempt with this key"):
        run.mark_unchanged(given, key(given, "other terms"))


def test_rows_are_in_natural_order(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    for learner in ("s10", "s9", "S2", "zoë"):
        for kata in ("decoder-lm", "layer-norm", "masks"):
            grade(gradebook, run, learner, kata)
    rows = [(row.learner, row.kata) for row in gradebook.rows()]
    assert rows == [
        (who, kata) for who in ("S2", "s9", "s10", "zoë") for kata in ("masks", "layer-norm", "decoder-lm")
    ]
    assert [r.kata for r in gradebook.reports()][:3] == ["masks", "layer-norm", "decoder-lm"]
    assert gradebook.learners() == ["S2", "s9", "s10", "zoë"]
    assert gradebook.katas() == ["masks", "layer-norm", "decoder-lm"]


def test_rows_can_be_narrowed(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    for learner in ("ada", "bob"):
        for kata in ("masks", "layer-norm"):
            grade(gradebook, run, learner, kata)
    assert [(r.learner, r.kata) for r in gradebook.rows(katas=["masks"], learners=["bob"])] == [
        ("bob", "masks")
    ]
    assert list(gradebook.rows(katas=[])) == []
    assert list(gradebook.rows(learners=["nobody"])) == []


def test_whoever_is_in_the_roster_has_rows(gradebook: Gradebook) -> None:
    roster = {"ada": Person(learner="ada", name="Ada L."), "zoe": Person(learner="zoe", name="Zoe")}
    gradebook.course = Course(roster=roster)
    run = gradebook.start_run({})
    grade(gradebook, run, "ada", max_score=12.0)
    grade(gradebook, run, "guest", "layer-norm")
    rows = {(r.learner, r.kata): r for r in gradebook.rows()}
    assert list(rows) == [(who, kata) for who in ("ada", "guest", "zoe") for kata in ("masks", "layer-norm")]
    blank = rows["zoe", "masks"]
    assert (blank.name, blank.report.status, blank.score, blank.max_score, blank.attempts) == (
        "Zoe",
        "missing",
        0,
        12,
        0,
    )
    assert "Nothing of this learner was graded" in (blank.report.message or "")
    assert rows["ada", "masks"].name == "Ada L."
    assert rows["guest", "layer-norm"].name == "guest"
    assert [r.learner for r in gradebook.reports(learners=["zoe"])] == []


def test_spellings_that_look_the_same_are_one_learner(gradebook: Gradebook) -> None:
    gradebook.course = Course(roster={"Zoe\u0308": Person(learner="Zoe\u0308", name="Zoë B.")})
    grade(gradebook, gradebook.start_run({}), "Zo\u00eb")
    assert [r.name for r in gradebook.rows()] == ["Zoë B."]
    adjust(gradebook, "Zoe\u0308", "masks", 1, comment="nice", author="me")
    assert only(gradebook.rows()).score == 4.0


def test_a_course_narrows_the_katas(gradebook: Gradebook) -> None:
    gradebook.course = Course(katas=("layer-norm",))
    run = gradebook.start_run({})
    grade(gradebook, run, "ada")
    grade(gradebook, run, "ada", "layer-norm")
    assert [row.kata for row in gradebook.rows()] == ["layer-norm"]
    assert [row.kata for row in gradebook.rows(katas=["masks"])] == ["masks"]


def test_lateness_costs_points(gradebook: Gradebook) -> None:
    gradebook.course = Course(
        due={"masks": MONDAY - timedelta(hours=30)}, late=LatePolicy(percent_per_day=10)
    )
    grade(gradebook, gradebook.start_run({}), "ada", score=10.0)
    row = only(gradebook.rows())
    assert (row.days_late, row.late_points, row.score) == (1.25, 2.0, 8.0)
    override(gradebook, "ada", "masks", 9.5, comment="was ill", author="me")
    row = only(gradebook.rows())
    assert (row.days_late, row.late_points, row.score) == (1.25, 0.0, 9.5)


def test_people_decide_and_the_history_tells(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    grade(gradebook, run, "ada", source="a")
    first = adjust(gradebook, "ada", "masks", 1.5, comment="clear names", author="tina")
    second = override(gradebook, "ada", "masks", 9, comment="oral exam", author="prof")
    adjust(gradebook, "ada", "masks", -0.5, comment="late slides", author="tina")
    assert only(gradebook.rows()).score == 8.5
    gradebook.undo(second, author="prof", comment="wrong learner")
    grade(gradebook, run, "ada", source="b", score=4.0)
    row = only(gradebook.rows())
    assert row.score == 5.0
    assert [(a.kind, a.points, a.revoked) for a in row.adjustments] == [
        ("adjust", 1.5, False),
        ("override", 9.0, True),
        ("adjust", -0.5, False),
    ]
    events = gradebook.history("ada", "masks")
    assert [e.kind for e in events] == ["attempt", "adjust", "override", "adjust", "revoke", "attempt"]
    assert [e.at for e in events] == sorted(e.at for e in events)
    told = [document_of_event(e) for e in events]
    given = [told[1][name] for name in ("adjustment", "points", "comment", "author")]
    assert given == [first, 1.5, "clear names", "tina"]
    taken = [told[4][name] for name in ("adjustment", "comment", "author")]
    assert taken == [second, "wrong learner", "prof"]
    assert [e["revoked"] for e in told] == [False, False, True, False, False, False]
    assert [told[0][name] for name in ("run", "score", "digest")] == [run.run, 3.0, bundle("a").digest]


def test_one_undo_takes_back_whatever_was_decided(
    kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        grade(book, book.start_run({}), "ada")
        adjust(book, "ada", "masks", 1.5, comment="clear names", author="tina")
        decide(book, "answer_mark", "ada", ANSWER_MARK, comment="", author="tina", kata="masks")
        decide(book, "extend", "ada", {"of": "masks", "days": 2}, comment="was ill", author="tina")
    kata("gradebook", "undo", 1, 9, "--comment", "x").refused("There is no decision 9.")
    ran = kata("gradebook", "undo", "1-3", "--comment", "meant for adam", "--author", "kim")
    assert ran.out.splitlines() == [
        "taken back  ada, masks: +1.5   tina: clear names",
        "taken back  ada, masks: question 1: 1 of 2   tina: ",
        "taken back  ada: 2 more days for masks   tina: was ill",
    ]
    kata("gradebook", "undo", 2, "--comment", "x").refused("Mark 2 was already taken back.")
    with Gradebook.open("gradebook.sqlite", create=False) as book:
        assert only(book.rows()).score == 3.0
        events = book.history("ada", "masks")
        assert [event.kind for event in events[-3:]] == ["revoke"] * 3


ANSWER_MARK = {"question": 1, "answer": "", "criteria": (1,), "points": 1.0, "max_points": 2.0}


def test_no_mark_falls_below_zero(gradebook: Gradebook) -> None:
    grade(gradebook, gradebook.start_run({}), "ada")
    adjust(gradebook, "ada", "masks", -100, comment="copied", author="prof")
    assert only(gradebook.rows()).score == 0.0


def test_decisions_about_what_is_not_there_are_refused(gradebook: Gradebook) -> None:
    grade(gradebook, gradebook.start_run({}), "ada")
    with pytest.raises(GradebookUsageError, match=r"no learner adda\. Did you mean ada\?"):
        adjust(gradebook, "adda", "masks", 1, comment="x", author="me")
    with pytest.raises(GradebookUsageError, match=r"no kata mask\. Did you mean masks\?"):
        gradebook.history("ada", "mask")
    with pytest.raises(GradebookUsageError, match="must be a number"):
        adjust(gradebook, "ada", "masks", float("nan"), comment="x", author="me")
    with pytest.raises(GradebookUsageError, match="not changed without a reason"):
        adjust(gradebook, "ada", "masks", 1, comment=" ", author="me")
    with pytest.raises(GradebookUsageError, match="0 or more"):
        override(gradebook, "ada", "masks", -1, comment="x", author="me")
    with pytest.raises(GradebookUsageError, match="no adjustment 99"):
        gradebook.undo(99, author="me", comment="x", only=CHANGE)
    number = adjust(gradebook, "ada", "masks", 1, comment="x", author="me")
    with pytest.raises(GradebookUsageError, match="without a reason"):
        gradebook.undo(number, author="me", comment=" ")
    with pytest.raises(GradebookUsageError, match=f"no ruling {number}"):
        gradebook.undo(number, author="me", comment="x", only=RULING)
    gradebook.undo(number, author="me", comment="x")
    with pytest.raises(GradebookUsageError, match="already revoked"):
        gradebook.undo(number, author="me", comment="x", only=CHANGE)
    with pytest.raises(GradebookUsageError, match="already revoked"):
        gradebook.undo(number, author="me", comment="x")
    assert only(gradebook.rows()).score == 3.0


def test_somebody_who_was_never_graded_can_be_given_a_mark(gradebook: Gradebook) -> None:
    gradebook.course = Course(roster={"zoe": Person(learner="zoe")})
    grade(gradebook, gradebook.start_run({}), "ada")
    assert gradebook.history("zoe", "masks") == []
    override(gradebook, "zoe", "masks", 6, comment="on paper", author="prof")
    assert {row.learner: row.score for row in gradebook.rows()} == {"ada": 3.0, "zoe": 6.0}
    assert [e.kind for e in gradebook.history("zoe", "masks")] == ["override"]


def test_content_is_kept_once_and_comes_back(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    big = "z" * 500_000
    for learner in ("ada", "bob"):
        grade(gradebook, run, learner, source=big)
    grade(gradebook, run, "eve", source=None)
    attempts = {row.learner: row.attempt for row in gradebook.rows()}
    assert gradebook.bundle(attempts["ada"] or 0) == gradebook.bundle(attempts["bob"] or 0) == bundle(big)
    assert gradebook.bundle(attempts["eve"] or 0) is None
    assert gradebook.bundle(12345) is None


def test_an_attempt_can_be_looked_at_again(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    grade(gradebook, run, "ada", source="a")
    grade(gradebook, run, "ada", source="b", score=5.0)
    first = gradebook.history("ada", "masks")[0].attempt
    assert first is not None
    attempt = gradebook.attempt(first)
    assert attempt is not None
    assert (attempt.learner, attempt.kata, attempt.run) == ("ada", "masks", run.run)
    assert attempt.report == report("ada")
    assert attempt.key == key(submission("ada", source="a"))
    assert gradebook.attempt(999) is None


def test_a_run_s_reports_are_what_it_saw(gradebook: Gradebook) -> None:
    first = gradebook.start_run({})
    for learner in ("ada", "bob", "eve"):
        grade(gradebook, first, learner)
    first.finish()
    second = gradebook.start_run({})
    given = submission("ada")
    second.mark_unchanged(given, key(given))
    grade(gradebook, second, "bob", source="new")
    assert [r.learner for r in gradebook.reports(run=second.run)] == ["ada", "bob"]
    assert [r.learner for r in gradebook.reports(run=first.run)] == ["eve"]
    assert [r.learner for r in gradebook.reports(learners=["eve"], katas=["masks"])] == ["eve"]


def test_runs_are_remembered_without_passwords(gradebook: Gradebook) -> None:
    arguments = {
        "only": ["a", "b"],
        "seed": 7,
        "timeout": None,
        "gradebook": "postgresql://me:secret@host/db",
    }
    run = gradebook.start_run(arguments)  # type: ignore[arg-type]
    assert gradebook.runs()[0].finished_at is None
    run.finish()
    (seen,) = gradebook.runs()
    assert seen.arguments == {**arguments, "gradebook": "postgresql://me:***@host/db"}
    assert seen.finished_at is not None
    assert seen.finished_at >= seen.started_at


def test_how_each_check_went_is_in_a_table(gradebook: Gradebook, where: str) -> None:
    run = gradebook.start_run({})
    wrong = check("b", "fail", misconception="shifted")
    grade(gradebook, run, "ada", checks=[check("a"), wrong])
    grade(gradebook, run, "bob", source="old", checks=[check("a", "fail"), wrong])
    grade(gradebook, run, "bob", checks=[check("a"), check("c", "skipped")])
    grade(gradebook, run, "eve", "layer-norm", checks=[check("b", "error", misconception="biased")])
    assert results(where) == [
        ("ada", "masks", "a", "pass", None),
        ("ada", "masks", "b", "fail", "shifted"),
        ("bob", "masks", "a", "pass", None),
        ("bob", "masks", "c", "skipped", None),
        ("eve", "layer-norm", "b", "error", "biased"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        "with blank",
        "émoji 🦆",
        "../../etc",
        "x" * 300,
        "half \ud800",
        "zero \0 byte",
        "a'; DROP TABLE runs; --",
        "[b]",
    ],
)
def test_names_and_texts_are_only_text(gradebook: Gradebook, learner: str) -> None:
    run = gradebook.start_run({})
    odd = "\x1b[31m \0 \ud800 💥"
    given = submission(learner)
    said = msgspec.structs.replace(report(learner, checks=[check(odd)]), message=odd, output=odd)
    run.record(given, key(given), said)
    adjust(gradebook, learner, "masks", 1, comment=odd, author=odd)
    row = only(gradebook.rows())
    assert row.score == 4.0
    assert "💥" in (row.report.message or "")
    assert row.learner == learner.replace("\ud800", "\\ud800").replace("\0", "\\x00")
    assert gradebook.keys(learner) == {"masks": {key(given)}}
    run.mark_unchanged(given, key(given))
    assert len(gradebook.history(learner, "masks")) == 2


def test_times_are_moments(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    there = datetime(2026, 10, 5, 9, 0, 0, 123456, tzinfo=timezone(timedelta(hours=-5)))
    grade(gradebook, run, "ada", at=there)
    found = only(gradebook.rows()).submitted_at
    assert found == there
    assert found is not None
    assert found.utcoffset() == timedelta(0)
    with pytest.raises(GradebookError):
        grade(gradebook, run, "bob", at=datetime(2026, 10, 5))
    assert [row.learner for row in gradebook.rows()] == ["ada"]


@pytest.mark.slow
def test_rows_show_one_state_while_others_write(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    for number in range(150):  # more than are read at once
        grade(gradebook, run, f"s{number}")
    rows = gradebook.rows()
    next(rows)
    adjust(gradebook, "s149", "masks", 5, comment="meanwhile", author="me")
    grade(gradebook, run, "s148", source="new", score=9.0)
    assert {row.score for row in rows} == {3.0}
    assert [row.score for row in gradebook.rows(learners=["s148", "s149"])] == [9.0, 8.0]


@pytest.mark.slow
def test_rows_take_few_queries(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    for number in range(120):
        for kata in ("masks", "layer-norm"):
            grade(gradebook, run, f"s{number}", kata)
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        asked.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert len(list(gradebook.rows())) == 240
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert len([statement for statement in asked if statement.startswith("SELECT")]) <= 14


@pytest.mark.slow
def test_rows_are_not_all_held_in_memory(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    for number in range(300):
        given = submission(f"s{number}")
        said = msgspec.structs.replace(report(), message="x" * 50_000)  # 15 MB in all
        run.record(given, key(given), said)
    list(gradebook.rows(learners=["s1"]))
    tracemalloc.start()
    try:
        assert sum(1 for _ in gradebook.rows()) == 300
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_rows_that_nobody_reads_to_the_end_hold_nothing_up(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    grade(gradebook, run, "ada")
    grade(gradebook, run, "bob")
    for _ in range(40):
        rows = gradebook.rows()
        next(rows)
        rows.close()  # type: ignore[attr-defined]
    grade(gradebook, run, "eve")
    assert len(list(gradebook.rows())) == 3


def test_threads_may_record_at_once(gradebook: Gradebook, where: str) -> None:
    run = gradebook.start_run({})

    def one(number: int) -> None:
        grade(gradebook, run, f"s{number}", source=f"x = {number % 3}", checks=[check("a"), check("b")])
        assert len(gradebook.keys(f"s{number}")) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(40)))
    assert [row.learner for row in gradebook.rows()] == [f"s{number}" for number in range(40)]
    assert len(results(where)) == 80


def test_nothing_is_recorded_after_a_run(gradebook: Gradebook) -> None:
    run = gradebook.start_run({})
    run.finish()
    with pytest.raises(ValueError, match="the run is over"):
        grade(gradebook, run, "ada")
    assert list(gradebook.rows()) == []


def test_a_remark_on_what_came_in_under_another_name_says_which_attempt_it_is_about(
    gradebook: Gradebook,
) -> None:
    run = gradebook.start_run({})
    grade(gradebook, run, "linus", "layer-norm")
    grade(gradebook, run, "linus.p")
    (attempt,) = gradebook.attempts_of("linus.p", "masks").values()
    value = {"attempt": attempt, "file": "masks.py", "line": 1}
    decide(gradebook, "remark", "linus.p", value, comment="why?", author="kim", kata="masks")
    decide(gradebook, "alias", "linus", "linus.p", comment="his folder", author="kim")
    told = [event.comment for _, _, event in gradebook.decisions(9) if event.kind == "remark"]
    assert told == ["on masks.py, line 1, of attempt 1: why?"]
    assert gradebook.attempt_numbers(["linus.p"])[attempt] == 1
