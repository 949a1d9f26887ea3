"""Feedback goes back under the names that the system made, and lies where no classmate can compute it."""

from __future__ import annotations

import pytest

from grader.pages.feedback_zip import name_for
from grader.pages.folder import file_stem


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("lovelaceada_1234_5678_masks-1.py", "lovelaceada_1234_5678_feedback.html"),
        ("week1.zip › lovelaceada_LATE_1234_5678_masks.py", "lovelaceada_LATE_1234_5678_feedback.html"),
        (
            "Ada Lovelace_12345_assignsubmission_file_/unit/masks.py",
            "Ada Lovelace_12345_assignsubmission_file_/feedback.html",
        ),
        (
            "Ada Lovelace_12345_assignsubmission_file_masks.py",
            "Ada Lovelace_12345_assignsubmission_file_feedback.html",
        ),
        ("ada/masks.py", "stem.html"),
        (None, "stem.html"),
    ],
)
def test_a_page_is_called_as_the_system_called_the_hand_in(origin: str | None, name: str) -> None:
    assert name_for("ada", origin, "stem") == name


def test_a_file_name_needs_the_gradebook_s_secret() -> None:
    assert file_stem("ada", b"one") != file_stem("ada", b"other") != file_stem("ada")
    assert file_stem("ada", b"one") == file_stem("ada", b"one")
