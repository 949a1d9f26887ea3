"""Rubrics of written answers: complete, in step with the questions, and of no weight for the record of a gate."""

from __future__ import annotations

import pytest

from grader.catalogue.answer_sheet import questions_of, sheet_for
from grader.catalogue.rubric import rubric_of
from tests import ours

WITH = sorted(slug for slug, kata in ours.katas().items() if kata.rubric is not None)


def test_every_kata_has_a_rubric() -> None:
    assert sorted(ours.katas()) == WITH


@pytest.mark.parametrize("slug", WITH)
def test_a_rubric_marks_the_questions_that_are_asked(slug: str) -> None:
    kata = ours.katas()[slug]
    rubric = rubric_of(kata)
    assert rubric is not None
    assert tuple(one.question for one in rubric.questions) == questions_of(kata)
    assert all(one.mistakes for one in rubric.questions)
    sheet = sheet_for(kata)
    assert sheet is not None
    assert all(one.model not in sheet for one in rubric.questions)
