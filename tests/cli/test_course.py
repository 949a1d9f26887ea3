"""`kata course new`: a first course.toml from what systems give, that loads as it stands, and overwrites nothing."""

from __future__ import annotations

import os
import shutil
from datetime import UTC
from pathlib import Path

import pytest

from grader.catalogue import Catalogue
from grader.instructor.gradebook.course import Course
from tests.conftest import Run

TOY = Path(__file__).parents[1] / "packs" / "tiny"

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    '"Lovelace, Ada",1001,S-17,ada17,Lab A\n"Hopper, Grace",1002,S-18,grace18,Lab B\n'
)
GITHUB = "identifier,github_username,github_id,name\nada@example.org,adal,7,Ada Lovelace\nzz,zz,8,Zed\n"


def test_rosters_are_joined_and_the_course_loads(kata: Run, folder: Path) -> None:
    (folder / "canvas.csv").write_text(CANVAS)
    (folder / "github.csv").write_text(GITHUB)
    ran = kata(
        "course", "new", "--roster", "canvas.csv", "--roster", "github.csv", "--timezone", "Europe/Berlin",
        "--assignment", "week1=9.1,9.2", "--assignment", "week 2=9.3.1",
    )  # fmt: skip
    assert ran.code == 0, ran.text
    assert "roster.csv   3 learners, 2 sections" in ran.out
    assert "course.toml   2 assignments: week1, week 2" in ran.out
    assert "note: zz is only in one of the rosters" in ran.err
    catalogue = Catalogue.discover()
    course = Course.load(folder / "course.toml", catalogue)
    units = tuple(one.slug for one in catalogue.katas if one.number.startswith(("9.1.", "9.2.")))
    assert units[:2] == ("self-attention", "positional-encoding")
    assert {name: one.katas for name, one in course.assignments.items()} == {
        "week1": units,
        "week 2": ("masks",),
    }
    ada = course.roster["ada17"]
    assert (ada.name, ada.email, ada.canvas_id, ada.section) == (
        "Ada Lovelace",
        "ada@example.org",
        "1001",
        "Lab A",
    )
    assert (ada.cell("github_username"), ada.aliases) == ("adal", ("ada@example.org",))


WITH_COLUMNS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (501),Homework (777),Current Score\n"
    '"Lovelace, Ada",1001,S-17,ada17,Lab A\n"Lovelace, Ada",1002,S-18,grace18,Lab B\n'
)


def test_a_course_is_written_changed_and_checked_by_commands_alone(kata: Run, folder: Path) -> None:
    (folder / "canvas.csv").write_text(WITH_COLUMNS)
    ran = kata(
        "course", "new", "--roster", "canvas.csv", "--timezone", "Europe/Berlin", "--late", "10%",
        "--assignment", "week1=9.3.1", "--assignment", "week 2=9.3.2",
        "--due", "week1=2026-10-12T18:00", "--closes", "week1=2026-10-19",
    )  # fmt: skip
    assert ran.code == 0, ran.text
    assert "kata course set --due 'week 2'=TIME, then: kata grade DOWNLOAD --assignment week1" in ran.err
    kata("course", "set", "--due", "week 2=2026-10-19T18:00+02:00", "--column", "week 2=Homework (777)")
    text = (folder / "course.toml").read_text()
    assert kata("course", "set", "--late", "5", "--due", "week 2=2026-10-20").code == 0
    lines = (folder / "course.toml").read_text().splitlines()
    changed = [line for line in lines if line not in text.splitlines()]
    assert changed == ["due = 2026-10-20", "percent_per_day = 5"]
    ran = kata("course", "check").done()
    assert ran.out.splitlines() == [
        "A course   Europe/Berlin   2 learners, 2 sections",
        "week1   masks   due Mon 2026-10-12 18:00   closes Tue 2026-10-20 00:00   column Week 1 (501)",
        "week 2   masked-attention   due Wed 2026-10-21 00:00   column Homework (777)",
        "late   5 % for each day that has begun",
    ]
    assert "grace18: others are called Ada Lovelace, too" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--due", "week2=2026-10-19T18:00"], "the course has no assignment week2. Did you mean week1?"),
        (["--due", "week1"], "--due week1: this is not like week1=2026-10-12T18:00."),
        (["--due", "week1=19.10.2026"], "--due week1=19.10.2026: this is not a time."),
        (["--due", "week1=2026-10-32"], "--due week1=2026-10-32: this is not a time."),
        (["--closes", "week1=2026-10-02T18:00"], "is before `due`"),
        (["--late", "ten"], "--late ten: this is not a percentage."),
        (["--late", "101%"], "`late.percent_per_day`"),
        (["--column", "9.3=Unit"], '`columns."9.3"`: names several katas.'),
        ([], "Nothing is to be changed."),
    ],
)
def test_a_change_that_is_not_clear_changes_nothing(
    kata: Run, folder: Path, arguments: list[str], said: str
) -> None:
    kata("course", "new", "--assignment", "week1=9.3.1", "--due", "week1=2026-10-12T18:00")
    text = (folder / "course.toml").read_text()
    kata("course", "set", *arguments).refused(said)
    assert (folder / "course.toml").read_text() == text


def test_without_anything_there_is_an_assignment_for_each_unit(kata: Run, folder: Path) -> None:
    assert kata("course", "new", "autumn", "--name", 'A "course"').code == 0
    course = Course.load(folder / "autumn" / "course.toml", Catalogue.discover())
    assert course.name == 'A "course"'
    assert "unit-9.3" in course.assignments


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--assignment", "week1"), "--assignment week1: this is not like week1=9.1,masks"),
        (("--assignment", "a=masks", "--assignment", "b=9.3.1"), "masks is already in assignments.a"),
        (("--assignment", "a=maks"), "Did you mean masks"),
        (("--timezone", "Europe/Berln"), "Did you mean Europe/Berlin"),
        (("--roster", "none.csv"), "none.csv: there is no such roster"),
    ],
)
def test_a_mistake_leaves_nothing_behind(
    kata: Run, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    kata("course", "new", *arguments).refused(said)
    assert not (folder / "course.toml").exists()
    assert not (folder / "roster.csv").exists()


def test_a_new_roster_takes_the_place_of_the_old_one(kata: Run, folder: Path) -> None:
    (folder / "canvas.csv").write_text(CANVAS)
    (folder / "github.csv").write_text(GITHUB)
    kata(
        "course", "new", "--roster", "canvas.csv", "--roster", "github.csv", "--assignment", "w=masks"
    ).done()
    (folder / "canvas.csv").write_text(
        CANVAS.replace('"Hopper, Grace",1002,S-18,grace18', '"Roe, Bob",1003,S-19,bob19').replace(
            "Lab A", "Lab C"
        )
    )
    ran = kata("course", "set", "--roster", "canvas.csv").done()
    assert "new: bob19" in ran.err
    assert "not in it any more: grace18, zz" in ran.err
    assert "kata gradebook left grace18 --comment TEXT" in ran.err
    roster = Course.load(folder / "course.toml", Catalogue.discover()).roster
    assert list(roster) == ["ada17", "bob19"]
    ada = roster["ada17"]  # what only the other system knew stays
    assert (ada.section, ada.cell("github_username"), ada.email) == ("Lab C", "adal", "ada@example.org")


def test_a_roster_is_given_to_a_course_that_has_none(kata: Run, folder: Path) -> None:
    kata("course", "new", "--assignment", "w=masks").done()
    (folder / "canvas.csv").write_text(CANVAS)
    (folder / "roster.csv").write_text("mine")
    kata("course", "set", "--roster", "canvas.csv").refused("roster.csv is there already")
    (folder / "roster.csv").unlink()
    (folder / "canvas.csv").write_text(CANVAS.replace("1002", "1001"))
    text = (folder / "course.toml").read_text()
    kata("course", "set", "--roster", "canvas.csv").refused("has the number in Canvas 1001")
    assert ((folder / "course.toml").read_text(), (folder / "roster.csv").exists()) == (text, False)
    (folder / "canvas.csv").write_text(CANVAS)
    kata("course", "set", "--roster", "canvas.csv").done()
    assert list(Course.load(folder / "course.toml", Catalogue.discover()).roster) == ["ada17", "grace18"]


def test_nothing_is_overwritten(kata: Run, folder: Path) -> None:
    (folder / "course.toml").write_text("mine")
    kata("course", "new").refused("course.toml is there already")
    assert (folder / "course.toml").read_text() == "mine"


# --- Syllabuses ---


def test_a_syllabus_becomes_assignments_with_dates(kata: Run, folder: Path) -> None:
    ran = kata(
        "course", "new", "--syllabus", "8", "--start", "2027-01-11", "--timezone", "Europe/Berlin"
    ).done()
    course = Course.load(folder / "course.toml", Catalogue.discover())
    assert list(course.assignments) == [f"week-{number}" for number in range(1, 9)]
    last = course.assignments["week-8"].due
    assert last is not None
    assert last.astimezone(UTC).isoformat() == "2027-03-07T22:59:00+00:00"
    assert "write the due times" not in ran.text


@pytest.mark.parametrize("weeks", [4, 8, 14])
def test_each_of_ours_loads(kata: Run, folder: Path, weeks: int) -> None:
    assert kata("course", "new", "--syllabus", weeks).code == 0
    catalogue = Catalogue.discover()
    given = Course.load(folder / "course.toml", catalogue).assignments.values()
    assert len(given) == weeks
    done = [slug for one in given for slug in one.katas]
    assert weeks < 14 or sorted(done) == sorted(one.slug for one in catalogue.katas)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--syllabus", "5"), "There are syllabuses of 4, 8, 14 weeks"),
        (("--start", "2027-01-11"), "--start says when a syllabus begins"),
        (("--syllabus", "8", "--assignment", "a=masks"), "both say what the assignments are"),
        (("--syllabus", "8", "--start", "11.1.2027"), "does not match the format"),
    ],
)
def test_a_syllabus_that_is_not_clear_writes_nothing(
    kata: Run, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    kata("course", "new", *arguments).refused(said)
    assert not list(folder.iterdir())


def test_a_pack_of_one_s_own_brings_its_own_and_a_mistake_in_it_is_named(
    kata: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(TOY, tmp_path / "toy")
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "toy"))
    example = tmp_path / "toy" / "course-1.toml"
    example.write_text("[assignments.sorting]\nkatas = ['bubble']\n")
    kata("course", "new", "--syllabus", "1").refused("`assignments.sorting.katas[0]`")
    assert not list(folder.iterdir())
    example.write_text("[assignments.sorting]\nkatas = ['insertion-sort']\n")
    assert kata("course", "new", "--syllabus", "1").code == 0


@pytest.mark.parametrize("place", ["a-pipe", "a-pipe/autumn"])
def test_what_is_no_folder_is_named(kata: Run, folder: Path, place: str) -> None:
    os.mkfifo(folder / "a-pipe")
    ran = kata("course", "new", place)
    assert (ran.code, "a-pipe" in ran.text and "is not a folder" in ran.text) == (2, True), ran.text
