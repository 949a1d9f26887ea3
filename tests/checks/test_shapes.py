"""A shape is diagnosed by a true sentence about both shapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.engine.checks.shapes import diagnose

BHQW = "batch head query width"
BTD = "batch time width"

TABLE = [
    # got, want, axes, diagnosis
    ((2, 5, 4, 8), (2, 4, 5, 8), BHQW, "axes head and query are swapped"),
    ((2, 4, 8, 5), (2, 4, 5, 8), BHQW, "axes query and width are swapped"),
    ((8, 4, 5, 2), (2, 4, 5, 8), BHQW, "axes batch and width are swapped"),
    ((5, 2, 4, 8), (2, 4, 5, 8), BHQW, "your axes are in the order query, batch, head, width"),
    ((5, 2, 2, 8), (2, 2, 5, 8), BHQW, "axes batch and query are swapped"),
    ((3, 2, 2, 3, 1), (2, 3, 1, 2, 3), None, "the axes are in another order"),
    ((5, 4), (4, 5), "query key", "yours is transposed: axes query and key are swapped"),
    ((5, 4), (4, 5), None, "yours is transposed: axes 0 and 1 are swapped"),
    ((2, 5, 1), (2, 5), "batch time", "yours has an extra axis of size 1 (axis 2)"),
    ((1, 2, 5), (2, 5), None, "yours has an extra axis of size 1 (axis 0)"),
    ((1, 2, 5, 1), (2, 5), None, "yours has 2 extra axes of size 1"),
    ((1, 1), (1, 1, 1, 1), BHQW, "it holds as many values as expected, in other axes"),
    ((3, 5), (3, 1, 1, 5), "batch head query key",
     "axes head and query, of size 1, are missing: squeezed away, or without keepdim=True"),
    ((3, 1, 5), (3, 1, 1, 5), "batch head query key",
     "axis head, of size 1, is missing: squeezed away, or without keepdim=True"),
    ((2, 12), (2, 5, 12), BTD, "axis time is missing: summed, averaged or indexed away"),
    ((5, 12), (5, 5, 12), BTD, "one of axes batch and time is missing"),
    ((2, 3, 5, 12), (2, 5, 12), BTD, "yours has an extra axis of size 3 (axis 1)"),
    ((10, 12), (2, 5, 12), BTD, "axes batch and time are merged into one axis of 10"),
    ((120,), (2, 5, 12), BTD, "axes batch, time and width are merged into one axis of 120"),
    ((2, 5, 4, 3), (2, 5, 12), BTD, "axis width of 12 is still split into 4 x 3"),
    ((2, 4, 5, 3), (2, 5, 12), BTD,
     "axis width of 12 is still split into 4 x 3, and your axes 1 and 2 stand the wrong way round"),
    ((2, 6, 12), (2, 5, 12), BTD, "axis time is one longer than it should be"),
    ((2, 4, 12), (2, 5, 12), BTD, "axis time is one shorter than it should be"),
    ((2, 5, 5), (2, 5, 7), "batch query key", "axis key is 5, which is the size of query; want 7"),
    ((2, 1, 12), (2, 5, 12), BTD, "axis time is 1 instead of 5: reduced with keepdim=True, or not expanded"),
    ((1,), (5,), "row", "axis row is 1 instead of 5: one number in place of 5"),
    ((2, 5, 36), (2, 5, 12), BTD, "axis width is 3 times as long as it should be"),
    ((2, 5, 3), (2, 5, 12), BTD, "axis width is 1/4 as long as it should be"),
    ((2, 5, 17), (2, 5, 12), None, "axis 2 is 17, want 12"),
    ((2, 8, 9), (2, 5, 12), BTD, "axes time and width have the wrong size"),
    ((), (2, 5), "batch time", "yours is a single number, without axes"),
    ((3,), (), None, "a single number is wanted: a mean or a sum over all axes is missing"),
    ((1,), (), None, "a single number is wanted, without axes: yours holds one number but has axes"),
    ((4, 3, 10), (2, 60), None, "it holds as many values as expected, in other axes"),
    ((3, 3), (2, 4, 7), BTD, "yours has 2 axes, want 3"),
    ((9, 9, 9), (2, 4, 7), BTD, None),
    ((2, 4), (2, 4), None, None),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("got", "want", "axes", "diagnosis"), TABLE, ids=lambda x: str(x)[:40])
def test_diagnosis(got, want, axes, diagnosis):
    assert diagnose(got, want, axes.split() if axes else None) == diagnosis


SHAPE = st.lists(st.integers(0, 6), max_size=5).map(tuple)


@given(SHAPE, SHAPE)
def test_any_two_shapes_are_said_in_one_bounded_line(got, want):
    text = diagnose(got, want, [f"name{i}" for i in range(len(want))])
    assert text is None or (len(text) <= 110 and text.isprintable() and text)
    assert (text is None) or got != want
