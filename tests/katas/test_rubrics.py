"""Rubrics of written answers: complete, in step with the questions, and of no weight for the record of a gate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.catalogue.answer_sheet import questions_of, sheet_for
from grader.catalogue.rubric import rubric_of
from tests import record

WITH = sorted(slug for slug, kata in record.katas().items() if kata.rubric is not None)


def test_every_kata_has_a_rubric() -> None:
    assert sorted(record.katas()) == WITH


@pytest.mark.parametrize("slug", WITH)
def test_a_rubric_marks_the_questions_that_are_asked(slug: str) -> None:
    kata = record.katas()[slug]
    rubric = rubric_of(kata)
    assert rubric is not None
    assert tuple(one.question for one in rubric.questions) == questions_of(kata)
    assert all(one.mistakes for one in rubric.questions)
    sheet = sheet_for(kata)
    assert sheet is not None
    assert all(one.model not in sheet for one in rubric.questions)


def test_no_record_hangs_on_a_rubric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kata = record.katas()["masks"]
    for name in ("katas", "solutions"):
        shutil.copytree(record.ROOT / name, tmp_path / name)
    shutil.copy(record.ROOT / "requirements.lock", tmp_path)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    before = record.digest_of_kata("masks")
    folder = tmp_path / "solutions" / kata.unit.folder.name / "masks"
    (folder / "rubric.toml").write_text("anything")
    assert record.digest_of_kata("masks") == before
    (folder / "other.toml").write_text("anything")
    assert record.digest_of_kata("masks") != before
