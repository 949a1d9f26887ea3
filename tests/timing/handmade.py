"""A pack of one kata with speed checks: a cheap work, and an answer that takes thousands of steps for it."""

from __future__ import annotations

import json
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from tests.pack_files import write_kata, write_pack, write_unit

RIGHT = '''
"""The sum of the sines of 0 … n-1."""

import torch


def total(n):
    return torch.arange(n, dtype=torch.float64).sin().sum()
'''
SLOW = """
mistake("looped", "you loop in Python: a tensor takes all numbers at once", fails=["test_total"])

import math


def total(n):
    for _ in range(5):
        found = sum(math.sin(i) for i in range(n))
    return torch.tensor(found, dtype=torch.float64)
"""
WRONG = RIGHT.replace(".sin()", ".cos()")
BASELINE = WRONG
CHECKS = """
import torch

from grader.engine.checks import check, fail
from grader.engine.timing import Work


def right(result, n):
    wanted = torch.arange(n, dtype=torch.float64).sin().sum()
    if abs(float(result) - float(wanted)) > 1e-6:
        fail("the sum is wrong")


WORK = Work(
    inputs=lambda draw, size: (draw.size(size - 63, size),),
    call=lambda kata, n: kata.total(n),
    right=right,
    sizes={"cpu": (25_000, 50_000, 100_000)},
    axis="numbers",
    traffic=lambda size: 1e7,
)
"""
ASKS = """
@check(aspect="performance", threshold="total")
def test_total(speed):
    "no loop over numbers"
    speed.ratio(WORK)
"""


class Handmade:
    """The pack, and its parts to be written anew."""

    def __init__(self, root: Path) -> None:
        self.pack = write_pack(root / "pack", "sums")
        self.folder = write_kata(write_unit(self.pack, "1.1", "sums"), "1.1.1", "sums")
        self.solutions = root / "solutions"
        self.answers = self.solutions / "1.1-sums" / "sums"
        for folder in (self.answers / "alternatives", self.answers / "slow"):
            folder.mkdir(parents=True)
        _write(self.folder / "sums.py", "def total(n):\n    raise NotImplementedError\n")
        _write(self.folder / "baseline.py", BASELINE)
        _write(self.answers / "sums.py", RIGHT)
        _write(self.answers / "slow" / "looped.py", SLOW)
        self.toml("cpu = 8.0")
        self.checks(ASKS)

    def toml(self, threshold: str) -> None:
        """Write kata.toml with one threshold, `total`."""
        _write(
            self.folder / "kata.toml",
            'number = "1.1.1"\ntitle = "Sums"\nsummary = "A sum."\nmodule = "sums"\nrequired = ["total"]\n'
            f'points = 1\nspeed_points = 1.0\n\n[speed.total]\npoints = 1.0\nwasted = "A loop."\n{threshold}\n',
        )

    def checks(self, asks: str) -> None:
        """Write the speed checks."""
        _write(self.folder / "speed_checks.py", CHECKS + textwrap.dedent(asks))

    def slow(self, name: str, source: str = SLOW) -> None:
        """Add a slow answer."""
        _write(self.answers / "slow" / f"{name}.py", source)

    def alternative(self, name: str, source: str = RIGHT) -> None:
        """Add a right answer."""
        _write(self.answers / "alternatives" / f"{name}.py", source)


def _write(path: Path, text: str) -> None:
    path.write_text(textwrap.dedent(text).lstrip("\n") if text.startswith("\n") else text, encoding="utf-8")


def as_if_measured(folder: Path, kind: str = "cpu", number: float | None = None) -> None:
    """Write a kata's calibration.json: all its thresholds hold on this kind of device, or are `number` there."""
    speed: dict[str, Any] = tomllib.loads((folder / "kata.toml").read_text())["speed"]
    key = "cpu" if kind == "cpu" else "cuda"
    cells = dict.fromkeys(("slowest_right", "tau", "fastest_slow", "proposed", "room"), "–")
    rows = {
        name: {"form": "ratio", "threshold": number or one[key], "verdict": "holds", **cells}
        for name, one in speed.items()
        if key in one
    }
    run = {"machine": "a test", "versions": {}, "rounds": 1, "room": 1.5, "thresholds": rows}
    (folder / "calibration.json").write_text(json.dumps({"measured": {kind: run}}))
