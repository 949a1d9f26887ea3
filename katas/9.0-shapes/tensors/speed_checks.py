"""Are all rows picked at once? Speed checks of 9.0.1, for `kata check --perf`."""

from __future__ import annotations

from grader.checks import Work, check, expect

ROWS, WIDTH = 1000, 32

PICK = Work(
    inputs=lambda draw, ids: (draw.normal(row=ROWS, column=WIDTH), draw.integers(0, ROWS, time=ids)),
    call=lambda kata, table, ids: kata.pick(table, ids),
    right=lambda rows, table, ids: expect(rows, "rows", axes="time column").equals(table[ids].cpu()),
    sizes={"cpu": (4096, 16384, 32768)},
    axis="ids",
    traffic=lambda ids: ids * (8 + 2 * 4 * WIDTH),  # ids and rows are read, rows are written
)


@check(aspect="performance", threshold="pick")
def test_pick_speed(speed):
    """all rows are picked at once, in no loop

    > `pick` reads all ids at once, in no loop
    """
    speed.ratio(PICK)
