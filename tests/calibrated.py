"""Thresholds of handmade katas count as if they had been measured here."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any


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
