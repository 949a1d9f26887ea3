"""What checks are worth in a course: scaled to the kata's points, and the same wherever a mark is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.instructor.gradebook.check_points import rescaled
from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Bundle, Submission
from grader.report.report import KataReport
from tests.conftest import Run
from tests.pages.builders import check, failed, row

ADD, SIZES, DTYPE = "it adds up", "any sizes", "any dtype"
COURSE = 'name = "A course"\n[assignments.week1]\nkatas = ["masks"]\nattempts = "best"\n'


def graded(*passed: str) -> KataReport:
    """A report out of 4 points, of which these checks passed."""
    worth = {ADD: 2.0, SIZES: 1.0, DTYPE: 1.0}
    made = [
        check(name, points=points, max_points=points, aspect="dtype" if name == DTYPE else "values")
        if name in passed
        else failed(name, max_points=points, aspect="dtype" if name == DTYPE else "values")
        for name, points in worth.items()
    ]
    return row(checks=made).report


@pytest.mark.parametrize(
    ("table", "score"),
    [
        ({}, 3.0),
        ({ADD: 2}, 3.0),
        ({DTYPE: 3}, 2.0),  # 3 of 6, of 4 points
        ({"dtype": 3}, 2.0),
        ({"test_dtype": 3}, 2.0),
        ({"values": 1}, 2.0),  # the two share it as they share 3 points in the pack: 1 of 2
        ({"values": 1, SIZES: 2, "dtype": 1}, 3.0),  # what is named itself has no share: 1 + 2 of 4
        ({DTYPE: 0}, 4.0),
        ({"values": 0, "dtype": 0}, 3.0),  # nothing is worth anything: as in the pack
        ({"nothing": 9}, 3.0),
    ],
)
def test_points_are_scaled_to_what_the_kata_is_out_of(table: dict[str, float], score: float) -> None:
    found = rescaled(graded(ADD, SIZES), table)
    assert (found.score, found.max_score) == (score, 4.0)
    assert sum(each.points for each in found.checks) == pytest.approx(score)


def test_a_part_of_a_check_counts_as_a_part_and_is_said_so() -> None:
    report = graded(ADD, SIZES)
    report.checks[2] = failed(
        DTYPE, "1 of 1 points count: one slip is charged once", points=0.5, aspect="dtype"
    )
    report.score = 3.5
    found = rescaled(report, {DTYPE: 3})
    assert (found.checks[2].points, found.checks[2].max_points, found.score) == (1.0, 2.0, 3.0)
    assert found.checks[2].message == "1 of 2 points count: one slip is charged once"


def test_what_the_machine_could_not_run_stays_out_of_the_points() -> None:
    report = graded(ADD, SIZES)
    report.checks[2] = failed(DTYPE, status="skipped", aspect="dtype")
    report.max_score = 3.0
    found = rescaled(report, {ADD: 1, SIZES: 1, DTYPE: 9})
    assert [each.max_points for each in found.checks] == [1.5, 1.5, 1.0]
    assert (found.score, found.max_score) == (3.0, 3.0)


@pytest.fixture
def graded_class(folder: Path) -> None:
    """Ada is right; Bob's first attempt lacks a dtype, his second the rest."""
    (folder / "course.toml").write_text(COURSE)
    attempts = (("ada", (ADD, SIZES, DTYPE)), ("bob", (ADD, SIZES)), ("bob", (DTYPE,)))
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        run = book.start_run({})
        for place, (learner, passed) in enumerate(attempts):
            submission = Submission(
                learner=learner, kata="masks", bundle=Bundle("masks.py", {"masks.py": b"# %d" % place})
            )
            run.record(submission, Key(str(place), "terms"), graded(*passed))
        run.finish()


def test_every_place_has_the_points_of_the_course(kata: Run, graded_class: None, folder: Path) -> None:
    def marks() -> dict[str, float]:
        found = kata("gradebook", "show", "--json").json["learners"]
        return {one["learner"]: one["katas"][0]["score"] for one in found}

    assert marks() == {"ada": 4.0, "bob": 3.0}
    (folder / "course.toml").write_text(COURSE + "[points.masks]\ndtype = 17\n")
    assert marks() == {"ada": 4.0, "bob": 3.4}  # now the other attempt is his best: 17 of 20
    shown = kata("gradebook", "show", "bob", "masks").out
    assert "3.4/4 points" in shown
    assert "3.4/3.4 any dtype" in shown
    assert "0.6/4" in kata("gradebook", "history", "bob").out
    wide = kata("gradebook", "export", "--format", "wide").out
    assert wide.splitlines()[2].endswith(",3.4,3.4,4")
    kata("report", "--feedback-only").done()
    (page,) = (page for page in Path("kata-report/feedback").glob("*.md") if "bob" in page.name)
    assert "3.4" in page.read_text()
    assert "points   masks: dtype 17" in kata("course", "check").out


def test_a_rehearsal_shows_what_changes_without_running_code(
    kata: Run, graded_class: None, folder: Path
) -> None:
    (folder / "course.toml").write_text(COURSE + '[points.masks]\n"any sizes" = 5\n')
    ran = kata("regrade", "--dry-run", "-j", "1", "--only", "bob")
    assert "changes 1 mark:" in ran.out
    assert "3/4 failed" in ran.out
    assert "3.5/4 failed" in ran.out
    assert "1 higher, 0 lower" in ran.out
    (folder / "course.toml").write_text(COURSE + "[points.masks]\ndtyp = 17\n")
    kata("regrade", "--dry-run").refused(
        "`points.masks`: masks has no check or aspect dtyp. Did you mean dtype?"
    )
    assert "setting without effect: masks: `points.masks`" in kata("gradebook", "problems").out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[points]\nmasks = 3", "course.toml:6: `points.masks`: must be a table"),
        (
            '[points.masks]\nvalues = "3"',
            "`points.masks.values`: must be a number from 0 to 1000, without quotes",
        ),
        ("[points.masks]\nvalues = -1", "`points.masks.values`: must be a number from 0 to 1000"),
        ('[points."9.3"]\nvalues = 1', '`points."9.3"`: names several katas'),
        ("[points.maks]\nvalues = 1", "`points.maks`: There is no kata"),
    ],
)
def test_a_wrong_table_is_named(kata: Run, graded_class: None, folder: Path, text: str, said: str) -> None:
    (folder / "course.toml").write_text(COURSE + text)
    kata("gradebook", "show").refused(said)
