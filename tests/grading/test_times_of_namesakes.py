"""Two learners of one name: each gets the time that is theirs, and a time that nobody gets is told with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ran, Run
from tests.grading.conftest import RIGHT

pytestmark = pytest.mark.slow

COURSE = """
name = "Sorting"
timezone = "UTC"
roster = "roster.csv"
[late]
percent_per_day = 10
[assignments.week1]
katas = ["insertion-sort"]
due = 2026-10-12T12:00:00
"""
LEARNERS = {"wzhang": "S1", "wzhang2": "S2", "ada": "S3"}
WORKSHEET = """\
Identifier,Full name,Email address,ID number,Status,Last modified (submission)
Participant 1001,Wei Zhang,{0},S1,Submitted,"Wednesday, 14 October 2026, 2:00 PM"
Participant 1002,Wei Zhang,{1},S2,Submitted,"Monday, 12 October 2026, 11:00 AM"
Participant 1003,Ada Lovelace,ada@example.org,S3,Submitted,"Monday, 12 October 2026, 11:30 AM"
"""


def write(folder: Path, roster: str, worksheet: str = WORKSHEET) -> None:
    """A class of which two are called Wei Zhang, as Moodle gives it."""
    (folder / "course.toml").write_text(COURSE)
    (folder / "roster.csv").write_text(roster)
    for name, number in (("Wei Zhang", 1001), ("Wei Zhang", 1002), ("Ada Lovelace", 1003)):
        place = folder / "moodle" / f"{name}_{number}_assignsubmission_file_"
        place.mkdir(parents=True)
        (place / "insertion_sort.py").write_text(f"{RIGHT}# {number}\n")
    (folder / "worksheet.csv").write_text(worksheet.format("wzhang@example.org", "wzhang2@example.org"))


def grade(kata: Run, *words: str) -> Ran:
    ran = kata("grade", *words, "--assignment", "week1", "-j", "1").done()
    return ran


def times(kata: Run) -> dict[str, tuple[str | None, float]]:
    found = kata("gradebook", "show", "--json").json["learners"]
    return {
        one["learner"]: ((one["katas"][0]["submitted_at"] or "")[:16], one["katas"][0]["score"])
        for one in found
        if one["katas"][0]["status"] == "pass"
    }


def problems(kata: Run) -> list[dict[str, Any]]:
    return list(kata("gradebook", "problems", "--json").json["problems"])


@pytest.mark.parametrize(
    "roster",
    [
        "learner,name,email\nwzhang,Wei Zhang,wzhang@example.org\nwzhang2,Wei Zhang,WZhang2@example.org\n"
        "ada,Ada Lovelace,ada@example.org\n",
        "learner,name,id_number\nwzhang,Wei Zhang,S1\nwzhang2,Wei Zhang,S2\nada,Ada Lovelace,S3\n",
        "learner,name,moodle_participant\nwzhang,Wei Zhang,1001\nwzhang2,Wei Zhang,1002\nada,Ada Lovelace,1003\n",
    ],
    ids=["address", "id", "participant"],
)
def test_each_gets_their_own_time(kata: Run, warm: Path, roster: str) -> None:
    write(warm, roster)
    grade(kata, "moodle", "--times", "worksheet.csv")
    assert times(kata) == {
        "ada": ("2026-10-12T11:30", 5.0), "wzhang": ("2026-10-14T14:00", 3.5), "wzhang2": ("2026-10-12T11:00", 5.0),
    }  # fmt: skip
    assert problems(kata) == []


def test_without_a_roster_the_number_in_the_download_says_whose_time_it_is(kata: Run, warm: Path) -> None:
    write(warm, "learner,name\n")
    (warm / "course.toml").write_text(COURSE.replace('roster = "roster.csv"\n', ""))
    grade(kata, "moodle", "--times", "worksheet.csv")
    assert {name: at for name, (at, _) in times(kata).items()} == {
        "Ada Lovelace": "2026-10-12T11:30",
        "Wei Zhang (1001)": "2026-10-14T14:00",
        "Wei Zhang (1002)": "2026-10-12T11:00",
    }


def test_a_time_that_nobody_gets_is_a_problem_until_they_have_one(kata: Run, warm: Path) -> None:
    roster = "learner,name\nwzhang,Wei Zhang\nwzhang2,Wei Zhang\nada,Ada Lovelace\n"
    write(warm, roster)
    for login in LEARNERS:
        (warm / "class" / login).mkdir(parents=True)
        (warm / "class" / login / "insertion_sort.py").write_text(f"{RIGHT}# {login}\n")
    (warm / "times.csv").write_text(
        "learner,submitted_at\nWei Zhang,2026-10-14T14:00:00\nAda Lovelace,2026-10-12T11:30:00\n"
        "Dr Who,2026-10-12T11:31:00\n"
    )
    ran = grade(kata, "class", "--times", "times.csv")
    several = (
        "times.csv:2: two learners are called Wei Zhang (wzhang, wzhang2); 2026-10-14 14:00 was not used"
    )
    nobody = "times.csv:4: nobody is called Dr Who; 2026-10-12 11:31 was not used"
    assert several in ran.out
    assert times(kata)["ada"] == ("2026-10-12T11:30", 5.0)
    assert [(one["of"], one["kind"], one["what"]) for one in problems(kata)] == [
        ("week1", "time not used", several), ("week1", "time not used", nobody)
    ]  # fmt: skip
    (warm / "own.csv").write_text(
        "learner,submitted_at\nwzhang,2026-10-14T14:00:00\nwzhang2,2026-10-12T11:00:00\n"
    )
    grade(kata, "class", "--times", "own.csv")
    assert [one["what"] for one in problems(kata)] == [nobody]
    # The table was corrected: what it said before is no problem any more.
    (warm / "times.csv").write_text("learner,submitted_at\nAda Lovelace,2026-10-12T11:30:00\n")
    grade(kata, "class", "--times", "times.csv")
    assert problems(kata) == []


def test_a_time_by_name_is_not_given_to_who_has_one_by_address(kata: Run, warm: Path) -> None:
    write(
        warm,
        "learner,name,email\nwzhang,Wei Zhang,wzhang@example.org\nada,Ada Lovelace,ada@example.org\n",
    )
    grade(kata, "moodle", "--times", "worksheet.csv")
    assert times(kata)["wzhang"] == ("2026-10-14T14:00", 3.5)


def test_a_line_without_a_name_is_its_repository_or_is_told(kata: Run, warm: Path) -> None:
    (warm / "course.toml").write_text(COURSE)
    (warm / "roster.csv").write_text("learner\nada\ngrace\n")
    for login in ("ada", "grace"):
        (warm / "class" / login).mkdir(parents=True)
        (warm / "class" / login / "insertion_sort.py").write_text(f"{RIGHT}# {login}\n")
    (warm / "grades.csv").write_text(
        "assignment_name,github_username,roster_identifier,student_repository_name,submission_timestamp\n"
        "week1,,,week1-ada,2026-10-12 10:30:00 UTC\nweek1,,,week1-grace,2026-10-12 10:40:00 UTC\n"
        "week1,,,,2026-10-12 10:50:00 UTC\n"
    )
    grade(kata, "class", "--times", "grades.csv")
    assert {name: at for name, (at, _) in times(kata).items()} == {
        "ada": "2026-10-12T10:30", "grace": "2026-10-12T10:40"
    }  # fmt: skip
    assert [one["what"] for one in problems(kata)] == [
        "grades.csv:4: the line names nobody; 2026-10-12 10:50 was not used"
    ]
