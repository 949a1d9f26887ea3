"""Rubrics of written answers: complete, in step with the questions, and of no weight for the record of a gate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.catalogue import load_pack
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


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our katas with their solutions, copied to where records are asked about them."""
    for name in ("katas", "solutions"):
        shutil.copytree(record.ROOT / name, tmp_path / name)
    shutil.copy(record.ROOT / "requirements.lock", tmp_path)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    return tmp_path


def test_no_record_hangs_on_a_rubric(copied: Path) -> None:
    kata = record.katas()["masks"]
    before = record.digest_of_kata("masks")
    folder = copied / "solutions" / kata.unit.folder.name / "masks"
    (folder / "rubric.toml").write_text("anything")
    assert record.digest_of_kata("masks") == before
    (folder / "other.toml").write_text("anything")
    assert record.digest_of_kata("masks") != before


def test_what_decides_about_speed_has_a_record_of_its_own(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kata = record.katas()["masks"]
    monkeypatch.setattr(record, "katas", lambda: {kata.slug: kata for kata in katas})
    digests: list[tuple[str, str]] = []
    katas = load_pack(copied / "katas").katas

    def changed(path: Path, old: str, new: str) -> list[bool]:
        """Return whether the digests of kata and speed are others now."""
        path.write_text(path.read_text().replace(old, new, 1))
        digests.append((record.digest_of_kata("masks"), record.digest_of_speed("masks")))
        return [one != other for one, other in zip(digests[-1], digests[-2], strict=True)]

    folder, answers = (copied / top / kata.unit.folder.name / "masks" for top in ("katas", "solutions"))
    digests.append((record.digest_of_kata("masks"), record.digest_of_speed("masks")))
    assert changed(folder / "speed_checks.py", "import", "import math\nimport") == [False, True]
    assert changed(next((answers / "slow").iterdir()), '"""', '"""Slow. ') == [False, True]
    assert changed(folder / "kata.toml", "cpu = 100.0", "cpu = 99.0") == [False, True]
    assert changed(folder / "calibration.json", "{", "{ ") == [False, False]
    assert changed(folder / "kata.toml", "memory_mb = ", "memory_mb = 1") == [True, True]
