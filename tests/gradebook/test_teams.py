"""Teams: what one member hands in counts for all, and two of one name are not taken for one another."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Bundle, Submission
from tests.conftest import Run
from tests.pages.builders import check, failed, row

COURSE = """
name = "A course"
timezone = "UTC"
roster = "roster.csv"
[assignments.week1]
katas = ["masks"]
due = 2026-10-12T18:00:00
[assignments.week2]
katas = ["layer-norm"]
[late]
percent_per_day = 50
[extensions]
bob = 2
"""
ROSTER = "learner,name,canvas_id,sis_login_id\nada,Ada L,17,al\nbob,Bob R,18,br\neve,Eve S,19,es\n"
NUMBERS = {"masks": "9.3.1", "layer-norm": "9.3.3"}
LATE = datetime(2026, 10, 13, 12, tzinfo=UTC)


@pytest.fixture
def graded(folder: Path) -> None:
    """Ada handed in week 1, a day late, and week 2; Bob and Eve nothing."""
    (folder / "course.toml").write_text(COURSE)
    (folder / "roster.csv").write_text(ROSTER)
    (folder / "teams.csv").write_text("team,learner\nTeam 7,ada\nTeam 7,bob\nTeam 8,eve\n")
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        run = book.start_run({})
        for kata in NUMBERS:
            hand_in(run, "ada", kata, submitted_at=LATE)
        run.finish()


def hand_in(run: object, learner: str, kata: str, submitted_at: datetime, passes: bool = True) -> None:
    bundle = Bundle(f"{kata}.py", {f"{kata}.py": f"{learner} {kata} {submitted_at}".encode()})
    checks = [check(max_points=4.0, points=4.0) if passes else failed(max_points=4.0)]
    report = row(learner, kata=kata, number=NUMBERS[kata], checks=checks).report
    submission = Submission(learner=learner, kata=kata, bundle=bundle, submitted_at=submitted_at)
    run.record(submission, Key(bundle.digest, "terms"), report)  # type: ignore[attr-defined]


def scores(kata: Run) -> dict[str, list[float]]:
    found = kata("gradebook", "show", "--json").json["learners"]
    return {one["learner"]: [each["score"] for each in one["katas"]] for one in found}


def test_a_hand_in_counts_for_every_member_with_the_lateness_of_each(kata: Run, graded: None) -> None:
    assert scores(kata) == {"ada": [2.0, 4.0], "bob": [0.0, 0.0], "eve": [0.0, 0.0]}
    ran = kata("gradebook", "teams", "teams.csv", "week1", "--comment", "groups").done()
    assert "Team 7: ada, bob" in ran.out
    assert "kata gradebook withdraw 1 " in ran.err
    # Bob has more time; and the team is one for week 1 alone.
    assert scores(kata) == {"ada": [2.0, 4.0], "bob": [4.0, 0.0], "eve": [0.0, 0.0]}
    assert "handed in by ada, for the team" in kata("gradebook", "show", "bob", "masks").out
    assert "attempt 1" in kata("gradebook", "history", "bob", "masks").out
    assert "ada masks" in kata("gradebook", "code", "bob", "masks").out
    assert "handed in nothing: eve" in kata("gradebook", "export", "--format", "wide").err
    # What one of them hands in later is the newest for both.
    with Gradebook.open("gradebook.sqlite", create=False) as book:
        run = book.start_run({})
        hand_in(run, "bob", "masks", LATE.replace(hour=13), passes=False)
        run.finish()
    assert scores(kata)["ada"] == [0.0, 4.0]
    kata("gradebook", "withdraw", "1", "--comment", "no team").done()
    assert scores(kata) == {"ada": [2.0, 4.0], "bob": [0.0, 0.0], "eve": [0.0, 0.0]}


def test_a_new_table_takes_the_place_of_the_old_one(kata: Run, graded: None, folder: Path) -> None:
    kata("gradebook", "teams", "teams.csv", "week1", "--comment", "groups").done()
    ran = kata("gradebook", "teams", "teams.csv", "week1", "--comment", "groups").done()
    assert "2 teams for week1, 0 of them new" in ran.err
    (folder / "teams.csv").write_text("team,learner\nTeam 7,ada\nTeam 7,eve\n")
    kata("gradebook", "teams", "teams.csv", "week1", "--comment", "changed").done()
    assert {name: own[0] for name, own in scores(kata).items()} == {"ada": 2.0, "bob": 0.0, "eve": 2.0}


def test_canvas_s_export_of_groups_is_read(kata: Run, graded: None, folder: Path) -> None:
    (folder / "teams.csv").write_text(
        "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
        "Ada L,17,,al,A,Project 1,5,\nBob R,18,,br,A,Project 1,5,\nEve S,19,,es,A,,,\n"
    )
    ran = kata("gradebook", "teams", "teams.csv", "all", "--comment", "groups").done()
    assert ran.out == "Project 1: ada, bob\n"
    assert scores(kata)["bob"] == [4.0, 4.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("team,learner\nTeam 7,ada\nTeam 7,nemo\n", "teams.csv:3: The gradebook has no learner nemo"),
        ("team,learner\nTeam 7,ada\nTeam 8,ada\n", "teams.csv:3: this is about the same as line 2"),
        ("team,learner\nTeam 7,\n", "teams.csv:2: the line names nobody"),
        ("team,who\nTeam 7,ada\n", "no column `learner` and no column `login_id`"),
        (
            "group_name,canvas_user_id,login_id\nP,99,xx\n",
            "teams.csv:2: nobody in the roster has the number 99 or the login xx",
        ),
    ],
)
def test_a_wrong_table_changes_nothing(kata: Run, graded: None, folder: Path, text: str, said: str) -> None:
    (folder / "teams.csv").write_text(text)
    kata("gradebook", "teams", "teams.csv", "week1", "--comment", "groups").refused(said)
    assert "no decisions" in kata("gradebook", "rulings").err


def test_a_name_that_two_have_is_proposed_for_neither(kata: Run, graded: None, folder: Path) -> None:
    (folder / "roster.csv").write_text(
        "learner,name\nada,Ada L\nbob,Bob R\nwzhang,Wei Zhang\nwzhang2,Wei Zhang\n"
    )
    with Gradebook.open("gradebook.sqlite", create=False) as book:
        run = book.start_run({})
        for team in (38, 40):
            hand_in(run, f"Team {team}-Wei Zhang", "masks", LATE)
        run.finish()
    lines = kata("gradebook", "problems").out.splitlines()
    for team in (38, 40):
        assert (
            f"  unmatched: Team {team}-Wei Zhang: wzhang or wzhang2? (all of the roster's name is in it)"
            in lines
        )
        assert f"      kata gradebook alias LEARNER 'Team {team}-Wei Zhang' --comment TEXT" in lines
