"""Our own pack, as tests see it: its katas, those with checks of speed, and its demos."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from grader.catalogue import Kata, load_pack

ROOT = Path(__file__).parents[1]


@cache
def katas() -> dict[str, Kata]:
    """Return our katas by name, from this tree: what is installed may have no solutions."""
    return {kata.slug: kata for kata in load_pack(ROOT / "katas").katas}


def timed() -> list[str]:
    """Return the katas that have checks of speed, by name."""
    return [slug for slug, kata in katas().items() if kata.speed_checks is not None]


def demos() -> dict[str, Path]:
    """Return our demos by the kata or unit that they are of."""
    return {path.parent.name: path for path in sorted((ROOT / "katas").rglob("demo.py"))}
