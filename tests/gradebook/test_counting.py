"""Which hand-in counts: nothing that was handed in is ever lost, and everything that decides is said."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from grader.instructor.gradebook.course import Assignment, Course
from grader.instructor.gradebook.course_file import Attempts
from grader.instructor.gradebook.recording import Recording
from grader.instructor.gradebook.row_types import NEWER, Key, Mark, Newer
from grader.instructor.gradebook.store import Gradebook, GradebookUsageError
from grader.instructor.gradebook.times import LatePolicy
from grader.instructor.submissions.submission import Submission
from tests.gradebook.handmade import MONDAY, adjust, decide, grade, key, report, submission

DAY = timedelta(days=1)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Gradebook]:
    with Gradebook.open(str(tmp_path / "gradebook.sqlite"), create=True) as opened:
        yield opened


def course(
    attempts: Attempts = "newest", closes: datetime | None = None, each: int | None = None, **late: float
) -> Course:
    week = Assignment("week1", ("masks",), due=MONDAY, closes=closes, attempts=attempts, late_days=each)
    next_ = Assignment("week2", ("layer-norm",), due=MONDAY + 7 * DAY, attempts=attempts)
    return Course(
        assignments={"week1": week, "week2": next_},
        due={"masks": MONDAY, "layer-norm": MONDAY + 7 * DAY},
        late=LatePolicy(**late),  # type: ignore[arg-type]
    )


def mark(book: Gradebook, kata: str = "masks") -> Mark:
    (row,) = book.rows(katas=[kata], learners=["ada"])
    return row


def hand_in(book: Gradebook, *attempts: tuple[float, float | None]) -> Recording:
    """Hand in work of these scores, so many days after it is due, or nobody knows when."""
    run = book.start_run({})
    for number, (score, days) in enumerate(attempts):
        at = None if days is None else MONDAY + days * DAY
        grade(book, run, "ada", source=f"x = {number}", score=score, at=at)
    return run


GOOD_THEN_BAD = [(10.0, -1.0), (6.0, 1.0)]


@pytest.mark.parametrize(("attempts", "score"), [("newest", 3.0), ("best", 10.0), ("chosen", 3.0)])
def test_the_newest_counts_or_the_best(book: Gradebook, attempts: Attempts, score: float) -> None:
    book.course = course(attempts, percent_per_day=50)
    hand_in(book, *GOOD_THEN_BAD)
    assert (mark(book).score, mark(book).attempts) == (score, 2)


def test_the_best_is_so_after_lateness(book: Gradebook) -> None:
    book.course = course("best", percent_per_day=50)
    hand_in(book, (6.0, -1), (10.0, 0.5))
    assert mark(book).score == 6.0
    assert "the best of 2 attempts" in mark(book).notes


def test_somebody_chooses_and_takes_it_back(book: Gradebook) -> None:
    book.course = course("chosen")
    hand_in(book, *GOOD_THEN_BAD)
    assert "nobody has chosen an attempt yet: the newest counts" in mark(book).notes
    (_, (first, _)) = book.handed_in("ada")["masks"]
    number = decide(book, "choose", "ada", first.id, kata="masks", comment="as agreed", author="kim")
    assert mark(book).score == 10.0
    assert "chosen by kim: as agreed" in mark(book).notes
    assert "choose" in [event.kind for event in book.history("ada", "masks")]
    book.undo(number, author="kim", comment="they changed their mind")
    assert mark(book).score == 6.0
    with pytest.raises(GradebookUsageError, match="already withdrawn"):
        book.undo(number, author="kim", comment="again")
    assert [one.revoked for one in book.rulings()] == [True]


def test_after_closing_nothing_counts_and_what_was_there_stands(book: Gradebook) -> None:
    book.course = course(closes=MONDAY + DAY / 2)
    run = hand_in(book, (4.0, -1), (9.0, 1))
    assert (mark(book).score, mark(book).closed) == (4.0, False)
    assert mark(book).newer == ("closed",)
    assert f"{NEWER['closed']}; this is an earlier one" in mark(book).notes
    grade(book, run, "ada", "layer-norm", source="c", score=5.0, at=MONDAY + DAY)
    assert mark(book, "layer-norm").score == 5.0


def test_only_after_closing_earns_nothing_and_more_time_reopens_it(book: Gradebook) -> None:
    book.course = course(closes=MONDAY)
    grade(book, book.start_run({}), "ada", score=9.0, at=MONDAY + DAY)
    assert (mark(book).score, mark(book).closed) == (0.0, True)
    number = decide(book, "extend", "ada", {"of": "week1", "days": 2}, comment="was ill", author="kim")
    assert (mark(book).score, mark(book).days_late) == (9.0, 0.0)
    book.undo(number, author="kim", comment="it was adam")
    assert mark(book).closed


def test_late_days_are_spent_in_the_order_of_due_times(book: Gradebook) -> None:
    book.course = course(percent_per_day=10, late_days=3)
    run = book.start_run({})
    grade(book, run, "ada", "layer-norm", source="b", score=10.0, at=MONDAY + 9 * DAY)
    assert (mark(book, "layer-norm").score, mark(book, "layer-norm").late_days_used) == (10.0, 2)
    grade(book, run, "ada", source="a", score=10.0, at=MONDAY + 2 * DAY)
    assert (mark(book).score, mark(book).late_days_used) == (10.0, 2)
    # One is left for the second week, which is asked for alone: the first still spends its own.
    assert (mark(book, "layer-norm").score, mark(book, "layer-norm").late_days_used) == (9.0, 1)


def test_an_assignment_may_allow_fewer_late_days(book: Gradebook) -> None:
    book.course = course(each=1, percent_per_day=10, late_days=5)
    hand_in(book, (10.0, 3))
    assert (mark(book).score, mark(book).late_days_used) == (8.0, 1)


def test_a_due_time_that_is_moved_after_grading_holds_at_once(book: Gradebook) -> None:
    book.course = course(percent_per_day=50)
    grade(book, book.start_run({}), "ada", score=8.0, at=MONDAY + DAY / 2)
    assert (mark(book).score, mark(book).days_late) == (4.0, 0.5)
    book.course = Course(due={"masks": MONDAY + DAY}, late=LatePolicy(percent_per_day=50))
    assert (mark(book).score, mark(book).days_late) == (8.0, 0)


def test_a_download_without_times_says_that_nobody_knows(book: Gradebook) -> None:
    book.course = course(percent_per_day=50)
    hand_in(book, (8.0, None))
    assert mark(book).score == 8.0
    assert "when it was handed in is not known, so it counts as on time" in mark(book).notes


@pytest.mark.parametrize(("unknown", "score", "days"), [(0, 8.0, "on time"), (2, 6.4, "2 days late")])
def test_what_a_system_marks_late_without_a_time_costs_what_the_course_says(
    book: Gradebook, unknown: float, score: float, days: str
) -> None:
    book.course = course(percent_per_day=10, unknown=unknown)
    run = book.start_run({})
    marked = msgspec.structs.replace(submission("ada", at=None), time_source="Canvas")
    run.record(marked, key(marked), report("ada", score=8.0))
    row = mark(book)
    assert (row.score, row.late_by, [one.late_by for one in book.marks()]) == (score, "Canvas", ["Canvas"])
    told = f"Canvas marks it late, and when it was handed in is not known, so it counts as {days}"
    assert told in row.notes
    known = submission("ada", at=MONDAY - DAY)
    run.mark_unchanged(known, key(known))
    assert (mark(book).score, mark(book).late_by) == (8.0, None)


UNKNOWN = None
Times = tuple[datetime | None, ...]


@pytest.mark.parametrize(
    ("times", "counts", "newer"),
    [
        ((UNKNOWN, UNKNOWN), 2, ()),
        ((UNKNOWN, MONDAY - DAY), 2, ()),
        ((MONDAY, UNKNOWN), 2, ()),
        ((MONDAY, MONDAY - DAY), 1, ()),
        ((MONDAY, UNKNOWN, MONDAY - DAY), 1, ("unsure",)),  # each of the three is newer than another
        ((MONDAY, MONDAY - DAY, UNKNOWN), 3, ()),
        ((UNKNOWN, MONDAY, MONDAY - DAY), 2, ()),
    ],
)
def test_where_a_time_is_unknown_the_order_of_arrival_says_which_is_newer(
    book: Gradebook, times: Times, counts: int, newer: tuple[Newer, ...]
) -> None:
    run = book.start_run({})
    for place, at in enumerate(times, 1):
        grade(book, run, "ada", source=f"x = {place}", score=float(place), at=at)
    assert (mark(book).score, mark(book).newer) == (float(counts), newer)


@pytest.mark.parametrize(
    ("attempts", "newer"), [("best", ("worse",)), ("newest", ("closed",)), ("chosen", ("closed",))]
)
def test_why_the_newest_does_not_count(book: Gradebook, attempts: Attempts, newer: tuple[Newer, ...]) -> None:
    book.course = course(attempts, closes=MONDAY if newer == ("closed",) else None)
    hand_in(book, *GOOD_THEN_BAD)
    assert mark(book).newer == newer
    (_, (first, _)) = book.handed_in("ada")["masks"]
    decide(book, "choose", "ada", first.id, kata="masks", comment="as agreed", author="kim")
    assert mark(book).newer == ("chosen",)


@pytest.mark.parametrize(
    ("attempts", "first", "score", "kept"),
    [("newest", None, 4.0, 1), ("best", MONDAY - DAY, 8.0, 2)],  # the best is in time
)
def test_a_time_that_becomes_known_makes_no_second_attempt_and_another_time_does(
    book: Gradebook, attempts: Attempts, first: datetime | None, score: float, kept: int
) -> None:
    book.course = course(attempts, percent_per_day=50)
    run = book.start_run({})
    grade(book, run, "ada", score=8.0, at=first)
    again = submission("ada", at=MONDAY + DAY)
    run.mark_unchanged(again, key(again))
    assert (mark(book).score, mark(book).attempts) == (score, 1)
    assert len(book.handed_in("ada")["masks"][1]) == kept


def test_what_cannot_be_read_takes_nothing_away_and_is_said(book: Gradebook) -> None:
    run = book.start_run({})
    grade(book, run, "ada", source="a", score=7.0)
    broken = submission("ada", source=None)
    run.record(broken, Key(None, "t"), report("ada", status="error", score=0.0))
    assert (mark(book).score, mark(book).report.status) == (7.0, "fail")
    assert any("a newer hand-in was there but could not be read" in note for note in mark(book).notes)


def machine_failed(run: Recording, source: str, hour: int = 0) -> Submission:
    """Record that the machine could not grade this."""
    given = submission("ada", source=source, at=MONDAY + timedelta(hours=hour))
    failed = report("ada", status="error", score=0.0, max_score=0.0)
    run.record(given, Key(key(given).digest, None), failed)
    return given


def test_what_the_machine_could_not_grade_leaves_the_mark(book: Gradebook) -> None:
    run = book.start_run({})
    grade(book, run, "ada", source="a", score=7.0)
    machine_failed(run, "a")
    assert (mark(book).score, mark(book).max_score) == (7.0, 10.0)
    newer = machine_failed(run, "b", hour=1)
    assert (mark(book).score, mark(book).max_score) == (7.0, 10.0)
    assert any("the machine could not grade" in note for note in mark(book).notes)
    run.record(newer, key(newer), report("ada", score=5.0))
    assert (mark(book).score, mark(book).notes) == (5.0, ())


def test_where_the_machine_graded_nothing_the_newest_stands(book: Gradebook) -> None:
    run = book.start_run({})
    for hour, source in enumerate("ab"):
        machine_failed(run, source, hour)
    assert (mark(book).report.status, mark(book).submitted_at) == ("error", MONDAY + timedelta(hours=1))


def test_other_names_lead_to_one_learner(book: Gradebook) -> None:
    run = book.start_run({})
    grade(book, run, "ada", "layer-norm", source="b", score=5.0)
    grade(book, run, "hw9-ada", source="a", score=7.0)
    assert book.learners() == ["ada", "hw9-ada"]
    adjust(book, "hw9-ada", "masks", 1, comment="neat", author="kim")
    number = decide(book, "alias", "ada", "hw9-ada", comment="her handle", author="kim")
    assert book.learners() == ["ada"]
    assert book.aliases() == {"hw9-ada": "ada"}
    assert (mark(book).score, mark(book, "layer-norm").score) == (8.0, 5.0)
    assert [event.kind for event in book.history("ada", "masks")] == ["attempt", "adjust", "alias"]
    book.undo(number, author="kim", comment="somebody else")
    assert book.learners() == ["ada", "hw9-ada"]


@pytest.mark.parametrize("other", ["layer-norm", "a-kata-before"])
def test_a_choice_for_one_kata_says_nothing_of_another(book: Gradebook, other: str) -> None:
    book.course = course("chosen", closes=MONDAY)
    run = book.start_run({})
    grade(book, run, "ada", source="late", score=6.0, at=MONDAY + DAY)
    grade(book, run, "ada", other, source="in time", score=5.0, at=MONDAY - DAY)
    (_, (chosen,)) = book.handed_in("ada")[other]
    decide(book, "choose", "ada", chosen.id, kata=other, comment="as agreed", author="kim")
    assert mark(book).score == 0.0
    assert mark(book).notes == ("it came in after the assignment was closed and earns nothing",)
    assert "chosen by kim: as agreed" in mark(book, other).notes


def test_an_extension_is_no_choice(book: Gradebook) -> None:
    book.course = course("chosen", closes=MONDAY)
    hand_in(book, (6.0, 5))
    decide(book, "extend", "ada", {"of": "masks", "days": 1.0}, kata="masks", comment="ill", author="kim")
    assert mark(book).score == 0.0


def test_of_equals_the_earlier_is_the_best(book: Gradebook) -> None:
    book.course = course("best")
    hand_in(book, (6.0, -2), (6.0, -1), (6.0, -3))
    assert mark(book).submitted_at == MONDAY - 3 * DAY


def test_a_file_that_was_taken_counts_as_long_as_that_stands(book: Gradebook) -> None:
    run = book.start_run({})
    grade(book, run, "ada", source="mine", score=3.0, at=MONDAY - DAY)
    for name, score in (("final.py", 5.0), ("my_final.py", 8.0)):
        decide(book, "take", "ada", f"week1/{name}", kata="masks", comment="asked", author="kim")
        taken = msgspec.structs.replace(submission("ada", source=name, at=MONDAY), taken=name)
        run.record(taken, key(taken), report("ada", score=score))
    assert mark(book).score == 8.0
    book.undo(2, comment="not that one", author="kim")
    assert mark(book).score == 5.0
    book.undo(1, comment="nor that", author="kim")
    assert (mark(book).score, mark(book).notes) == (3.0, ())


def test_what_a_report_says_to_look_at_is_a_note(book: Gradebook) -> None:
    handed_in, found = submission("ada", "masks", "x = 1", MONDAY), report("ada")
    found.look_at = ["a text is run as code (line 1)"]
    book.start_run({}).record(handed_in, key(handed_in), found)
    assert mark(book).notes == ("a text is run as code (line 1)",)
