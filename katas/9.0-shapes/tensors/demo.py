"""Shapes live: what a comparison draws, what a wrong reshape does to heads, padding in a mean, a loop or an index."""

from __future__ import annotations

import time

import torch
from torch import Tensor

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, panel, question, table

try:
    from mine import masked_mean, outer_compare, pick, split_heads
except ImportError:  # the learner's does not pass yet: short ones take its place

    def outer_compare(a: Tensor, b: Tensor) -> Tensor:
        """Compare all with all."""
        return torch.le(*torch.meshgrid(a, b, indexing="ij"))

    def pick(table: Tensor, ids: Tensor) -> Tensor:
        """Read rows."""
        return torch.nn.functional.embedding(ids, table)

    def masked_mean(x: Tensor, keep: Tensor) -> Tensor:
        """Average what is kept."""
        return torch.stack([row[where].mean(0) for row, where in zip(x, keep, strict=True)])

    def split_heads(x: Tensor, heads: int) -> Tensor:
        """Cut columns into heads."""
        return torch.stack(x.chunk(heads, -1), 1)


T = 8
IDS, ROWS, WIDTH = 20_000, 1000, 32


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [_comparisons(), _heads(), _means(), _loop_or_index(), _question()]


def _comparisons() -> Exhibit:
    """Draw one function's tables for several vectors: masks are among them."""
    places = torch.arange(T)
    draw = torch.Generator().manual_seed(2)
    numbers = torch.randint(0, 10, (T,), generator=draw), torch.randint(0, 10, (T,), generator=draw)
    lengths = torch.tensor([8, 3, 5, 1])
    tables = {
        "ten digits": (*numbers, "numbers in no order: nothing but a table of yes and no"),
        "places with places": (places, places, "row ≤ column; turned over, this is the causal mask of 9.3.1"),
        "places, turned over": (-places, -places, "column ≤ row: each place sees itself and what came before"),
        "lengths with places": (-lengths, -places - 1, "the place is below the length: four texts and their padding"),
    }
    shown = {}
    for name, (a, b, words) in tables.items():
        found = outer_compare(a, b)
        rows, columns = ([f"{int(v)}" for v in vector] for vector in (a, b))
        shown[name] = heatmap(
            "a[i] <= b[j]",
            [panel(name, found.float(), rows, columns)],
            row_axis="a",
            column_axis="b",
            note=f"{words}. {float(found.float().mean()):.0%} of the cells are True.",
        )
    return choice(
        "One comparison, many masks",
        "vectors",
        shown,
        start=1,
        note="A mask is a comparison of two vectors: choose others, and another mask comes out.",
    )


def _heads() -> Exhibit:
    """Show which column each cell of each head comes from, in the right way and in two wrong ones."""
    heads, width = 3, 6
    x = torch.arange(width).repeat(4, 1)[None].float()  # each entry is the number of its column
    ways = {
        "two axes, then exchange": split_heads(x, heads)[0],
        "reshape straight to [H, T, D/H]": x.reshape(heads, 4, width // heads),
        "two axes, no exchange": x.reshape(4, heads, width // heads),
    }
    shown = {}
    for name, found in ways.items():
        own = [len(set(head.flatten().tolist())) for head in found]
        shown[name] = heatmap(
            "which column of x?",
            [panel(f"[{place}]", head, range(head.shape[0]), range(head.shape[1])) for place, head in enumerate(found)],
            row_axis="row",
            column_axis="column",
            note=f"The shape is {list(found.shape)}; the parts hold {own} columns of x. A head should hold 2.",
        )
    return choice(
        "Six columns in three heads: which cell comes from which column",
        "way",
        shown,
        note="All three have the right number of entries, and two have a head's shape. Only the first has its columns.",
    )


def _means() -> Exhibit:
    """Pad one text more and more, and watch three means of it."""
    draw = torch.Generator().manual_seed(4)
    text = torch.rand(1, 4, 1, generator=draw) + 1
    shown = {}
    for padding in (0, 2, 4, 12, 28):
        x = torch.cat([text, torch.zeros(1, padding, 1)], 1)
        keep = torch.arange(4 + padding)[None] < 4
        kept, every = float(masked_mean(x, keep)), float(x.mean())
        shown[padding] = bars(
            "mean of four numbers and padding",
            ["under the mask", "over everything"],
            {"mean": [kept, every]},
            y_axis="mean",
            note=f"With {padding} places of padding the plain mean has {every / kept:.0%} of what it should have.",
        )
    return choice(
        "What padding does to a mean",
        "places of padding",
        shown,
        start=2,
        slider=True,
        note="The mean over everything sinks with each place of padding; under the mask it stays where it is.",
    )


def _loop_or_index() -> Exhibit:
    """Time one index against a loop over ids."""
    draw = torch.Generator().manual_seed(6)
    rows, ids = torch.rand(ROWS, WIDTH, generator=draw), torch.randint(0, ROWS, (IDS,), generator=draw)
    spent = {}
    for name, way in (
        ("a loop over ids", lambda: torch.stack([rows[i] for i in ids.tolist()])),
        ("pick", lambda: pick(rows, ids)),
    ):
        way()
        begun = time.perf_counter()
        found = way()
        spent[name] = time.perf_counter() - begun, tuple(found.shape)
    loop, index = spent["a loop over ids"][0], spent["pick"][0]
    return table(
        f"{IDS:,} rows of a table: a loop, and one index",
        ["way", "shape", "milliseconds"],
        [[name, str(list(shape)), round(1000 * seconds, 2)] for name, (seconds, shape) in spent.items()],
        note=f"Here the loop took {loop / index:,.0f} times as long as all ids at once.",
    )


def _question() -> Exhibit:
    return question(
        "A head is cut out of [T, D] by one straight reshape to [H, T, D/H]. Of how many positions does the first head "
        "hold numbers, if it should hold two columns of every position?",
        seen="Six columns in three heads: which cell comes from which column",
        answer="Of the first ones alone: a reshape reads row by row, so head 0 takes all columns of the first position "
        "before it comes to the second.",
    )
