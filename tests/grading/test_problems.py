"""What is open stays open until it is settled, whatever is graded next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from grader.instructor.gradebook.course import Assignment, Course
from grader.instructor.gradebook.roster import Person
from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.times import LatePolicy
from grader.instructor.grading.problems import problems
from grader.instructor.submissions.submission import Proposal
from tests.gradebook.handmade import MONDAY, check, decide, grade, key, report, submission

COURSE = Course(
    roster={name: Person(learner=name) for name in ("ada", "bob", "eve", "zed")},
    assignments={
        "week1": Assignment("week1", ("masks",), due=MONDAY),
        "week2": Assignment("week2", ("layer-norm",)),
    },
    due={"masks": MONDAY},
    late=LatePolicy(percent_per_day=10),
)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Gradebook]:
    with Gradebook.open(str(tmp_path / "gradebook.sqlite"), create=True, course=COURSE) as opened:
        yield opened


def test_each_kind_is_listed_with_what_settles_it(book: Gradebook) -> None:
    run = book.start_run({})
    late = msgspec.structs.replace(submission("ada", at=None), time_source="Canvas", origin="masks.py")
    run.record(late, key(late), report("ada", score=8.0))
    meant = Proposal(file="my masks.py", origin="bob/my masks.py", reason="its name is similar")
    lacks = msgspec.structs.replace(submission("bob", source=None), status="missing", proposal=meant)
    run.record(lacks, Key(None, "t"), report("bob", status="missing", score=0.0))
    run.record(submission("eve", source=None), Key(None, "t"), report("eve", status="error", score=0.0))
    grade(book, run, "stranger", source="s")
    decide(book, "take", "ada", "old.py", kata="masks", comment="so", author="kim")
    number = decide(book, "extend", "zed", {"of": "layer-norm", "days": 1}, comment="so", author="kim")
    run.finish()
    found = {(one.of, one.kind, one.learner): one.command for one in problems(book)}
    assert found == {
        ("week1", "late without a time", "ada"): "kata grade DOWNLOAD --times FILE",
        ("week1", "misnamed", "bob"): "kata gradebook take bob masks 'my masks.py'",
        ("week1", "unread", "eve"): "kata gradebook take eve masks FILE",
        ("week1", "unmatched", "stranger"): "kata gradebook alias LEARNER stranger",
        ("week1", "decision without effect", "ada"): "kata gradebook withdraw 1",
        ("layer-norm", "decision without effect", "zed"): f"kata gradebook withdraw {number}",
    }


def test_a_check_that_was_drawn_again_is_the_authors(book: Gradebook) -> None:
    """Of what counts now: once a content is graded without, it is no problem any more."""
    for learner, times in (("ada", 2), ("bob", 1), ("eve", 0)):
        run, drawn = book.start_run({}), check("the mask is causal")
        if times:
            drawn.redrawn = times
        grade(book, run, learner, source=learner, score=10.0, status="pass", checks=[drawn, check("other")])
        run.finish()
    (found,) = problems(book)
    assert (found.of, found.learner, found.command) == ("week1", "", "kata pack check masks")
    assert "masks, the mask is causal: drawn again 3 times in 2 hand-ins" in found.what
    for learner in ("ada", "bob"):
        run = book.start_run({})
        grade(
            book,
            run,
            learner,
            source=learner,
            score=10.0,
            status="pass",
            checks=[check("the mask is causal")],
        )
        run.finish()
    assert problems(book) == []
