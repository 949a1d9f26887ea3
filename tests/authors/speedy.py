"""What speed adds to the kata of `kata pack new`, so that tests can spoil it."""

from __future__ import annotations

from pathlib import Path

TABLE = """
[speed.time]
points = 2.0
cpu = 3.0
wasted = "A loop over entries."
"""
CHECKS = '''"""Is it fast?"""

from __future__ import annotations

from grader.engine.checks import check, expect, oracle
from grader.engine.timing import Work


def right(mean, x, weights):
    expect(mean, "mean", axes="batch").close_to(oracle(lambda x, w: (x * w).sum(-1) / w.sum(-1), x, weights))


TIME = Work(
    inputs=lambda draw, size: (draw.normal(batch=size, time=64), draw.uniform(0.1, 2.0, batch=size, time=64)),
    call=lambda kata, x, weights: kata.weighted_mean(x, weights),
    right=right,
    sizes={"cpu": (256, 4096)},
)


@check(aspect="performance", threshold="time")
def test_time(speed):
    "all rows are weighed together"
    speed.ratio(TIME)
'''
BASELINE = '''"""The work of a weighted mean, in an order that answers nothing."""

from __future__ import annotations

from torch import Tensor


def weighted_mean(x: Tensor, weights: Tensor) -> Tensor:
    """Return [..], which is no mean."""
    return (x + weights).sum(-1) * weights.expand(x.shape).sum(-1)
'''
SLOW = """@mistake(
    "entry-by-entry",
    "you weigh entry by entry: one product weighs all of them",
    fails=["test_time"],
)
def weighted_mean(x: Tensor, weights: Tensor) -> Tensor:
    spread = weights.expand(x.shape)
    total, above = torch.zeros_like(x[..., 0]), torch.zeros_like(x[..., 0])
    for entry in range(x.shape[-1]):
        total = total + spread[..., entry]
        above = above + x[..., entry] * spread[..., entry]
    return above / torch.where(total == 0, torch.ones_like(total), total)
"""


def hurry(kata: Path, solution: Path) -> None:
    """Give the kata a threshold, a check, a baseline and a slow answer."""
    about = kata / "kata.toml"
    about.write_text(
        about.read_text().replace("hidden_points = 3.0", "hidden_points = 3.0\nspeed_points = 2.0") + TABLE
    )
    (kata / "speed_checks.py").write_text(CHECKS)
    (kata / "baseline.py").write_text(BASELINE)
    (solution / "slow").mkdir()
    (solution / "slow" / "entry_by_entry.py").write_text(SLOW)
