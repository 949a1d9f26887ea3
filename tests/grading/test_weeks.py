"""Download after download into one gradebook: what one does not contain is left as it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from grader.grading import executors
from grader.submissions.spot import Spot
from tests.conftest import TINY, Ran
from tests.grading.conftest import MODULE, RIGHT, SOLUTIONS, WRONG

Kata = Callable[..., Ran]

COURSE = """
name = "Sorting"
timezone = "UTC"

[assignments.week1]
katas = ["insertion-sort"]
due = 2026-10-05T12:00:00

[assignments.week2]
katas = ["bubble-sort"]
due = 2026-10-12T12:00:00
"""


@pytest.fixture
def week(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A course of two katas, one a week; call it to put an answer into a week's download."""
    home = tmp_path_factory.mktemp("packs")
    pack, answers = home / "katas", home / "solutions"
    shutil.copytree(TINY, pack)
    shutil.copytree(SOLUTIONS.parent.parent, answers)
    for root in (pack, answers):
        first, second = root / "1.1-sorting/insertion-sort", root / "1.1-sorting/bubble-sort"
        shutil.copytree(first, second)
        (second / MODULE).rename(second / "bubble_sort.py")
    data = pack / "1.1-sorting/bubble-sort/kata.toml"
    text = data.read_text().replace('"1.1.1"', '"1.1.2"').replace("Insertion sort", "Bubble sort")
    data.write_text(text.replace('module = "insertion_sort"', 'module = "bubble_sort"'))
    monkeypatch.setenv("KATA_PACKS", str(pack))
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    (folder / "course.toml").write_text(COURSE)

    def put(number: int, learner: str, source: str | None = RIGHT) -> Path:
        place = folder / f"week{number}" / learner
        place.mkdir(parents=True, exist_ok=True)
        if source is not None:
            (place / ("insertion_sort.py", "bubble_sort.py")[number - 1]).write_text(source)
        return place

    return put


def marks(kata: Kata) -> dict[tuple[str, str], tuple[str, float]]:
    """What counts, by learner and kata."""
    found = json.loads(kata("gradebook", "show", "--json").out)
    return {
        (one["learner"], row["kata"]): (row["status"], row["score"])
        for one in found["learners"]
        for row in one["katas"]
    }


def test_the_second_week_changes_nothing_of_the_first(kata: Kata, week: Any) -> None:
    week(1, "ada")
    week(1, "bob", WRONG)
    assert kata("grade", "week1", "-j", "1", "--assignment", "week1").code == 0
    first = marks(kata)
    assert first["ada", "insertion-sort"] == ("pass", 5.0)
    week(2, "ada")
    ran = kata("grade", "week2", "-j", "1", "--assignment", "week2")
    assert ran.code == 0, ran.text
    both = marks(kata)
    assert {key: both[key] for key in first} == first
    assert both["ada", "bubble-sort"] == ("pass", 5.0)
    assert both["bob", "bubble-sort"] == ("missing", 0.0)


def test_without_a_name_the_assignments_are_those_that_were_handed_in(kata: Kata, week: Any) -> None:
    week(1, "ada")
    ran = kata("grade", "week1", "-j", "1")
    assert "note: week1, by what lies there" in ran.err
    assert set(marks(kata)) == {("ada", "insertion-sort")}


def test_a_download_of_one_late_learner_leaves_the_others(kata: Kata, week: Any, folder: Path) -> None:
    (folder / "roster.csv").write_text("learner\nada\nbob\n")
    (folder / "course.toml").write_text(COURSE.replace("\n[ass", 'roster = "roster.csv"\n[ass', 1))
    week(1, "ada")
    week(1, "bob")
    kata("grade", "week1", "-j", "1")
    before = marks(kata)
    shutil.rmtree(folder / "week1" / "ada")
    week(1, "bob", WRONG)
    ran = kata("grade", "week1", "-j", "1")
    assert "1 not in this download and left as they were" in ran.out
    after = marks(kata)
    assert after["ada", "insertion-sort"] == before["ada", "insertion-sort"] == ("pass", 5.0)
    assert after["bob", "insertion-sort"][0] == "fail"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--assignment", "wek1"), "there is no such assignment. Did you mean week1"),
        (("--assignment", "week1", "--only", "bubble-sort"), "bubble-sort is not in the assignment week1"),
    ],
)
def test_what_assignments_there_are_is_said(
    kata: Kata, week: Any, arguments: tuple[str, ...], said: str
) -> None:
    week(1, "ada")
    ran = kata("grade", "week1", *arguments)
    assert ran.code == 2
    assert said in ran.text


def test_a_course_without_assignments_says_how_to_name_them(kata: Kata, week: Any, folder: Path) -> None:
    (folder / "course.toml").unlink()
    week(1, "ada")
    ran = kata("grade", "week1", "--assignment", "week1")
    assert ran.code == 2
    assert "[assignments.week1]" in ran.text


def test_a_folder_that_may_not_be_read_is_no_learners_fault(
    kata: Kata, week: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    week(1, "ada")
    week(1, "bob")
    kata("grade", "week1", "-j", "1")
    opened = Spot.open

    def closed(self: Spot, *flags: int) -> int:
        if self.names[-1:] == ("bob",):
            raise PermissionError(13, "Permission denied")
        return opened(self, *flags)

    monkeypatch.setattr(Spot, "open", closed)
    ran = kata("grade", "week1", "-j", "1")
    assert ran.code == 3
    assert "bob cannot be opened: permission denied. Mend its permissions" in ran.text
    assert marks(kata)["bob", "insertion-sort"] == ("pass", 5.0)


def test_one_is_meant_by_the_beginning_of_a_name(kata: Kata, week: Any) -> None:
    week(1, "ada")
    week(1, "bob")
    ran = kata("grade", "week1", "-j", "1", "--only", "AD", "--json", "-")
    assert [json.loads(line)["learner"] for line in ran.out.splitlines()] == ["ada"]
