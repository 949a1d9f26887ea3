"""Pictures, character by character."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.engine.checks.expect import expect
from grader.engine.checks.failure import CheckFailure
from grader.engine.checks.picture import WIDTH, draw_difference, draw_table
from grader.engine.checks.text import Axes

AXES = ("batch", "head", "query", "key")
CAUSAL = torch.ones(4, 4).tril().bool()


def drawn(got, want, axes=AXES, picture="mask"):
    return "\n".join(
        draw_difference(got, want, got != want, Axes(axes[-got.ndim :] if got.ndim else ()), picture)
    )


def test_marks():
    got = CAUSAL.clone()
    got[0, 3], got[3, 0] = True, False
    assert (
        drawn(got, CAUSAL)
        == """\
         expected   yours
key      0 1 2 3    0 1 2 3
query 0  # . . .    # . . !
query 1  # # . .    # # . .
query 2  # # # .    # # # .
query 3  # # # #    x # # #
         # allowed   . blocked   ! leaks   x missing"""
    )


def test_the_first_slice_that_differs_is_drawn():
    want = CAUSAL.expand(2, 3, 4, 4)
    got = want.clone()
    got[1, 2, 0, 1] = True
    assert drawn(got, want).splitlines()[:4] == [
        "batch 1, head 2",
        "         expected   yours",
        "key      0 1 2 3    0 1 2 3",
        "query 0  # . . .    # ! . .",
    ]


def test_a_padding_mask_is_drawn_as_batch_by_key():
    want = torch.tensor([[True, True, False], [True, False, False]])[:, None, None]
    assert (
        drawn(torch.ones_like(want), want)
        == """\
         expected   yours
key      0 1 2      0 1 2
batch 0  # # .      # # !
batch 1  # . .      # ! !
         # allowed   . blocked   ! leaks"""
    )


def test_one_axis():
    want = torch.tensor([True, False])
    assert (
        drawn(~want, want, ("key",))
        == """\
     expected   yours
key  0 1        0 1
     # .        x !
     # allowed   . blocked   ! leaks   x missing"""
    )


def test_an_additive_mask_allows_at_zero():
    want = torch.zeros(2, 2).masked_fill(torch.tensor([[False, True], [False, False]]), -torch.inf)
    assert (
        drawn(torch.zeros(2, 2), want)
        == """\
         expected   yours
key      0 1        0 1
query 0  # .        # !
query 1  # #        # #
         # allowed   . blocked   ! leaks"""
    )
    assert drawn(want.clamp(min=-1e9), want) == ""


def test_weights_in_per_cent():
    want = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    got = torch.tensor([[0.5, 0.5], [float("nan"), -0.1]])
    assert (
        drawn(got, want, picture="attention")
        == """\
         expected   yours
key        0   1      0   1
query 0  100   .     50! 50!
query 1   25  75      n!  <!
         per cent   . exactly 0   n NaN   < below 0   ! differs"""
    )


def test_many_weights_in_tenths_of_the_largest():
    want = torch.full((2, 10), 0.1)
    got = want.clone()
    got[1, 9] = 0.05
    assert (
        drawn(got, want, picture="attention")
        == """\
         expected               yours
key      0 1 2 3 4 5 6 7 8 9    0 1 2 3 4 5 6 7 8 9
query 0  9 9 9 9 9 9 9 9 9 9    9 9 9 9 9 9 9 9 9 9
query 1  9 9 9 9 9 9 9 9 9 9    9 9 9 9 9 9 9 9 9 5!
         digits: tenths of 0.1   ! differs"""
    )


def test_a_large_picture_is_cropped_around_the_first_difference_and_says_so():
    want = torch.ones(40, 30).bool()
    got = want.clone()
    got[25, 28] = False
    lines = drawn(got, want).splitlines()
    assert lines[0] == "query 17 to 32 of 40, key 14 to 29 of 30"
    assert lines[2] == "          1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 2   1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 2"
    assert lines[3] == "key       4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9   4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9"
    assert len(lines) == 1 + 3 + 16 + 1
    assert sum("x" in line for line in lines) == 3  # "expected", the cell, the legend


def test_a_column_above_nine_is_not_called_by_its_last_digit():
    want = torch.ones(1, 11).bool()
    lines = drawn(~want, want, ("query", "key")).splitlines()
    assert lines[1:3] == [
        "                             1                       1",
        "key      0 1 2 3 4 5 6 7 8 9 0   0 1 2 3 4 5 6 7 8 9 0",
    ]


def test_a_slice_is_drawn_with_the_numbers_of_what_it_was_cut_from():
    want = torch.ones(2, 2).bool()
    lines = draw_difference(~want, want, want, Axes(("query", "key"), (None, range(9, 11))), "mask")
    assert lines[1:4] == (
        "           1          1",
        "key      9 0        9 0",
        "query 0  # #        x x",
    )


def test_no_picture_where_nothing_would_be_seen():
    assert drawn(CAUSAL, CAUSAL) == ""
    assert drawn(torch.tensor(True), torch.tensor(False)) == ""


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4).map(tuple),
    st.integers(0, 2**32),
    st.sampled_from(["mask", "attention"]),
    st.booleans(),
)
def test_any_picture_fits(shape, seed, picture, named):
    generator = torch.Generator().manual_seed(seed)
    got, want = torch.rand(2, *shape, generator=generator) - 0.1
    axes = ("a long name", "batch", "another long name", "the longest of all")[-len(shape) :]
    axes = axes if named else tuple(f"axis {i}" for i in range(len(shape)))
    lines = draw_difference(got, want, got != want, Axes(axes), picture)
    assert len(lines) <= 21
    assert all(len(line) <= WIDTH and line.isprintable() for line in lines)


def test_a_checks_own_table_has_its_columns_aligned():
    rows = ["row 1", ["word", "log p", "kept"], ["a", "-0.51", "*"], ["b c", -12.5, ""], "  sum -0.51"]
    assert (
        "\n".join(draw_table(lambda: rows))
        == """\
row 1
word   log p   kept
a      -0.51      *
b c    -12.5
  sum -0.51"""
    )


def test_a_checks_table_is_bounded_and_of_what_came_back_wrong_it_may_fail():
    (line,) = draw_table(lambda: [["\x1b[2J", "x" * 1000]])
    assert line.isprintable()
    assert len(line) < WIDTH
    assert draw_table(lambda: [["a"], *torch.zeros(3).missing]) == ()
    assert draw_table(list) == ()


def test_a_failed_expectation_shows_the_checks_table_and_one_that_holds_makes_none():
    made = []

    def table():
        made.append(True)
        return [["token", "p"], ["3", "0.50"]]

    expect(torch.ones(2), picture=table).equals(torch.ones(2))
    assert not made
    for fails in (
        lambda: expect(torch.ones(2), picture=table).equals(torch.zeros(2)),
        lambda: expect(torch.ones(2), picture=table).is_tensor(shape=(3,)),
        lambda: expect(2, picture=table).is_between(0, 1),
    ):
        with pytest.raises(CheckFailure) as caught:
            fails()
        assert caught.value.failure.lines()[-2:] == ["  token      p", "  3       0.50"]


@pytest.mark.parametrize("picture", ["mask", "attention"])
def test_unnamed_axes(picture):
    text = drawn(torch.ones(2, 2), torch.eye(2), ("axis 0", "axis 1"), picture)
    assert text.splitlines()[2].startswith("row 0   ")
