"""What several gradings of one mistake say of its marks."""

from __future__ import annotations

import pytest

from grader.author.stability import StabilityResult


def test_a_check_that_changes_its_mind_is_named_with_its_share() -> None:
    marks = StabilityResult(
        "mean_forgotten",
        4.0,
        {"test_a": [2.0, 2.0, 0.0, 2.0], "test_b": [1.0, 1.0, 1.0, 1.0]},
        # With points that are kept all the same it did not hold.
        {"test_a": [True, True, False, True], "test_b": [False, False, False, False]},
    )
    assert marks.flips() == {"test_a": 0.25}
    assert marks.loss == 0.25


def test_a_check_that_trains_has_its_turn_again_on_later_seeds() -> None:
    marks = StabilityResult(
        "mean_forgotten", 2.0, {"test_a": [1.0, 1.0, 1.0, 1.0], "test_trained": [1.0, 0.0]}
    )
    assert marks.scores() == [2.0, 1.0, 2.0, 1.0]
    assert marks.loss == pytest.approx(0.25)
