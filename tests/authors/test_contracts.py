"""Contracts: what no check looks at is found, part by part and property by property."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from grader.author.contracts import ContractCell, Contracts, table
from grader.catalogue import load_pack
from grader.engine.runner.suite import suites_of
from grader.errors import PackError
from tests.authors.courses import write_course

pytestmark = pytest.mark.slow

SLUG, UNIT = "weighted-mean", "1.1-means"
CHECKS = Path("katas") / UNIT / SLUG / "checks.py"
REASONS = Path("solutions") / UNIT / SLUG / "contracts.toml"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tmp_path_factory.mktemp("course")
    write_course(course)
    return course


@pytest.fixture
def course(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "course"))


def cells(course: Path, launcher: Any) -> list[ContractCell]:
    [kata] = load_pack(course / "katas").katas
    with suites_of([kata], hidden=True) as suites:
        return Contracts(kata, suites[SLUG], launcher).cells()


def holes(found: list[ContractCell]) -> set[str]:
    return {f"{cell.sabotage.breaks}: {cell.sabotage.name}" for cell in found if cell.hole}


def without_contract(course: Path) -> None:
    """Leave out the one check that asks everything."""
    text = (course / CHECKS).read_text()
    head, _, rest = text.partition('@check("any size')
    (course / CHECKS).write_text(head + "@check(" + rest.partition("\n@check(")[2])


def test_a_kata_with_a_contract_has_no_hole(course: Path, launcher: Any) -> None:
    found = cells(course, launcher)
    assert holes(found) == set()
    [row] = table(found)
    assert row[0] == "weighted_mean"
    assert set(row[1:]) == {"yes", ""}
    assert len(found) > 15


def test_what_no_check_looks_at_is_a_hole(course: Path, launcher: Any) -> None:
    without_contract(course)
    found = holes(cells(course, launcher))
    assert {
        "values: zero_when_long",
        "dtype: rounds_to_float32",
        "layout: reads_the_storage(x)",
        "arguments: writes_to_argument(weights)",
        "gradients: cuts_argument(x)",
        "forms: refuses_keyword(weights)",
    } <= found
    assert "memory: replays_first_answer" not in found  # which other checks notice


def test_a_reason_fills_a_cell_and_has_to_be_about_one(course: Path, launcher: Any) -> None:
    without_contract(course)
    (course / REASONS).write_text('[weighted_mean]\nforms = "the lesson gives both by position"\n')
    assert not any(hole.startswith("forms") for hole in holes(cells(course, launcher)))
    (course / REASONS).write_text('[weighted_mean]\nborders = "there are none"\n')
    with pytest.raises(PackError, match="a reason for weighted_mean, borders, which is not tried"):
        cells(course, launcher)


def test_a_turned_comparison_and_a_score_that_only_blocks_the_small_are_tried(
    course: Path, launcher: Any
) -> None:
    answer = course / "solutions" / UNIT / SLUG / "weighted_mean.py"
    text = answer.read_text()
    answer.write_text(
        text.replace("    return", '    x = x.masked_fill(weights < 0, float("-inf"))\n    return', 1)
    )
    tried = {cell.sabotage.name: cell for cell in cells(course, launcher)}
    assert tried["turned: weights < 0"].caught
    assert {"-20 for -inf", "-100 for -inf", "-10000 for -inf"} <= tried.keys()
