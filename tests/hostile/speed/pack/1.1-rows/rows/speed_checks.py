"""Speed checks of rows, one of each kind of measure."""

from __future__ import annotations

from dataclasses import replace

from grader.engine.checks import check, expect, oracle
from grader.engine.timing import Work

TOTAL = 1 << 18


def normalised(x):
    """Return the right answer."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt()


def right(y, x):
    expect(y, "y", axes="row width").close_to(oracle(normalised, x))


def work(width, *sizes):
    """Return the work at these numbers of rows, each as wide as `width` says."""
    return Work(
        inputs=lambda draw, rows: (draw.normal(row=rows, width=width(rows), scale=3.0, shift=2.0),),
        prepare=lambda kata, rows: kata.Rows(width(rows)),
        call=lambda rows, x: rows(x),
        right=right,
        sizes={"cpu": sizes, "cuda": sizes},
        axis="rows",
        traffic=lambda rows: 8 * rows * width(rows),
    )


def consistent(y, x, prepared):
    """Compare with what is said elsewhere, as where a model's parameters are its author's own affair."""
    expect(y, "y", axes="row width").is_finite().same_as(prepared(x), name="what another process says")


# A loop over so many rows takes hundreds of times as long: a worker that waits for its turn decides nothing.
TIME = work(lambda rows: TOTAL // 4 // rows, 4096)
GROWTH = work(lambda rows: TOTAL // rows, 16, 8192)
MEMORY = work(lambda rows: 512, 2048)
OWN = replace(TIME, right=consistent)


@check(aspect="performance", threshold="time")
def test_time(speed):
    """rows are normalised together"""
    speed.ratio(TIME)


@check(aspect="performance", threshold="growth")
def test_growth(speed):
    """many short rows take as long as a few long ones"""
    speed.growth(GROWTH)


@check(aspect="performance", threshold="memory")
def test_memory(speed):
    """nothing is copied again and again"""
    speed.memory(MEMORY)


@check(aspect="performance", threshold="own")
def test_own(speed):
    """rows that only their author knows are normalised together"""
    speed.ratio(OWN)
