"""What catalogued mistakes cost, and whether their marks hang on the draw: what the gate of each kata recorded.

make gate                                       grades every mistake on 20 seeds; records, and renews the page
.venv/bin/python benchmarks/steadiness.py       prints the record as a table; --write renews the page
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table import DOCS, arguments, rewrite

RECORD = Path(__file__).parents[1] / "tests" / "gate.json"
PAGE, NAME = DOCS / "curriculum.md", "steadiness"
NARROW, HALF = 0.03, 0.5
COLUMNS = ("mistakes", "seeds", "spread at most 3%", "widest", "median loss", "three quarters lose", "most")


def main() -> None:
    options = arguments(__doc__).parse_args()
    text = "\n".join(table(json.loads(RECORD.read_text(encoding="utf-8"))["katas"]))
    print(text)
    if options.write:
        rewrite(PAGE, NAME, text)


def table(record: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Return the lines of the page: a row for each kata, and which mistakes cost more than half."""
    yield "Recorded by `make gate`, hidden checks included; those that train see two of the seeds."
    yield ""
    yield "| kata | " + " | ".join(COLUMNS) + " |"
    yield "|---" * (len(COLUMNS) + 1) + "|"
    marks = {slug: entry["marks"] for slug, entry in record.items() if "marks" in entry}
    for slug, kata in marks.items():
        yield row(slug, str(kata["seeds"]), list(kata["loss"].values()), list(kata["spread"].values()))
    losses = [loss for kata in marks.values() for loss in kata["loss"].values()]
    spreads = [spread for kata in marks.values() for spread in kata["spread"].values()]
    yield row("all", "", losses, spreads)
    dear = [
        f"{mistake} ({slug}, {loss:.0%})"
        for slug, kata in marks.items()
        for mistake, loss in kata["loss"].items()
        if loss > HALF
    ]
    yield ""
    if later := [slug for slug in record if slug not in marks]:
        yield f"The gates of {', '.join(later)} were recorded before marks were."
    yield f"More than half of the points, each with its reason in the catalogue: {', '.join(dear) or 'none'}."


def row(name: str, seeds: str, losses: list[float], spreads: list[float]) -> str:
    """Return a row; `spreads` has those that are not zero."""
    losses.sort()
    narrow = 1 - sum(spread > NARROW for spread in spreads) / len(losses)
    quarter = losses[min(3 * len(losses) // 4, len(losses) - 1)]
    return (
        f"| {name} | {len(losses)} | {seeds} | {narrow:.1%} | {max(spreads, default=0):.1%} "
        f"| {statistics.median(losses):.0%} | {quarter:.0%} | {losses[-1]:.0%} |"
    )


if __name__ == "__main__":
    main()
