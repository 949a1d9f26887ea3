"""What catalogued mistakes cost, and whether their marks hang on the draw.

kata pack check --full --json | python benchmarks/steadiness.py --write

Each mistake is graded on 20 seeds: hours for all katas. Without `--write` the table is printed and docs/curriculum.md
stays as it is.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
from table import DOCS, arguments, rewrite

from grader.packs.steadiness import Gradings

PAGE, NAME = DOCS / "curriculum.md", "steadiness"
NARROW, HALF = 0.03, 0.5
COLUMNS = ("mistakes", "seeds", "spread at most 3%", "widest", "median loss", "three quarters lose", "most")


def main() -> None:
    options = arguments(__doc__).parse_args()
    text = "\n".join(table(json.load(sys.stdin)["katas"]))
    print(text)
    if options.write:
        rewrite(PAGE, NAME, text)


def summary(marks: list[Gradings]) -> dict[str, Any]:
    """Return of a kata's mistakes on how many seeds they were graded, what each costs, and how far its marks spread."""
    return {
        "seeds": max(len(one.scores()) for one in marks),
        "loss": {one.mistake: one.loss for one in marks},
        "spread": {one.mistake: one.spread for one in marks if one.spread},
    }


def table(verdicts: list[dict[str, Any]]) -> Iterator[str]:
    """Return the lines of the page: a row for each kata, and which mistakes cost more than half."""
    yield "Found by `kata pack check --full`, hidden checks included; checks that train see two of the seeds."
    yield ""
    yield "| kata | " + " | ".join(COLUMNS) + " |"
    yield "|---" * (len(COLUMNS) + 1) + "|"
    katas = sorted((verdict["kata"], verdict["marks"]) for verdict in verdicts)
    marks = {slug: summary(msgspec.convert(found, list[Gradings])) for slug, found in katas}
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
