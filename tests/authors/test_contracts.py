"""Contracts: what no check looks at is found, part by part and property by property."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.author.contracts import ContractCell, Contracts, ends_of, table
from grader.catalogue import Kata, load_pack
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from grader.errors import PackError
from tests import ours
from tests.authors.courses import write_course
from tests.conftest import TINY

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
    return {f"{cell.sabotage.breaks}: {cell.sabotage.name}" for cell in found if cell.state == "HOLE"}


def without_contract(course: Path) -> None:
    """Leave out the one check that asks everything."""
    text = (course / CHECKS).read_text()
    head, _, rest = text.partition('@check(aspect="arguments"')
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


LISTS = (
    """
PART = Part("insertion_sort", outputs=["list"])


def call(draw, rows, length):
    return {"values": draw.integers(-9, 9, n=length).tolist()}
""",
    None,
)
ARRAYS = (
    """
DTYPES = [torch.float64, torch.float16]
PART = Part("insertion_sort", outputs=["sorted"], axes=["row place"], dtypes=DTYPES, arrays=True)


def call(draw, rows, length):
    return {"values": draw.normal(row=rows, place=length)}
""",
    "import numpy as np\n\n\ndef insertion_sort(values):\n    return np.sort(values, axis=-1)\n",
)


ASKED_OF_ARRAYS = {"values", "rows", "dtype", "layout", "arguments", "memory", "forms"}


@pytest.fixture
def suite(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Kata, Suite]]:
    """A kata without transformers, whose checks are a contract; `request.param`: its part, and the reference if new."""
    part, reference = request.param
    for folder in ("tiny", "solutions"):
        shutil.copytree(TINY.parent / folder, tmp_path / folder)
    own = Path("1.1-sorting/insertion-sort")
    if reference is not None:
        (tmp_path / "solutions" / own / "insertion_sort.py").write_text(reference)
    (tmp_path / "solutions" / own / "hidden_checks.py").unlink()
    reason = '[insertion_sort]\n"turned: other <= value" = "equal numbers look alike"\n'
    (tmp_path / "solutions" / own / REASONS.name).write_text("" if reference else reason)
    settings = tmp_path / "tiny" / own / "kata.toml"
    settings.write_text(settings.read_text().replace("points = 4\nhidden_points = 1\n", ""))
    (tmp_path / "tiny" / own / "checks.py").write_text(
        f"""import torch

from grader.checks import Part, check

{part}

@check(aspect="values")
def test_contract(submission, draw):
    "it is in order"
    calls = [call(draw, *size) for size in [(3, 5), (1, 4), (3, 1), (2, 70)]]
    PART.expect(submission, right, draw, calls)


def right(values):
    return sorted(values) if isinstance(values, list) else __import__("numpy").sort(values, axis=-1)
"""
    )
    [kata] = load_pack(tmp_path / "tiny").katas
    with suites_of([kata], hidden=True) as suites:
        yield kata, suites[kata.slug]


@pytest.mark.parametrize("suite", [LISTS, ARRAYS], ids=["lists", "arrays"], indirect=True)
def test_a_kata_of_another_field_gets_the_same_contract(suite: tuple[Kata, Suite], launcher: Any) -> None:
    kata, own = suite
    assert kata.solution is not None
    found = Contracts(kata, own, launcher).cells()
    assert holes(found) == set()
    broken = {cell.sabotage.breaks for cell in found}
    arrays = "import numpy" in kata.solution.read_text()
    assert broken == (ASKED_OF_ARRAYS if arrays else {"forms", "members", "borders"})


@pytest.mark.parametrize("suite", [ARRAYS], ids=["arrays"], indirect=True)
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return values.tolist()", "wrong type  sorted  got list  want a NumPy array of numbers"),
        ("return np.array(['one'])", "wrong type  sorted  got numpy.ndarray  want a NumPy array of numbers"),
        ("return values", "first difference  sorted[row 0, place 0]"),
        (
            "values.sort(axis=-1); return values.copy()",
            "changed what it was given: values\n  it was float32 [3, 5]",
        ),
        ("return np.sort(values, axis=-1)[:, ::-1][:, ::-1]", None),
        ("return np.sort(values, axis=-1).max()", "wrong shape  sorted  got []"),
    ],
)
def test_arrays_cross_and_what_is_no_array_is_named(
    suite: tuple[Kata, Suite], launcher: Any, body: str, words: str | None
) -> None:
    kata, own = suite
    text = f"import numpy as np\ndef insertion_sort(values):\n    {body}\n"
    [check] = own.check(kata.stub, launcher, RunConfig(), content=text.encode()).checks
    assert (check.status == "pass") == (words is None)
    assert words is None or words in (check.message or "")


STUB = '''
def top(x: Tensor, p: float, k: int = 1) -> Tensor:
    """Keep the best.

    Args:
        x: [N, V], from 0 to 9.
        p: from 0 to 1. A token above 5 is one
            of them, at most 7.
        k: 0 takes all; above 2 is slow.

    Returns:
        From 3 to 4.
    """


class Model:
    def __init__(self, d: int) -> None:
        """d: from 0 on."""

    def write(self, temperature: float) -> str:
        """Write.

        Args:
            temperature: with 0 the best is taken.
        """
'''


@pytest.mark.parametrize(
    ("part", "ends"),
    [
        ("top", [("p", "0"), ("p", "1"), ("p", "7"), ("k", "0")]),
        ("Model.write", [("temperature", "0")]),
        ("Model.__init__", []),
        ("other", []),
    ],
)
def test_the_ends_of_a_range_are_those_that_the_stub_names(part: str, ends: list[tuple[str, str]]) -> None:
    assert list(ends_of(STUB, part)) == ends


def test_what_is_wrong_at_the_end_of_a_range_alone_is_noticed(launcher: Any) -> None:
    kata = ours.katas()["sampling"]
    with suites_of([kata], hidden=True) as suites:
        suite = suites[kata.slug]
        found = {
            (cell.sabotage.about, cell.state)
            for cell in Contracts(kata, suite, launcher).cells(
                draw=lambda tried: [one for one in tried if one.saboteur == "fails_at_end"]
            )
        }
    assert found == {("p 0", "yes"), ("p 1", "yes")}
