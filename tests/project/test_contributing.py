"""CONTRIBUTING.md: what it names is there, and its first recipe is followed on a copy of a kata."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.author.gate import Gate, Verdict
from grader.catalogue import load_pack
from grader.engine.runner.suite import suites_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
UNIT, SLUG = "9.3-encoder-vs-decoder", "masks"
CHECKS = Path("katas") / UNIT / SLUG / "checks.py"


def test_it_is_short_and_what_it_names_is_there() -> None:
    assert len(PAGE.splitlines()) <= 90
    for path in re.findall(r"`((?:grader|tests|docs|katas|solutions)/[\w./-]*)`", PAGE):
        if not {"UNIT", "FAMILY"} & set(path.split("/")):
            assert (ROOT / path).exists(), path
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"make ([a-z]+)", PAGE)) <= targets


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Our pack with one kata in it, and its solutions."""
    for top in ("katas", "solutions"):
        folder = tmp_path / top
        folder.mkdir()
        for part in (ROOT / top).iterdir():
            if part.is_file():
                shutil.copy(part, folder / part.name)
            elif part.name in ("given", "play"):
                shutil.copytree(part, folder / part.name)
        shutil.copytree(
            ROOT / top / UNIT,
            folder / UNIT,
            ignore=lambda at, names: [
                name for name in names if Path(at).name == UNIT and Path(at, name).is_dir() and name != SLUG
            ],
        )
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.gate
def test_a_check_is_changed_as_the_recipe_says(copied: Path, launcher: Any) -> None:
    def gate(**options: Any) -> Verdict:
        [kata] = load_pack(copied / "katas").katas
        examine: Callable[..., Verdict] = Gate(launcher, **options).examine
        with suites_of([kata], hidden=True) as suites:
            return examine(kata, suites[SLUG])

    def shows(names: list[str]) -> list[str]:
        return [name for name in names if name == "additive_zeros"]

    before = contents(copied)
    text = (copied / CHECKS).read_text(encoding="utf-8")
    assert '"additive mask"' in text
    (copied / CHECKS).write_text(text.replace('"additive mask"', '"mask to add"'), encoding="utf-8")
    found = {finding.rule for finding in gate(draw=shows).findings}
    assert "transcripts" in found
    assert found <= {"transcripts", "fingerprints"}
    assert gate(update=True).findings == []
    after = contents(copied)
    touched = {Path(name).name for name in before if after[name] != before[name]}
    assert {"checks.py", "transcripts.txt"} <= touched
    assert touched <= {"checks.py", "transcripts.txt", "fingerprints.json.xz"}
    assert after.keys() == before.keys()
