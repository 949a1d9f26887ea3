"""The same seed and name draw the same; axes are remembered as long as the tensor lives."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.engine.checks.draw import Draw, axes_of, with_axes
from grader.errors import PackError


def everything(draw):
    return [
        draw.normal(batch=2, time=3, scale=2.0, shift=1.0),
        draw.uniform(-1.0, 1.0, time=3),
        draw.integers(0, 9, batch=2, time=7),
        draw.mask(batch=2, key=5),
        draw.permutation(6),
        draw.like(torch.zeros(2, 3)),
        torch.tensor(draw.sizes(3, 2, 9)),
        torch.tensor(draw.size(2, 9)),
    ]


def test_seed_and_name_decide():
    one, same, seed, name = (everything(Draw(s, n)) for s, n in [(1, "a"), (1, "a"), (2, "a"), (1, "b")])
    assert all(map(torch.equal, one, same))
    assert not any(map(torch.equal, one[:4], seed[:4]))
    assert not any(map(torch.equal, one[:4], name[:4]))


def test_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    everything(Draw(0, "x"))
    assert torch.equal(before, torch.get_rng_state())


def test_the_numbers_stay_the_same_from_release_to_release():
    draw = Draw(7, "golden")
    assert draw.integers(0, 100, n=5).tolist() == [8, 95, 11, 40, 63]
    assert draw.sizes(3, 2, 9) == [9, 8, 6]


def test_axes_are_remembered():
    draw = Draw(0, "x")
    x = draw.normal(batch=2, time=3, requires_grad=True, dtype=torch.float64)
    assert (axes_of(x), x.requires_grad, x.is_leaf, x.dtype) == (
        {"batch": 2, "time": 3},
        True,
        True,
        torch.float64,
    )
    assert axes_of(draw.like(x)) == axes_of(draw.noncontiguous(x)) == axes_of(x)
    assert axes_of(x * 1) is None
    assert axes_of(x.detach().clone()) is None
    assert axes_of("x") is None
    assert axes_of(copy.deepcopy(x)) == axes_of(x)
    assert axes_of(with_axes(torch.zeros(2, 3), "a", "b")) == {"a": 2, "b": 3}
    changed = draw.normal(batch=2, time=3).unsqueeze_(0)
    assert axes_of(changed) is None
    with pytest.raises(PackError):
        with_axes(torch.zeros(2), "a", "b")


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 6), st.floats(0.0, 1.0))
def test_each_row_of_a_mask_allows_one_and_not_all_is_allowed(seed, rows, columns, keep):
    mask = Draw(seed, "m").mask(keep=keep, row=rows, key=columns)
    assert mask.any(-1).all()
    assert not mask.all()


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 10))
def test_sizes_are_distinct_and_in_range(seed, n, low):
    sizes = Draw(seed, "s").sizes(n, low, low + 6)
    assert len(set(sizes)) == n
    assert all(low <= size <= low + 6 for size in sizes)


def test_too_many_sizes():
    with pytest.raises(PackError, match="no 4 different sizes from 2 to 4"):
        Draw(0, "s").sizes(4, 2, 4)


@given(st.integers(0, 10**6), st.integers(2, 8))
def test_a_permutation_permutes(seed, n):
    order = Draw(seed, "p").permutation(n).tolist()
    assert sorted(order) == list(range(n)) != order


@pytest.mark.parametrize("shape", [(5,), (3, 4), (1, 4), (4, 1), (2, 3, 4), (1, 1, 4)])
def test_noncontiguous(shape):
    x = torch.randn(shape, requires_grad=True)
    y = Draw(0, "n").noncontiguous(x)
    assert torch.equal(x, y)
    assert not y.is_contiguous()
    assert (y.requires_grad, y.is_leaf) == (True, True)


def test_integers_leave_out_the_upper_end():
    assert Draw(0, "i").integers(0, 3, n=200).unique().tolist() == [0, 1, 2]


def test_half_precision():
    assert Draw(0, "h").normal(n=3, dtype=torch.bfloat16).dtype == torch.bfloat16
