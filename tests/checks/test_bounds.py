"""What is said about a wrong value takes a bounded number of steps, whatever the value is."""

from __future__ import annotations

import importlib
import math
from typing import Any

import pytest
import torch

from grader.engine.checks import locate as locate_module
from grader.engine.checks.expect import COMPARED, expect
from grader.engine.checks.failure import CheckFailure
from grader.engine.checks.locate import places, transformation
from grader.engine.checks.picture import draw_difference
from grader.engine.checks.shapes import diagnose
from grader.engine.checks.text import Axes, axis_names
from grader.engine.mistakes import recognise
from grader.engine.mistakes.recognise import KEPT, fingerprint
from grader.engine.wire.messages import MAX_AXES


def lines(compare: Any) -> list[str]:
    with pytest.raises(CheckFailure) as caught:
        compare()
    return caught.value.failure.lines()


COMPARISONS = {
    "is_finite": lambda x: expect(x, "x").is_finite(),
    "is_between": lambda x: expect(x, "x").is_between(0, 1),
    "is_zero_where": lambda x: expect(x, "x").is_zero_where(torch.ones((), dtype=torch.bool)),
    "sums_to": lambda x: expect(x, "x").sums_to(1.0, axis=0),
    "same_as": lambda x: expect(x, "x").same_as(x),
    "the other": lambda x: expect(torch.zeros(1), "x").same_as(x, name="x"),
    "differs_from": lambda x: expect(x, "x").differs_from(x, "w"),
}


@pytest.mark.parametrize("compare", COMPARISONS.values(), ids=COMPARISONS)
def test_a_size_that_only_the_submission_chose_is_bounded(compare: Any) -> None:
    vast = torch.full((1,), math.nan, dtype=torch.float16).expand(COMPARED + 1)
    assert lines(lambda: compare(vast)) == [
        f"too large  x  got [{COMPARED + 1}], {COMPARED + 1:,} values",
        f"  at most {COMPARED:,} are compared".strip(),
    ]


def test_a_size_that_the_check_chose_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("grader.engine.checks.expect"), "COMPARED", 4)
    expect(torch.zeros(3, 3)).equals(torch.zeros(3, 3)).close_to(torch.zeros(3, 3))
    assert lines(lambda: expect(torch.zeros(3, 3)).equals(torch.ones(3, 3)))


def test_chances_are_weighed_without_counting_astronomical_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def comb(n: int, k: int) -> int:
        assert n <= 1000
        return math.comb(n, k)

    monkeypatch.setattr(locate_module, "comb", comb)
    rows = (torch.arange(1 << 17) % 2 == 0)[:, None].expand(-1, 4)
    assert places(rows, Axes(["row", "column"])) == ["everywhere and only where row is even"]
    tall = torch.zeros(2, 1 << 17, dtype=torch.bool)
    tall[:, 5::7] = True
    assert places(tall, Axes(["batch", "key"]))[-1] == "the same places in every batch"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([9], "all of row 9, the last, nothing else"),
        ([0], "all of row 0, the first, nothing else"),
        ([3, 4, 5], "all of rows 3 to 5, nothing else"),
        ([6, 7, 8, 9], "all of rows 6 and later, nothing else"),
        ([1, 3, 5, 7, 9], "everywhere and only where row is odd"),
        ([0, 2, 4, 6, 8], "everywhere and only where row is even"),
        ([0, 1, 3, 4, 5, 6, 8, 9], "rows 2 and 7 are right, all else is wrong"),
        ([2, 5, 9], "all of rows 2, 5 and 9, nothing else"),
    ],
)
def test_rows_are_named_as_before(bad: list[int], said: str) -> None:
    wrong = torch.zeros(10, 60, dtype=torch.bool)
    wrong[bad] = True
    assert places(wrong, Axes(["row", "column"])) == [said]


def test_the_vast_is_searched_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate_module, "_VAST", 8)
    assert places(torch.eye(3, dtype=torch.bool), Axes(["a", "b"])) == []


def test_exchanges_of_many_axes_are_tried_in_a_bounded_number_of_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[int] = []
    close = locate_module._close

    def counted(one: torch.Tensor, other: torch.Tensor, tolerance: float) -> bool:
        tried.append(one.numel())
        return close(one, other, tolerance)

    monkeypatch.setattr(locate_module, "_close", counted)
    shape = [2] * MAX_AXES
    for size in (shape, [*shape[:-4], 4, 4, 4, 4]):
        got, want = torch.randn(size), torch.randn(size)
        assert transformation(got, want, Axes(axis_names(None, MAX_AXES)), 1e-6) is None
    assert sum(tried) <= 2 * locate_module._MOVES


def test_a_shape_of_any_number_of_axes_is_explained_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.engine.checks import shapes

    products = 0

    def prod(sizes: Any) -> int:
        nonlocal products
        products += 1
        return math.prod(sizes)

    monkeypatch.setattr(shapes, "prod", prod)
    assert diagnose([1] * 64, (2, 3)) == "yours has 64 axes, want 2"
    for got in ([2] * MAX_AXES, [1] * MAX_AXES, [3, 2] * (MAX_AXES // 2)):
        assert diagnose(got, (2, 3, 7)) is not None
        assert diagnose(got, (math.prod(got), 1)) is not None
    assert products <= 20 * MAX_AXES**4


def test_a_picture_counts_no_differences() -> None:
    wrong = torch.ones(1, dtype=torch.bool).expand(1 << 22, 2)  # their indices alone would take 128 MB
    drawn = draw_difference(wrong, ~wrong, wrong, Axes(("row", "column")), "mask")
    assert any("leaks" in line for line in drawn)


def test_a_tensor_that_is_there_often_is_marked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    marked: list[torch.Tensor] = []
    mark = recognise._tensor_mark

    def counted(value: torch.Tensor) -> recognise.Mark:
        marked.append(value)
        return mark(value)

    monkeypatch.setattr(recognise, "_tensor_mark", counted)
    tensor = torch.arange(6.0)
    found = fingerprint([[[[tensor] * 12] * 12] * 12] * 3)
    assert len(marked) == 1
    assert found[1]["list"][0]["list"][0]["list"][0] == mark(tensor)


def test_entries_that_are_marked_are_counted_for_the_whole_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognise, "MARKED", 100)
    found = fingerprint([torch.zeros(60), torch.zeros(30), torch.zeros(30)])
    assert ["p" in mark for mark in found[1:]] == [True, True, False]


def test_what_no_number_of_the_machine_holds_is_marked(recwarn: pytest.WarningsRecorder) -> None:
    found = fingerprint([1 << 4000, -(1 << 4000), {torch.zeros([6] * 9): 1, (1, 2): 3}])
    assert found[1] == found[2] == {"type": "int"}
    assert found[3]["dict"][0][0] == "float32 [6, 6, 6, 6, 6, 6, 6, 6, 6]"
    assert len(found) <= KEPT + 1


def test_names_are_looked_for_among_names_alone() -> None:
    class Met:
        hashed = 0

        def __hash__(self) -> int:
            Met.hashed += 1
            return 1

    assert "missing: a" in "\n".join(lines(lambda: expect([Met()] * 50).has_names(["a"])))
    assert Met.hashed == 0
