"""Feedback goes back under the names that the system made, and lies where no classmate can compute it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.html.feedback_zip import names_for
from grader.instructor.html.folder import file_stem
from grader.instructor.submissions.submission import Bundle, Submission
from tests.conftest import Ran, Run
from tests.pages.builders import row


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("lovelaceada_1234_5678_masks-1.py", "lovelaceada_1234_5678_feedback.html"),
        ("week1.zip › lovelaceada_LATE_1234_5678_masks.py", "lovelaceada_LATE_1234_5678_feedback.html"),
        ("week1.zip › class/lovelaceada_1234_5678_masks.py", "lovelaceada_1234_5678_feedback.html"),
        (
            "Ada Lovelace_12345_assignsubmission_file_/unit/masks.py",
            "Ada Lovelace_12345_assignsubmission_file_/feedback.html",
        ),
        (
            "week1.zip › Ada Lovelace_12345_assignsubmission_file_/homework.zip › masks.py",
            "Ada Lovelace_12345_assignsubmission_file_/feedback.html",
        ),
        (
            "Ada Lovelace_12345_assignsubmission_file_masks.py",
            "Ada Lovelace_12345_assignsubmission_file_feedback.html",
        ),
        (
            "Ada Lovelace_12345_assignsubmission_onlinetext_/x.html",
            "Ada Lovelace_12345_assignsubmission_file_/feedback.html",
        ),
        ("ada/masks.py", None),
        ("ada/lovelaceada_1234_5678_masks.py/masks.py", None),
    ],
)
def test_a_page_is_called_as_the_system_called_the_hand_in(origin: str, name: str | None) -> None:
    assert names_for({"ada": [origin]}).get("ada") == name


@pytest.mark.parametrize(
    "origin",
    [
        "Ada Lovelace_12345_assignsubmission_file_/x.zip › Eve_6_assignsubmission_file_/masks.py",
        "Ada Lovelace_12345_assignsubmission_file_/Eve_6_assignsubmission_file_/masks.py",
        "lovelaceada_1234_5678_x.zip › eve_6_7_masks.py",
    ],
)
def test_nobody_leads_a_page_to_somebody_else(origin: str) -> None:
    names = names_for({"ada": [origin, f"week2.zip › {origin}"], "bob": ["week2.zip › bob_1_2_masks.py"]})
    assert names["bob"] == "bob_1_2_feedback.html"
    assert names["ada"].startswith(("Ada Lovelace_12345_", "lovelaceada_1234_5678_"))


def test_an_archive_s_own_name_is_none_that_a_system_gave_a_learner() -> None:
    places = {
        one: [f"marks_2026_10_12.zip › {one}_1_{number}_masks.py"] for number, one in enumerate("abc", 1)
    }
    assert names_for(places) == {
        one: f"{one}_1_{number}_feedback.html" for number, one in enumerate("abc", 1)
    }


def test_a_file_name_needs_the_gradebook_s_secret() -> None:
    assert file_stem("ada", b"one") != file_stem("ada", b"other") != file_stem("ada")
    assert file_stem("ada", b"one") == file_stem("ada", b"one")


WEEKS = (
    'name = "A course"\n[assignments.week1]\nkatas = ["masks"]\n[assignments.week2]\nkatas = ["layer-norm"]\n'
)


@pytest.fixture
def class_of_two_weeks(folder: Path, kata: Run) -> Callable[..., Ran]:
    """Two learners; week 1 came from Moodle, week 2 from Canvas, and Bob was in the first alone."""
    (folder / "course.toml").write_text(WEEKS)
    places = {
        ("ada", "masks"): "1.zip › Ada_11_assignsubmission_file_/masks.py",
        ("bob", "masks"): "1.zip › Bob_12_assignsubmission_file_/masks.py",
        ("ada", "layer-norm"): "2.zip › ada_21_31_layer_norm.py",
    }
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        run = book.start_run({})
        for (learner, slug), place in places.items():
            bundle = Bundle("x.py", {"x.py": f"{learner} {slug}".encode()})
            one = Submission(learner=learner, kata=slug, bundle=bundle, origin=place)
            run.record(one, Key(place, "terms"), row(learner, kata=slug).report)
        run.finish()
    return kata


def test_an_archive_is_of_one_assignment_and_has_its_names(
    class_of_two_weeks: Callable[..., Ran], folder: Path
) -> None:
    kata = class_of_two_weeks
    for week, names in (
        (
            "week1",
            {"Ada_11_assignsubmission_file_/feedback.html", "Bob_12_assignsubmission_file_/feedback.html"},
        ),
        ("week2", {"ada_21_31_feedback.html"}),
    ):
        ran = kata("report", "--assignment", week, "--zip", "back.zip").done()
        with zipfile.ZipFile(folder / "back.zip") as archive:
            pages = {name: archive.read(name).decode() for name in archive.namelist()}
        assert names <= pages.keys()
        assert len(pages) == 2
        other = "Layer normalisation" if week == "week1" else "Attention masks"
        assert not any(other in page for page in pages.values())
    assert "bob" in ran.err


def test_without_an_assignment_an_archive_is_refused_where_there_are_several(
    class_of_two_weeks: Callable[..., Ran], folder: Path
) -> None:
    kata = class_of_two_weeks
    kata("report", "--zip", "back.zip").refused("--assignment week2")
    assert not (folder / "back.zip").exists()
    assert not (folder / "kata-report").exists()
    kata("report", "--assignment", "wek1").refused("Did you mean week1")
    assert kata("report").code == 0
