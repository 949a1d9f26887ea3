"""`kata course new`: a first course.toml from what systems give, that loads as it stands, and overwrites nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalogue import Catalogue
from grader.gradebook.course import Course
from tests.conftest import Ran

Kata = Callable[..., Ran]
ROOT = Path(__file__).parents[2]

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    '"Lovelace, Ada",1001,S-17,ada17,Lab A\n"Hopper, Grace",1002,S-18,grace18,Lab B\n'
)
GITHUB = "identifier,github_username,github_id,name\nada@example.org,adal,7,Ada Lovelace\nzz,zz,8,Zed\n"


def test_rosters_are_joined_and_the_course_loads(kata: Kata, folder: Path) -> None:
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


def test_without_anything_there_is_an_assignment_for_each_unit(kata: Kata, folder: Path) -> None:
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
    kata: Kata, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = kata("course", "new", *arguments)
    assert ran.code == 2
    assert said in ran.text
    assert not (folder / "course.toml").exists()
    assert not (folder / "roster.csv").exists()


def test_nothing_is_overwritten(kata: Kata, folder: Path) -> None:
    (folder / "course.toml").write_text("mine")
    ran = kata("course", "new")
    assert (ran.code, "course.toml is there already" in ran.text) == (2, True)
    assert (folder / "course.toml").read_text() == "mine"


@pytest.mark.parametrize("weeks", [4, 8, 14])
def test_the_example_courses_load(weeks: int) -> None:
    catalogue = Catalogue.discover()
    example = ROOT / "docs" / "courses" / f"{weeks}-weeks.toml"
    course = Course.load(example, catalogue)
    assert list(course.assignments) == [f"week-{number}" for number in range(1, weeks + 1)]
    spare = re.findall(r"with time left: (.*)", example.read_text())
    slugs = {kata.slug for kata in catalogue.katas}
    assert {slug for line in spare for slug in line.split(", ")} <= slugs
    done = [slug for one in course.assignments.values() for slug in one.katas]
    assert weeks < 14 or sorted(done) == sorted(slugs)
