"""Attention in tiles live: what both ways hold as the text grows, and one row that is corrected from tile to tile."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, lines, panel, question, table

try:
    from mine import tiled_attention, tiled_backward

    OWN = True
except ImportError:  # the learner's do not pass yet: tiles of queries, each against all keys at once
    OWN = False

    def tiled_attention(query: Tensor, key: Tensor, value: Tensor, block: int = 64) -> tuple[Tensor, Tensor]:
        """Give each tile of queries its whole softmax."""
        output, logsumexp = query.new_empty(len(query), value.shape[-1]), query.new_empty(len(query))
        for first in range(0, len(query), block):
            rows = slice(first, first + block)
            scores = query[rows] @ key.mT * key.shape[-1] ** -0.5
            output[rows], logsumexp[rows] = scores.softmax(-1) @ value, scores.logsumexp(-1)
        return output, logsumexp

    def tiled_backward(
        grad: Tensor, query: Tensor, key: Tensor, value: Tensor, _: Tensor, __: Tensor, block: int = 64
    ) -> tuple[Tensor, ...]:
        """Let autograd go through one tile of queries after the other."""
        dq, (dk, dv) = [], (torch.zeros_like(x) for x in (key, value))
        for g, q in zip(grad.split(block), query.split(block), strict=True):
            slopes = plain_backward(g, q, key, value)
            dq.append(slopes[0])
            dk, dv = dk + slopes[1], dv + slopes[2]
        return torch.cat(dq), dk, dv


WIDTH, BLOCK, LENGTHS = 64, 128, (256, 512, 1024, 2048, 4096)
KEYS, TILE = 24, 3
"""Of the row that is followed tile by tile."""
WHOSE = "" if OWN else " (Given code, which cuts the queries alone: yours takes its place when it passes.)"


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    return [_memory(), *_row(), _tiles(), _blocks(), _question()]


def plain(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend with a table of all scores."""
    return (query @ key.mT * key.shape[-1] ** -0.5).softmax(-1) @ value


def plain_backward(grad: Tensor, *given: Tensor) -> tuple[Tensor, ...]:
    """Let autograd go through all of it."""
    leaves = [x.detach().requires_grad_() for x in given]
    return torch.autograd.grad(plain(*leaves), leaves, grad)


class Peak(TorchDispatchMode):
    """Adds up the bytes of all tensors that are alive, at each operator of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, int] = {}
        self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                key = storage._cdata
                if key not in self.alive:  # a view shares the storage of another tensor
                    self.alive[key] = storage.nbytes()
                    weakref.finalize(storage, self.alive.pop, key, None)
        self.most = max(self.most, sum(self.alive.values()))
        return result


def peak(way: Callable[..., Any], *given: Tensor, **options: int) -> float:
    """Return how many MiB a call holds at its peak, results included."""
    with Peak() as seen:
        way(*given, **options)
    return seen.most / 2**20


def _memory() -> Exhibit:
    """Measure both ways, forwards and backwards, at each length."""
    held: dict[str, list[float]] = {}
    for length in LENGTHS:
        grad, *given = (torch.randn(length, WIDTH) for _ in range(4))
        known = tiled_attention(*given, block=BLOCK)
        for name, mib in (
            ("all scores, forwards", peak(plain, *given)),
            ("all scores, with gradients", peak(plain_backward, grad, *given)),
            ("tiles, forwards", peak(tiled_attention, *given, block=BLOCK)),
            ("tiles, gradients", peak(tiled_backward, grad, *given, *known, block=BLOCK)),
        ):
            held.setdefault(name, []).append(round(mib, 2))
    grown = "; ".join(f"{name} ×{mib[-1] / mib[-2]:.1f}" for name, mib in held.items())
    last = {name: mib[-1] for name, mib in held.items()}
    return bars(
        "Memory at the peak, measured, as the text grows", [f"{length:,}" for length in LENGTHS], held,
        y_axis="MiB", log_y=True,
        note=f"What a call holds, its results included: one head of width {WIDTH} in float32, tiles of {BLOCK}. "
        f"From {LENGTHS[-2]:,} to {LENGTHS[-1]:,} positions: {grown}. Gradients then take "
        f"{last['all scores, with gradients']:.0f} MiB with all scores, {last['tiles, gradients']:.0f} MiB in tiles."
        + WHOSE,
    )  # fmt: skip


def _row() -> list[Exhibit]:
    """Read the keys of one query tile by tile: the sum so far follows from output and logsumexp of what was read."""
    query = torch.full((1, 4), 1.0)
    scores = torch.randn(KEYS) + torch.arange(KEYS) / 6  # they rise, so that there is something to correct
    key, value = scores[:, None].expand(KEYS, 4) / 2, torch.randn(KEYS, 1)
    frames, rows, before = {}, [], -torch.inf
    for seen in range(TILE, KEYS + 1, TILE):
        output, logsumexp = tiled_attention(query, key[:seen], value[:seen], block=TILE)
        largest = float(scores[:seen].max())
        total = float((logsumexp - largest).exp())
        factor = float(torch.tensor(before - largest).exp())
        rows.append([seen // TILE, largest, factor, total, float(logsumexp), float(output)])
        shown = torch.cat([(scores[:seen] - largest).exp(), torch.zeros(KEYS - seen)])
        frames[seen // TILE] = bars(
            "exp(s − m)", range(KEYS), {"read so far": [round(number, 4) for number in shown.tolist()]},
            y_axis="exp(s − m)",
            note=f"m = {largest:.2f}; what came before was multiplied by {factor:.4f}. "
            f"The bars add up to l = {total:.4f}.",
        )  # fmt: skip
        before = largest
    tiles = [row[0] for row in rows]
    corrected = sum(row[2] < 1 for row in rows[1:])
    fallen = sum(row[3] < earlier[3] for earlier, row in pairwise(rows))
    columns = ["tile", "m", "factor", "l", "logsumexp", "output so far"]
    return [
        choice(f"One query and {KEYS} keys, in tiles of {TILE}", "tiles read", frames, start=1, slider=True,
               note=f"Of {len(rows) - 1} tiles after the first, {corrected} had a larger score, and all bars before "
               "it shrank."),
        lines("The running maximum and the running sum of this row",
              {"m, the largest score so far": (tiles, [row[1] for row in rows]),
               "l, the sum of exp(s − m)": (tiles, [row[3] for row in rows]),
               "logsumexp, m + ln l": (tiles, [row[4] for row in rows])},
              x_axis="tiles read", y_axis="number",
              note=f"Where m grows, l is multiplied by less than 1 before the tile is added: it fell in {fallen} of "
              f"{corrected} such tiles. logsumexp never falls: a key only adds to it."),
        table("The same in numbers", columns, [[row[0], *(f"{number:.4f}" for number in row[1:])] for row in rows],
              note="Output and logsumexp are those of attention to the keys read so far: each row is a right answer "
              "for a shorter text."),
    ]  # fmt: skip


def _tiles() -> Exhibit:
    """Show which pairs are computed in the causal case, for several sizes of a tile."""
    length, frames = 16, {}
    seen = torch.ones(length, length).tril()
    for block in (1, 2, 4, 8, 16):
        tile = torch.arange(length) // block
        computed = (tile[:, None] >= tile).float()
        frames[block] = heatmap(
            "pairs", [panel("", (seen + computed) / 2, range(length), range(length))],
            note=f"{int(computed.sum())} pairs are computed, of which {int(seen.sum())} are seen.",
        )  # fmt: skip
    return choice(
        f"Causal: {length} queries and {length} keys, and which tiles are computed", "block", frames, start=2,
        slider=True, note="Dark: seen. Light: computed, and hidden by the mask. Empty: in a tile that is skipped.",
    )  # fmt: skip


def _blocks() -> Exhibit:
    """Compare sizes of a tile: results, memory, time."""
    length, rows = 256, []
    grad, *given = (torch.randn(length, WIDTH) for _ in range(4))
    exact = plain(*(x.double() for x in given))
    slopes = plain_backward(*(x.double() for x in (grad, *given)))
    for block in (8, 32, 128, 256, 1000):
        seconds = float("inf")
        for _ in range(3):  # the least of them: other programs only make one slower
            since = time.perf_counter()
            known = tiled_attention(*given, block=block)
            seconds = min(seconds, time.perf_counter() - since)
        found = tiled_backward(grad, *given, *known, block=block)
        off = max(float((mine - right).abs().max()) for mine, right in zip(found, slopes, strict=True))
        mib = peak(tiled_attention, *given, block=block)
        worst = float((known[0] - exact).abs().max())
        rows.append([block, f"{worst:.0e}", f"{off:.0e}", f"{mib:.2f}", f"{1000 * seconds:.1f}"])
    return table(
        f"Does the size of a tile matter? {length} positions",
        ["block", "output off by", "gradients off by", "MiB", "ms"], rows,
        note="Against the plain formula in float64: only rounding differs. Small tiles need more calls, and in Python "
        "each call takes its time; large ones need more memory. A kernel takes the largest that fits into fast memory."
        + WHOSE,
    )  # fmt: skip


def _question() -> Exhibit:
    return question(
        "Twice the text: what happens to the memory of each way, and what to the number of pairs that are computed?",
        seen="Memory at the peak",
        answer="A table of all scores takes four times the memory, tiles about twice: they hold the results and one "
        "tile. The pairs are four times as many for both: tiles save memory, not operations.",
    )
