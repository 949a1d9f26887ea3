"""Statements about errors are true, whatever the errors: their text is parsed and proved from scratch."""

from __future__ import annotations

import itertools
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.engine.checks.locate import STATEMENTS, locate, places
from grader.engine.checks.text import Axes, pair

NAMES = ("batch", "head", "query", "key")
AXES, GRID = Axes(NAMES), Axes(NAMES, grid=True)
DIAGONAL = {
    "key = query": lambda q, k: k == q,
    "key = query + 1": lambda q, k: k == q + 1,
    "key = query - 1": lambda q, k: k == q - 1,
    "key > query": lambda q, k: k > q,
    "key < query": lambda q, k: k < q,
    "key >= query": lambda q, k: k >= q,
    "key <= query": lambda q, k: k <= q,
}


def cells(wrong):
    return [dict(zip(NAMES, index, strict=True)) for index in itertools.product(*map(range, wrong.shape))]


def named_indices(words, size):
    """Read "3", "0 and 2", "1 to 4", "2 and later"."""
    if words.endswith(" and later"):
        return set(range(int(words.removesuffix(" and later")), size))
    if " to " in words:
        low, high = map(int, words.split(" to "))
        return set(range(low, high + 1))
    return {int(n) for n in re.findall(r"\d+", words)}


def named_axis(word, words, size):
    """Read "key" and "3", or "queries" and "3 and 4": the axis stands in the plural before several indices."""
    axis = {"batches": "batch", "heads": "head", "queries": "query", "keys": "key"}.get(word, word)
    these = named_indices(words, size[axis])
    assert (axis != word) == (not words.isdecimal())
    return axis, these


def holds(statement, wrong, want):
    """Prove a statement by looking at every value."""
    bad = [c for c in cells(wrong) if wrong[tuple(c.values())]]
    good = [c for c in cells(wrong) if not wrong[tuple(c.values())]]
    size = dict(zip(NAMES, wrong.shape, strict=True))
    if m := re.fullmatch(r"differences are exactly where (.*)", statement):
        return all(DIAGONAL[m[1]](c["query"], c["key"]) for c in bad) and not any(
            DIAGONAL[m[1]](c["query"], c["key"]) for c in good
        )
    if m := re.fullmatch(r"every difference has (.*)", statement):
        return all(DIAGONAL[m[1]](c["query"], c["key"]) for c in bad)
    if m := re.fullmatch(r"every difference is a (True|False) that should be (True|False)", statement):
        return all(want[tuple(c.values())].item() == (m[2] == "True") for c in bad) and m[1] != m[2]
    if m := re.fullmatch(r"every difference is where 0 is wanted", statement):
        return all(want[tuple(c.values())].item() == 0 for c in bad)
    if m := re.fullmatch(r"(only|everywhere and only) where (\w+) is (odd|even)", statement):
        inside = [c for c in cells(wrong) if c[m[2]] % 2 == (m[3] == "odd")]
        return all(c in inside for c in bad) and (m[1] == "only" or len(inside) == len(bad))
    if m := re.fullmatch(r"(\w+) ([\d, and]+) (?:is|are) right(, all else is wrong)?", statement):
        axis, right = named_axis(m[1], m[2], size)
        return all(c[axis] not in right for c in bad) and (not m[3] or all(c[axis] in right for c in good))
    if m := re.fullmatch(r"(only|all of) (\w+) (.*?)(, the first|, the last)?(, nothing else)?", statement):
        axis, these = named_axis(m[2], m[3], size)
        if m[4] and these != {0 if "first" in m[4] else size[axis] - 1}:
            return False
        exact = m[1] == "all of"
        assert exact == bool(m[5])
        return all(c[axis] in these for c in bad) and (not exact or all(c[axis] not in these for c in good))
    if m := re.fullmatch(r"the same places in every (.*)", statement):
        axes = [NAMES.index(name) for name in re.split(r", | and ", m[1])]
        return all(torch.equal(wrong, wrong.roll(n, axis)) for axis in axes for n in range(wrong.shape[axis]))
    raise AssertionError(f"no proof for {statement!r}")


@st.composite
def error_masks(draw):
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=4, max_size=4)))
    wrong = torch.zeros(shape, dtype=torch.bool)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(1, 3))):
        # a block that is whole along some axes, so that structure is common
        part = torch.rand(shape, generator=generator) < draw(st.sampled_from([0.1, 0.5, 1.1]))
        for axis in range(4):
            if draw(st.booleans()):
                keep = torch.arange(shape[axis]) % draw(st.integers(1, 3)) == 0
                part &= keep.reshape([-1 if a == axis else 1 for a in range(4)])
        if draw(st.booleans()):
            q, k = torch.arange(shape[2])[:, None], torch.arange(shape[3])[None, :]
            part &= draw(st.sampled_from(list(DIAGONAL.values())))(q, k)
        wrong |= part
    return wrong


@pytest.mark.slow
@given(error_masks(), st.integers(0, 2**32), st.booleans())
@settings(max_examples=400, deadline=None)
def test_every_place_is_true(wrong, seed, is_bool):
    generator = torch.Generator().manual_seed(seed)
    want = torch.rand(wrong.shape, generator=generator) < 0.5
    want = want if is_bool else want * 1.5
    statements = places(wrong, GRID, want)
    assert len(statements) <= STATEMENTS
    for statement in statements:
        assert holds(statement, wrong, want), statement


def triangle(shape, inside):
    q, k = torch.arange(shape[-2])[:, None], torch.arange(shape[-1])[None, :]
    return inside(q, k).expand(shape).clone()


@pytest.mark.parametrize("words", DIAGONAL)
def test_a_diagonal_is_said_exactly(words):
    wrong = triangle((2, 3, 5, 5), DIAGONAL[words])
    assert places(wrong, AXES) == [f"differences are exactly where {words}"]


def block(*index):
    wrong = torch.zeros(2, 3, 5, 6, dtype=torch.bool)
    wrong[index] = True
    return wrong


EVERY = slice(None)


@pytest.mark.parametrize(
    ("wrong", "statements"),
    [
        (block(1), ["all of batch 1, nothing else"]),
        (block(EVERY, EVERY, 4), ["all of query 4, the last, nothing else"]),
        (block(EVERY, 0), ["all of head 0, the first, nothing else"]),
        (block(EVERY, EVERY, EVERY, slice(1, None, 2)), ["everywhere and only where key is odd"]),
        (block(EVERY, EVERY, slice(3, None)), ["all of queries 3 and later, nothing else"]),
        (block(EVERY, EVERY, EVERY, slice(3, None)), ["all of keys 3 and later, nothing else"]),
        (block(EVERY, EVERY, EVERY, slice(1, 4)), ["all of keys 1 to 3, nothing else"]),
        (block(EVERY, EVERY, slice(1, None)), ["query 0 is right, all else is wrong"]),
        (block(1, EVERY, 2), ["only batch 1", "only query 2", "the same places in every head and key"]),
        (block(0, 0, 0, 0), []),
        (block(), []),
    ],
)  # fmt: skip
def test_places(wrong, statements):
    assert places(wrong, AXES) == statements


def test_unnamed_axes_are_said_by_number():
    wrong = torch.zeros(4, 5, dtype=torch.bool)
    wrong[:, 2:] = True
    axes = Axes(("axis 0", "axis 1"))
    assert places(wrong, axes) == ["indices 0 and 1 of axis 1 are right, all else is wrong"]


@pytest.mark.parametrize(
    ("wrong", "statements"),
    [
        (block(EVERY, EVERY, EVERY, 5), ["all of key 13, nothing else"]),
        (block(EVERY, EVERY, EVERY, slice(3, None)), ["all of keys 11 to 13, nothing else"]),
        (block(EVERY, EVERY, EVERY, slice(1, None)), ["key 8 is right, all else is wrong"]),
        (block(EVERY, EVERY, EVERY, slice(1, None, 2)), ["everywhere and only where key is odd"]),
        (block(EVERY, EVERY, 1), ["all of query 3, nothing else"]),
        (block(EVERY, EVERY, slice(1, 3)), ["all of queries 3 and 5, nothing else"]),
        (block(EVERY, EVERY, slice(0, None, 2)), ["queries 3 and 7 are right, all else is wrong"]),
    ],
)  # fmt: skip
def test_indices_of_a_slice_are_those_of_what_it_was_cut_from(wrong, statements):
    assert places(wrong, Axes(NAMES, (None, None, range(1, 11, 2), range(8, 14)))) == statements


def test_a_diagonal_of_a_slice_is_that_of_what_it_was_cut_from():
    wrong = triangle((2, 3, 5, 5), lambda q, k: k + 2 == q)
    assert places(wrong, Axes(NAMES, (None, None, None, range(2, 7)))) == [
        "differences are exactly where key = query"
    ]


def test_where_nothing_was_found_is_not_called_right():
    assert places(block(EVERY, EVERY, slice(1, None)), AXES, noun="one", judged=False) == ["all but query 0"]
    some = block(EVERY, EVERY, slice(1, None), slice(1, None))
    some[0, 0, 1, 1] = False
    assert places(some, AXES, noun="one", judged=False)[:2] == ["query 0 has none", "key 0 has none"]


X = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize(
    ("got", "statement"),
    [
        (X.transpose(-1, -2), "yours is the expected with query and key swapped (transposed)"),
        (X * 2, "yours is the expected times 2 everywhere"),
        (X / 4, "yours is the expected divided by 4 everywhere"),
        (X * 0.3, "yours is the expected times 0.3 everywhere"),
        (X / 8**0.5, "yours is the expected times about 0.354 everywhere"),
        (-X, "yours is the expected with the opposite sign"),
        (X.clamp(min=0), "yours is the expected with 0 in place of all that is below 0, as relu makes it"),
        (X + 0.5, "yours is the expected plus 0.5 everywhere"),
        (X - 1 / 3, "yours is the expected minus about 0.333 everywhere"),
        (X * 0, "yours is 0 everywhere"),
        (X * 0 + 0.25, "yours is 0.25 everywhere"),
        (X.flip(2), "yours is the expected in reverse order along query"),
        (X.flip(0), "yours is the expected with batches 0 and 1 swapped"),
        (X.roll(1, 3), "yours at key i is the expected at key i - 1"),
        (X.roll(-1, 2), "yours at query i is the expected at query i + 1"),
        (X[:, :1].expand_as(X), "yours is the same for every head, the expected is not"),
    ],
)
def test_transformations(got, statement):
    wrong = (got - X).abs() > 1e-6
    assert locate(got, X, wrong, AXES, 1e-6) == [statement]


def test_what_differs_by_rounding_alone_is_the_same():
    got = X[:1].expand_as(X) + 1e-7 * torch.arange(X.shape[0]).reshape(-1, 1, 1, 1)
    assert not torch.equal(got[0], got[1])
    assert locate(got, X, (got - X).abs() > 1e-6, AXES, 1e-6) == [
        "yours is the same for every batch, the expected is not"
    ]


def test_of_two_values_in_turn_no_move_is_told():
    turns = torch.tensor([0.0, 1.0] * 4)
    assert locate(1 - turns, turns, turns == turns, Axes(("column",)), 1e-6) == []
    assert locate((1 - turns).bool(), turns.bool(), turns == turns, Axes(("column",))) == [
        "yours is the expected with True and False swapped"
    ]


def test_a_transformation_that_one_value_breaks_is_not_said():
    got = X * 2
    got[1, 2, 3, 3] += 0.01
    assert not [s for s in locate(got, X, (got - X).abs() > 1e-6, AXES, 1e-6) if "times" in s]


def test_two_numbers_always_have_a_ratio_so_it_is_not_said():
    got, want = torch.tensor([1.234]), torch.tensor([0.777])
    assert locate(got, want, got != want, Axes(("axis 0",)), 1e-6) == []
    got = torch.tensor(0.777 * 6)
    assert locate(got, torch.tensor(0.777), torch.tensor(True), Axes(()), 1e-5) == [
        "yours is the expected times 6"
    ]


def test_a_whole_power_is_said_of_numbers_that_are_not_near_1():
    want = torch.tensor(22.5421)
    assert locate(want**5, want, torch.tensor(True), Axes(()), 1.7e-4) == [
        "yours is the expected to the power of 5"
    ]
    assert locate(want**5.01, want, torch.tensor(True), Axes(()), 1.7e-4) == []
    near = torch.tensor(1.01)
    assert locate(near**5, near, torch.tensor(True), Axes(()), 1e-5) == []


def test_where_a_long_row_goes_wrong_is_said_although_half_of_it_is():
    wrong = torch.arange(257)[:, None].expand(257, 2) >= 128
    assert places(wrong, Axes(("query", "value"))) == ["all of queries 128 and later, nothing else"]


def test_of_what_is_small_next_to_the_tolerance_no_ratio_is_said():
    got, want = torch.tensor(0.2428), torch.tensor(88.167)
    assert locate(got, want, got != want, Axes(()), 0.882) == []
    assert pair(0.2428, 88.167, 0.882) == ("0.243", "88.167")


def test_a_leak_that_softmax_spreads_is_found():
    scores = X.clone()
    late = scores.masked_fill(~torch.ones(4, 4).tril(1).bool(), -torch.inf).softmax(-1)
    right = scores.masked_fill(~torch.ones(4, 4).tril().bool(), -torch.inf).softmax(-1)
    found = locate(late, right, (late - right).abs() > 1e-6, GRID, 1e-6)
    assert found[:2] == ["what should be 0 but is not lies exactly where key = query + 1", "query 3 is right"]


def said_of_random_errors(shape, errors, seeds=400):
    """Return what is said of errors that mean nothing, over many draws."""
    found = []
    for seed in range(seeds):
        generator = torch.Generator().manual_seed(seed)
        wrong = errors(torch.zeros(shape, dtype=torch.bool), generator)
        found.append(places(wrong, Axes(NAMES[-len(shape) :])))
    return found


def rows_at_random(wrong, generator):
    rows = torch.rand(wrong.shape[-2], generator=generator) < 0.5
    return wrong | rows[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("rows", range(2, 11))
def test_rows_that_are_wrong_by_chance_are_hardly_ever_told_as_every_second_one(rows):
    said = said_of_random_errors((2, 3, rows, 7), rows_at_random)
    assert sum(any("odd" in s or "even" in s for s in found) for found in said) <= 0.05 * len(said)


def test_a_row_that_may_see_nothing_is_no_pattern_of_indices():
    want = torch.rand(2, 3, 8, 6, generator=torch.Generator().manual_seed(1)) + 0.1
    want[:, :, ::2] = 0
    wrong = want == 0
    said = places(wrong, GRID, want)
    assert said == ["every difference is where 0 is wanted", "the same places in every batch, head and key"]
    assert "everywhere and only where query is even" in places(wrong, GRID)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 2), (1, 4), (2, 3), (3, 3), (1, 1, 2, 3)])
def test_of_a_few_random_truths_no_move_is_told(shape):
    axes, said = Axes(NAMES[-len(shape) :]), 0
    for seed in range(400):
        generator = torch.Generator().manual_seed(seed)
        got, want = (torch.rand(shape, generator=generator) < 0.5 for _ in range(2))
        found = locate(got, want, got != want, axes)
        said += any(
            ("swapped" in s and "True" not in s) or "reverse" in s or "expected at" in s for s in found
        )
    assert said <= 0.05 * 400
