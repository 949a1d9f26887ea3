"""Conventions: each form's reference has full marks where it holds; where another holds, it is the mistake, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from grader.catalogue import Kata
from grader.engine.mistakes.mistakes import mistakes
from grader.engine.runner.suite import RunConfig, suites_of
from grader.report.report import KataReport
from tests import ours

pytestmark = pytest.mark.gate
FORMS = {
    "optimizer": ("adamw", "long", "short", "short-form"),
    "rotary-positions": ("rotation", "pairs", "halves", "halves-paired"),
    "sampling": ("top_p", "reached", "past", "exact-p-passed"),
}
"""By kata the convention, its first form, the other one, and what that is called where the first holds."""
SEEDS = (0, 3)


def turned(slug: str) -> Kata:
    """Return a kata of which a pack has chosen the other form."""
    convention, _, other, _ = FORMS[slug]
    return structs.replace(ours.katas()[slug], conventions={convention: other})


def graded(kata: Kata, answer: str | None, folder: Path, launcher: Any) -> list[KataReport]:
    assert answer is not None
    file = folder / f"{kata.module}.py"
    file.write_text(answer)
    with suites_of([kata], hidden=True) as suites:
        return [suites[kata.slug].check(file, launcher, RunConfig(seed=seed)) for seed in SEEDS]


@pytest.mark.parametrize("slug", FORMS)
def test_each_forms_reference_is_right_where_it_holds(slug: str, launcher: Any, tmp_path: Path) -> None:
    for kata in (ours.katas()[slug], turned(slug)):
        for report in graded(kata, kata.reference_in(kata.turned), tmp_path, launcher):
            assert (report.status, report.score) == ("pass", kata.points + kata.hidden_points)


@pytest.mark.parametrize("slug", FORMS)
def test_the_other_form_is_the_mistake_by_name_and_costs_one_check_and_a_tenth(
    slug: str, launcher: Any, tmp_path: Path
) -> None:
    convention, first, _, name = FORMS[slug]
    own, other = ours.katas()[slug], turned(slug)
    texts = [kata.reference_in(kata.turned) for kata in (other, own)]
    named = f"{convention}-{first}".replace("_", "-")
    for kata, answer, mistake in zip((own, other), texts, (name, named), strict=True):
        for report in graded(kata, answer, tmp_path, launcher):
            failed = [check for check in report.checks if check.status == "fail"]
            assert {check.misconception for check in failed} == {mistake}
            dearest = max(check.max_points for check in failed)
            assert report.max_score - report.score <= dearest + -(-report.max_score // 10)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "slug", [slug for slug, kata in ours.katas().items() if any(wrong.convention for wrong in mistakes(kata))]
)
def test_what_others_teach_costs_one_check_and_a_tenth(slug: str, launcher: Any, tmp_path: Path) -> None:
    kata = ours.katas()[slug]
    file = tmp_path / f"{kata.module}.py"
    with suites_of([kata], hidden=True) as suites:
        suite = suites[slug].exclude(suites[slug].trained())
        for wrong in mistakes(kata):
            if not wrong.convention:
                continue
            file.write_text(wrong.text)
            report = suite.check(file, launcher, RunConfig(seed=0))
            failed = [check for check in report.checks if check.status != "pass"]
            assert wrong.name.replace("_", "-") in {check.misconception for check in failed}, wrong.name
            most = max(check.max_points for check in failed) + -(-report.max_score // 10)
            assert report.max_score - report.score <= most, wrong.name


@pytest.mark.parametrize(
    ("right", "wrong", "is_a_sum"),
    [
        ("gradient, gradient, value=1 - beta2", "gradient, gradient", True),
        # After one step these parameters are the same.
        ("math.sqrt(1 - beta2**t)", "(1 - beta2**t)", False),
    ],
)
def test_in_the_short_form_a_moment_is_called_a_sum_by_two_steps(
    right: str, wrong: str, is_a_sum: bool, launcher: Any, tmp_path: Path
) -> None:
    kata = turned("optimizer")
    text = kata.reference_in(kata.turned)
    assert text is not None
    assert right in text
    for report in graded(kata, text.replace(right, wrong), tmp_path, launcher):
        first = next(check for check in report.checks if check.id == "test_first_step")
        assert first.status == "fail"
        assert ("is a sum, not a mean" in (first.likely or "")) == is_a_sum


def test_a_lesson_says_which_form_holds() -> None:
    own, other = (kata.lesson_text() for kata in (ours.katas()["optimizer"], turned("optimizer")))
    assert "\n- **short**: eps is added to √v before the correction" in other[:400]
    assert other.replace(other[other.index("\nIn this course") : other.index("\n## In short")], "", 1) == own
