"""Draw the figure of each lesson, `figure.svg` next to its README.md, from the kata's reference: `make pictures`.

Every number and every filled cell comes from a reference or from what a kata gives; only the parts of a block are
placed by hand. Text stays text, and colours follow the reader's light or dark scheme.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
WIDE = 440
"""Units across: on a phone of 375 pixels a letter of 12 is still 9 pixels high."""
LIGHT = "--ink:#1f2328;--soft:#59636e;--line:#8c959f;--paper:#fff;--a:#0969da;--b:#bc4c00;--c:#1a7f37"
DARK = "--ink:#e6edf3;--soft:#9da7b1;--line:#6e7681;--paper:#0d1117;--a:#4493f8;--b:#f0883e;--c:#3fb950"
STYLE = (
    f"svg{{{LIGHT}}}@media (prefers-color-scheme:dark){{svg{{{DARK}}}}}"
    "text{fill:var(--ink)}.s{fill:var(--soft);font-size:11px}.t{fill:var(--soft);font-size:9px}"
    ".h{font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}.box{fill:var(--paper);stroke:var(--line)}.l{fill:none;stroke:var(--line);stroke-width:1.4}"
    ".k{stroke:var(--line)}.tip{marker-end:url(#t)}.tip.la{marker-end:url(#ta)}.tip.lb{marker-end:url(#tb)}"
    ".w{stroke-width:2.4}.d{stroke-dasharray:5 4}"
    + "".join(f".{c}{{fill:var(--{c})}}.l{c}{{fill:none;stroke:var(--{c})}}" for c in "abc")
)
FIGURES: dict[str, tuple[str, int, Callable[[Figure], None]]] = {}
"""By kata: the figure's title, its height, and what draws it."""


class Figure:
    """An SVG under construction; looks are classes of STYLE."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: object, look: str = "") -> None:
        """Write words whose baseline begins at a point, or lies around it (`m`), or ends there (`e`)."""
        chosen = f' class="{look}"' if look else ""
        shown = re.sub(r"(?<!\w)-(?=\d)", "−", str(words))
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{chosen}>{escape(shown)}</text>')

    def box(self, x: float, y: float, w: float, h: float, look: str = "box", strength: float = 1) -> None:
        """Draw a rectangle; `strength` is the opacity of its fill."""
        faint = f' fill-opacity="{strength:.2g}"' if strength < 1 else ""
        self.parts.append(
            f'<rect x="{x:.5g}" y="{y:.5g}" width="{w:.5g}" height="{h:.5g}" class="{look}"{faint}/>'
        )

    def named(self, x: float, y: float, w: float, words: str, colour: str = "") -> None:
        """Draw a box of one line with its words in the middle, tinted if a colour is named."""
        self.box(x, y, w, 22)
        if colour:
            self.box(x, y, w, 22, colour, 0.22)
        self.text(x + w / 2, y + 15.5, words, "m")

    def path(self, points: Iterable[tuple[float, float]], look: str = "l") -> None:
        """Draw a line through points; with the look `tip` it ends in an arrow."""
        line = "L".join(f"{x:.4g} {y:.4g}" for x, y in points)
        self.parts.append(f'<path d="M{line}" class="{look}"/>')

    def dot(self, x: float, y: float, look: str) -> None:
        """Draw a filled circle around a point."""
        self.parts.append(f'<circle cx="{x:.4g}" cy="{y:.4g}" r="4" class="{look}"/>')

    def grid(self, x: float, y: float, cell: tuple[float, float], values: Any, form: str = "") -> None:
        """Draw a table of values as tinted cells: blue above 0 and orange below, with numbers if `form` says how."""
        rows = torch.as_tensor(values, dtype=torch.float64)
        most = float(rows[rows.isfinite()].abs().max()) or 1.0
        alike: dict[tuple[str, str], list[str]] = {}
        for i, row in enumerate(rows.tolist()):
            for j, value in enumerate(row):
                tint = value if math.isfinite(value) else 0.0
                look = "a" if tint > 0 else "b", f"{0.62 * abs(tint) / most:.2f}"
                corner = f"M{x + j * cell[0]:g} {y + i * cell[1]:g}"
                alike.setdefault(look, []).append(f"{corner}h{cell[0]:g}v{cell[1]:g}h-{cell[0]:g}z")
        for (colour, strength), cells in alike.items():  # one path for all cells of a tint: half the size
            self.parts.append(f'<path d="{"".join(cells)}" class="{colour} k" fill-opacity="{strength}"/>')
        for i, row in enumerate(rows.tolist() if form else ()):
            for j, value in enumerate(row):
                shown = format(value, form) if math.isfinite(value) else "−∞"
                middle = x + (j + 0.5) * cell[0], y + (i + 0.5) * cell[1] + 4
                self.text(*middle, shown, "m")

    def heat(self, box: tuple[float, float, float, float], values: Any, most: float = 0) -> None:
        """Draw a large map in eight tints, the strongest for `most` or else for the largest value."""
        x, y, w, h = box
        rows = torch.as_tensor(values, dtype=torch.float64)
        levels = (rows / (most or rows.abs().max() or 1) * 4).round().long().tolist()
        # Runs of one tint are strokes of one path: a rectangle for each cell would take 100 kB.
        runs: dict[int, list[str]] = {}
        for i, row in enumerate(levels):
            start = 0
            for j in range(1, len(row) + 1):
                if j == len(row) or row[j] != row[start]:
                    runs.setdefault(row[start], []).append(f"M{start} {i}.5h{j - start}")
                    start = j
        scale = f"translate({x:g} {y:g}) scale({w / len(levels[0]):.5g} {h / len(levels):.5g})"
        self.parts.append(f'<g transform="{scale}" shape-rendering="crispEdges">')
        for level, strokes in sorted(runs.items()):
            if level:
                look = f'class="l{"a" if level > 0 else "b"}" stroke-opacity="{abs(level) / 4:g}"'
                self.parts.append(f'<path {look} d="{"".join(strokes)}"/>')
        self.parts.append("</g>")
        self.path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)])

    def plot(
        self,
        box: tuple[float, float, float, float],
        xs: Sequence[float],
        ys: Sequence[float],
        marks: bool = True,
    ) -> Callable[[float, float], tuple[float, float]]:
        """Draw axes with these ticks, without numbers at the y axis unless `marks`; return where a point lies."""
        x, y, w, h = box

        def at(a: float, b: float) -> tuple[float, float]:
            return x + (a - xs[0]) / (xs[-1] - xs[0]) * w, y + h - (b - ys[0]) / (ys[-1] - ys[0]) * h

        self.path([(x, y), (x, y + h), (x + w, y + h)])
        for tick in xs:
            self.text(at(tick, 0)[0], y + h + 15, f"{tick:g}", "s m")
        for tick in ys if marks else ():
            self.text(x - 5, at(xs[0], tick)[1] + 4, f"{tick:g}", "s e")
        return at


def figure(
    kata: str, title: str, high: int
) -> Callable[[Callable[[Figure], None]], Callable[[Figure], None]]:
    """Register what draws the figure of a kata."""

    def register(draw: Callable[[Figure], None]) -> Callable[[Figure], None]:
        FIGURES[kata] = (title, high, draw)
        return draw

    return register


def reference(kata: str) -> Any:
    """Return the module that solves a kata."""
    [folder] = (ROOT / "solutions").glob(f"*/{kata}")
    [path] = [one for one in folder.glob("*.py") if one.name != "hidden_checks.py"]
    return given(path)


def given(path: Path) -> Any:
    """Return the module in a file."""
    for needed in ("katas/9.3-encoder-vs-decoder", "katas/given"):
        if str(ROOT / needed) not in sys.path:
            sys.path.append(str(ROOT / needed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def drawn(kata: str) -> str:
    """Return the figure of a kata."""
    title, high, draw = FIGURES[kata]
    canvas = Figure()
    with torch.no_grad():
        draw(canvas)
    body = "\n".join(canvas.parts)
    tips = "".join(
        f'<marker id="t{c}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" orient="auto" '
        f'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" fill="var(--{c or "line"})"/></marker>'
        for c in ("", "a", "b")
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" width="{WIDE * 1.4:g}" role="img" '
        f'font-family="system-ui,sans-serif" font-size="12">\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n'
        f"<defs>{tips}</defs>\n"
        f'<rect width="{WIDE}" height="{high}" rx="6" fill="var(--paper)"/>\n{body}\n</svg>\n'
    )


def place(kata: str) -> Path:
    """Return where the figure of a kata lies."""
    [folder] = (ROOT / "katas").glob(f"*/{kata}")
    return folder / "figure.svg"


@figure("tensors", "Six columns in three heads, cut in two ways", 210)
def _tensors(f: Figure) -> None:
    x = torch.arange(12).view(1, 2, 6)
    right, wrong = reference("tensors").split_heads(x, 3)[0], x.reshape(3, 2, 2)

    def cells(left: float, top: float, values: Any) -> None:
        for i, row in enumerate(values.tolist()):
            for j, value in enumerate(row):
                f.box(left + 30 * j, top + 24 * i, 30, 24)
                f.box(left + 30 * j, top + 24 * i, 30, 24, "abc"[value % 6 // 2], 0.35)
                f.text(left + 30 * j + 15, top + 24 * i + 16, value, "m")

    f.text(66, 18, "x: two positions, six columns", "h")
    cells(66, 26, x[0])
    for t in range(2):
        f.text(60, 42 + 24 * t, f"pos {t}", "s e")
    for left, words, parts in ((14, "two axes, then exchange", right), (234, "reshape straight", wrong)):
        f.text(left, 112, words, "h")
        for h, part in enumerate(parts):
            f.text(left + 30 + 68 * h, 132, f"head {h}", "s m")
            cells(left + 68 * h, 138, part)
    f.text(14, 203, "a tint for the columns of each head", "s")


@figure("self-attention", "Attention weights of two texts", 226)
def _self_attention(f: Figure) -> None:
    module = reference("self-attention").SelfAttention(3, 4)
    for name, rows in {
        "w_q": [[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]],
        "w_k": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]],
        "w_v": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0]],
    }.items():
        getattr(module, name).weight.copy_(torch.tensor(rows).float())
    features = {"river": [2, 0, 0], "loan": [0, 2, 0], "bank": [1, 1, 0], "floods": [1, 0, 2]}
    for left, words in ((58, ["river", "bank", "floods"]), (300, ["loan", "bank"])):
        output, weights = module(torch.tensor([[features[word] for word in words]]).float())
        f.text(left, 18, f"“{' '.join(words)}”", "h")
        f.grid(left, 46, (50, 36), weights[0], ".2f")
        for place, word in enumerate(words):
            f.text(left + 25 + 50 * place, 40, word, "s m")
            f.text(left - 6, 68 + 36 * place, word, "s e")
        bank = words.index("bank")
        f.box(left, 46 + 36 * bank, 50 * len(words), 36, "lb w")
        f.text(left, 180, "“bank” afterwards,", "s")
        f.text(left, 194, f"water − money: {output[0, bank, 3]:.2f}", "s")
    f.text(58, 218, "row: who looks · column: who is looked at · each row sums to 1", "s")


@figure("positional-encoding", "The table of positions as a map", 236)
def _positions(f: Figure) -> None:
    table = reference("positional-encoding").sinusoidal_positions(64, 32)
    f.heat((58, 20, 366, 160), table.T)
    for column in (0, 8, 16, 24, 31):
        f.text(52, 20 + 5 * column + 7, column, "s e")
    f.text(12, 12, "column", "s")
    for position in range(0, 64, 8):
        f.text(58 + 366 * (position + 0.5) / 64, 195, position, "s m")
    f.text(424, 210, "position", "s e")
    f.text(54, 222, -1, "s e")
    f.heat((58, 212, 126, 12), torch.linspace(-1, 1, 9)[None])
    f.text(190, 222, "1", "s")


@figure("rotary-positions", "A query and a key turned by their positions", 246)
def _rotary(f: Figure) -> None:
    rotate = reference("rotary-positions").rotate
    vector = torch.tensor([[1.0, 0.0]])
    rows = [[(1, 0), (2, 1), (3, 2)], [(3, 2), (3, 1), (3, 0)]]
    for row, (words, pairs) in enumerate(zip(("1, 1, 1", "1, 2, 3"), rows, strict=True)):
        top = 66 + 118 * row
        f.text(12, top - 4, "distances", "s")
        f.text(12, top + 12, words, "h")
        for column, (q, k) in enumerate(pairs):
            x = 134 + 116 * column
            turned = [rotate(vector, torch.tensor([at]))[0] for at in (q, k)]
            f.parts.append(f'<circle cx="{x}" cy="{top}" r="38" class="l"/>')
            for name, arrow, look in (("q", turned[0], "a"), ("k", turned[1], "b")):
                a, b = (arrow * 34).tolist()
                f.path([(x, top), (x + a, top - b)], f"l{look} w tip")
                f.text(x + 1.36 * a, top - 1.36 * b + 4, name, "m h")
            f.text(x, top + 54, f"q {q}, k {k}: {float(turned[0] @ turned[1]):.2f}", "s m")


@figure("masks", "Four masks", 178)
def _masks(f: Figure) -> None:
    m = reference("masks")
    padding = m.padding_mask(torch.tensor([[7, 3, 9, 2, 0, 0]]))[0, 0]
    causal = m.causal_mask(6)
    shown = {"bidirectional": m.bidirectional_mask(6), "causal": causal, "padding": padding.expand(6, 6),
             "both": m.combine_masks(causal, padding)}  # fmt: skip
    for place, (name, mask) in enumerate(shown.items()):
        x = 26 + 106 * place
        f.text(x, 16, name, "h")
        f.grid(x, 26, (15, 15), mask)
    f.text(16, 74, "q", "s m")
    f.text(71, 130, "key", "s m")
    f.box(26, 142, 12, 12, "box")
    f.box(26, 142, 12, 12, "a", 0.62)
    f.text(43, 152, "may look", "s")
    f.box(110, 142, 12, 12)
    f.text(127, 152, "blocked", "s")
    f.text(190, 152, "keys 4 and 5 are padding", "s")
    f.text(26, 170, "both: causal and padding", "s")


@figure("masked-attention", "From scores to weights under a causal mask", 168)
def _masked(f: Figure) -> None:
    m = reference("masked-attention")
    q = torch.tensor([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]).float()
    k = torch.tensor([[1, 0, 1, 0], [0, 1, 0, 2], [2, 1, 1, 0]]).float()
    v = torch.tensor([[1, 0], [0, 1], [4, 4]]).float()
    mask = torch.ones(3, 3).tril().bool()
    _, weights = m.scaled_dot_product_attention(q, k, v, mask)
    scores = q @ k.T / 2
    maps = {"scores": scores, "masked": scores.masked_fill(~mask, -torch.inf), "weights": weights}
    for place, (name, values) in enumerate(maps.items()):
        x = 30 + 140 * place
        f.text(x, 18, name, "h")
        f.grid(x, 42, (38, 32), values, ".2f" if name == "weights" else ".1f")
        for key in range(3):
            f.text(x + 19 + 38 * key, 37, f"k{key}", "s m")
        if place < 2:
            f.path([(x + 117, 90), (x + 136, 90)], "l tip")
    for query in range(3):
        f.text(24, 62 + 32 * query, f"q{query}", "s e")
    f.text(30, 160, "mask, then softmax along each row", "s")


@figure("layer-norm", "Four rows before and after layer norm", 204)
def _layer_norm(f: Figure) -> None:
    rows = torch.tensor([[1, 3, 2, 6], [10, 30, 20, 60], [-1, -3, -2, -6], [5, 5, 5, 5]]).float()
    normed = reference("layer-norm").LayerNorm(4)(rows)
    # Logarithmic away from 0 on the left: else the rows of small numbers were a blob each.
    for left, ticks, scale, values, name in (
        (66, (-6, -1, 1, 6, 60), math.asinh, rows, "before, logarithmic"),
        (270, (-2, -1, 0, 1, 2), float, normed, "after"),
    ):
        f.text(left, 18, name, "h")
        low, high = scale(ticks[0]) - 0.2, scale(ticks[-1]) + 0.2
        f.path([(left, 26), (left, 162), (left + 150, 162)])

        def across(value: float, left: int = left, low: float = low, high: float = high, scale: Any = scale) -> float:
            return left + (scale(value) - low) / (high - low) * 150

        for tick in ticks:
            f.text(across(tick), 177, tick, "s m")
        for number, row in enumerate(values.tolist()):
            f.path([(left, 43 + 34 * number), (left + 150, 43 + 34 * number)], "l d")
            for value in row:
                f.parts.append(
                    f'<circle cx="{across(value):.4g}" cy="{43 + 34 * number}" r="4" class="a" fill-opacity=".7"/>'
                )
    for number in range(4):
        f.text(60, 47 + 34 * number, f"pos {number}", "s e")
    f.text(66, 197, "each dot is one of the four features of a position", "s")


@figure("feed-forward", "ReLU, GELU and SiLU", 226)
def _feed_forward(f: Figure) -> None:
    gelu = reference("feed-forward").gelu
    f.text(12, 14, "output", "s")
    at = f.plot((40, 24, 380, 160), (-4, -3, -2, -1, 0, 1, 2, 3), (-1, 0, 1, 2, 3))
    xs = torch.linspace(-4, 3, 141)
    f.path([at(-4, 0), at(3, 0)], "l d")
    for ys, look in ((torch.nn.functional.silu(xs), "lc w"), (xs.relu(), "lb w d"), (gelu(xs), "la w")):
        f.path(map(at, xs.tolist(), ys.tolist()), look)
    f.text(*at(0.7, 1.6), "ReLU", "b h e")
    f.text(*at(2.2, 1.4), "GELU", "a h")
    f.text(*at(2.2, 0.9), "SiLU", "c h")
    low = gelu(xs).min()
    where = float(xs[gelu(xs).argmin()])
    x, y = at(where, float(low))
    f.text(x, y + 22, f"lowest: {low:.2f} at {where:.2f}", "s m")
    f.text(420, 218, "input", "s e")


def _block(f: Figure, left: float, top: float, steps: Sequence[str], joins: Iterable[int]) -> None:
    """Draw a stream, blue, and a side path that leaves it before the first step and is added after the last."""
    stream, side, end = left, left + 92, top + 30 * len(steps) + 12
    f.path([(stream, top), (side, top), (side, top + 8)], "l tip")
    for number, step in enumerate(steps):
        f.named(side - 56, top + 8 + 30 * number, 112, step, "c" if number in joins else "")
        if number:
            f.path([(side, top + 30 * number), (side, top + 8 + 30 * number)], "l tip")
    f.path([(side, end - 12), (side, end + 4), (stream + 9, end + 4)], "l tip")


def _plus(f: Figure, x: float, y: float) -> None:
    f.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="8" class="box"/>')
    f.text(x, y + 4.5, "+", "m h")


@figure("encoder-layer", "An encoder layer with the norm first, and with the norm last", 318)
def _encoder_layer(f: Figure) -> None:
    for left, name, first in ((40, "pre-norm", True), (266, "post-norm", False)):
        f.text(left - 20, 18, name, "h")
        f.path([(left, 30), (left, 296)], "la w tip")
        f.text(left, 311, "y", "m")
        f.text(left - 12, 40, "x", "e")
        top = 42
        for number, sublayer in enumerate(("attention", "feed-forward"), 1):
            steps = (f"norm{number}", sublayer) if first else (sublayer,)
            _block(f, left, top, steps, [len(steps) - 1])
            plus = top + 30 * len(steps) + 16
            _plus(f, left, plus)
            if not first:
                f.named(left - 28, plus + 14, 56, f"norm{number}", "b")
            top += 118
    f.text(60, 311, "blue: the stream", "s")
    f.text(286, 311, "orange: norms on it", "s")


@figure("decoder-layer", "A decoder layer between its stream and the memory", 350)
def _decoder_layer(f: Figure) -> None:
    f.path([(196, 18), (196, 326)], "la w tip")
    f.text(204, 22, "x [B, T, D]")
    f.text(204, 340, "y [B, T, D]")
    parts = (("norm1", "self-attention"), ("norm2", "cross-attention"), ("norm3", "feed-forward"))
    for number, (steps, note) in enumerate(zip(parts, ("self_mask", "memory_mask", ""), strict=True)):
        top = 34 + 100 * number
        _block(f, 196, top, steps, [1])
        _plus(f, 196, top + 76)
        f.text(350, top + 53, note, "s")
    f.named(14, 70, 92, "source")
    f.path([(60, 92), (60, 112)], "l tip")
    f.named(14, 112, 92, "encoder", "c")
    f.path([(60, 134), (60, 160)], "l tip")
    f.named(14, 160, 92, "memory", "b")
    f.text(14, 198, "[B, S, D]", "s")
    f.path([(106, 171), (176, 171), (176, 183), (231, 183)], "lb w tip")
    f.text(110, 165, "keys, values", "s")
    f.text(14, 250, "Only cross-attention", "s")
    f.text(14, 265, "reads the memory;", "s")
    f.text(14, 280, "its queries come", "s")
    f.text(14, 295, "from the stream.", "s")


@figure("classifier", "Three ways to pool", 190)
def _classifier(f: Figure) -> None:
    pool = reference("classifier").pool
    hidden = torch.tensor([[[2, -1], [0, -3], [4, -2], [9, 7]]]).float()
    mask = torch.tensor([[True, True, True, False]])
    f.text(50, 18, "h, four positions", "h")
    f.grid(50, 30, (40, 32), hidden[0, :3], ".0f")
    for column in (0, 1):
        f.box(50 + 40 * column, 126, 40, 32, "box d")
        f.text(70 + 40 * column, 146, f"{hidden[0, 3, column]:.0f}", "s m")
    for row, word in enumerate(("<cls>", "good", "plot", "<pad>")):
        f.text(44, 50 + 32 * row, word, "s e")
    notes = {"cls": "position 0 alone", "mean": "mean of real rows", "max": "largest per column"}
    for row, (name, note) in enumerate(notes.items()):
        y = 20 + 44 * row
        f.path([(134, 78), (162, 78), (162, y + 14), (210, y + 14)], "l tip")
        f.text(168, y + 9, name, "h")
        f.grid(214, y, (40, 28), pool(hidden, mask, name), ".0f")
        f.text(302, y + 18, note, "s")
    f.text(50, 180, "the dashed row is padding: no strategy reads it", "s")


@figure("decoder-lm", "What is computed for each new token, with and without a cache", 216)
def _decoder_lm(f: Figure) -> None:
    prompt, new, cell = 4, 10, 12
    for left, name, cached in ((30, "without a cache", False), (248, "with a cache", True)):
        f.text(left, 18, name, "h")
        total = 0
        for step in range(new):
            length = prompt + step
            start = length - 1 if cached and step else 0
            total += length - start
            y = 30 + cell * step
            f.box(left + cell * start, y, cell * (length - start), cell - 2, "a", 0.62)
            if start:
                f.box(left, y, cell * start, cell - 2, "box d")
        f.text(left, 166, f"{total} positions for {new} tokens")
        many = sum(range(20, 120)) if not cached else 20 + 99
        f.text(left, 182, f"20 of prompt, 100 new: {many:,}", "s")
    f.text(30, 206, "row: one step of writing · filled: computed · dashed: kept in the cache", "s")


@figure("translator", "Greedy and beam search in a tree of two words", 226)
def _translator(f: Figure) -> None:
    first = {"a": 0.6, "b": 0.4}
    second = {"a": {"x": 0.4, "y": 0.3, "eos": 0.3}, "b": {"x": 0.9, "y": 0.1}}
    texts = {(u, v): p * q for u, p in first.items() for v, q in second[u].items()}
    greedy = max((key for key in texts if key[0] == max(first, key=first.__getitem__)), key=texts.__getitem__)
    best = max(texts, key=texts.__getitem__)
    f.named(12, 90, 52, "<bos>")
    y, centre = 26.0, {"a": 66.0, "b": 166.0}
    colours, notes = {greedy: "b", best: "a"}, {greedy: " greedy", best: " beams"}
    for u, p in first.items():
        f.path([(64, 101), (116, centre[u])], f"l{'b' if u == greedy[0] else 'a'} w")
        f.named(116, centre[u] - 11, 54, f"{u}  {p:.1f}")
        for v, q in second[u].items():
            colour = colours.get((u, v), "")
            f.path([(170, centre[u]), (222, y)], f"l{colour} w" if colour else "l")
            f.named(222, y - 11, 66, f"{v}  {q:.1f}")
            share = texts[u, v]
            f.box(298, y - 7, 160 * share, 14, colour or "box", 0.62)
            f.text(304 + 160 * share, y + 4, f"{share:.2f}{notes.get((u, v), '')}")
            y += 40
    f.text(12, 218, "bar: probability of the whole text, the product of its words", "s")


@figure("byte-pairs", "Four merges of a text", 206)
def _byte_pairs(f: Figure) -> None:
    m = reference("byte-pairs")
    text, shown = "low lower slow slowly owl", "low lower slow"
    merges = m.train(text, 4)
    f.text(12, 20, "the bytes", "s")
    for row in range(len(merges) + 1):
        y = 8 + 36 * row
        if row:
            pair = " + ".join(part.decode().replace(" ", "␣") for part in merges[row - 1])
            f.text(12, y + 13, f"{row}: {pair}", "s")
        made = m.Tokenizer(merges[:row])
        x = 104.0
        for token in made.encode(shown):
            words = made.decode([token]).replace(" ", "␣")
            wide = 23 * len(words)
            f.box(x + 1, y, wide - 2, 22)
            if len(words) > 1:
                f.box(x + 1, y, wide - 2, 22, "a", 0.15 + 0.1 * len(words))
            f.text(x + wide / 2, y + 15.5, words, "m")
            x += wide
    f.text(104, 196, "blue: tokens that were merged · ␣ a space", "s")


@figure("sampling", "What three filters keep of three distributions", 262)
def _sampling(f: Figure) -> None:
    m = reference("sampling")
    shares = {
        "“sat on the”": [40, 25, 15, 10, 6, 4],
        "“New York”": [96, 1.2, 1, 0.8, 0.6, 0.4],
        "“I saw a”": [18.2, 17.2, 16.8, 16.4, 16, 15.4],
    }
    filters = {
        "top-k, k = 2": (m.top_k, 2),
        "top-p, p = 0.7": (m.top_p, 0.7),
        "min-p, p = 0.3": (m.min_p, 0.3),
    }
    for column, (after, percent) in enumerate(shares.items()):
        x = 118 + 108 * column
        f.text(x, 18, after, "h")
        logits = torch.tensor([percent]).log()
        for row, (name, (keep, limit)) in enumerate(filters.items()):
            y = 84 + 72 * row
            if not column:
                f.text(12, y - 10, name)
            for place, (share, kept) in enumerate(
                zip(percent, keep(logits, limit)[0].isfinite().tolist(), strict=True)
            ):
                high = 4 + 50 * share / 96 if column == 1 else 4 + 1.2 * share
                f.box(x + 15 * place, y - high, 12, high, "a" if kept else "box d")
            f.path([(x - 3, y), (x + 90, y)])
    f.text(12, 250, "filled: kept · dashed: set to −∞ · bars of one column have one scale", "s")


@figure("optimizer", "A schedule, and steps that do not follow the size of gradients", 206)
def _optimizer(f: Figure) -> None:
    m = reference("optimizer")
    at = f.plot((34, 34, 170, 120), (0, 4, 12, 16), (0, 0.5, 1))
    f.text(12, 18, "learning rate, by step", "h")
    steps = [number / 4 for number in range(65)]
    f.path((at(s, m.warmup_cosine(s, warmup=4, total=12, peak=1.0)) for s in steps), "la w")
    f.text(40, 186, "warm-up to 4, cosine to 12", "s")
    f.text(240, 18, "gradient and step, t = 1 to 4", "h")
    weight = torch.nn.Parameter(torch.tensor(1.0))
    optimizer = m.AdamW([weight], lr=0.1, weight_decay=0.0)
    for number, gradient in enumerate((0.5, 0.5, -0.1, 0.001)):
        before = float(weight)
        weight.grad = torch.tensor(gradient)
        optimizer.step()
        x = 252 + 46 * number
        for shift, value, look, scale in ((0, gradient, "b", 160), (18, before - float(weight), "a", 800)):
            high = scale * value
            f.box(x + shift, 124 - max(high, 0), 16, max(abs(high), 1), look, 0.7)
        f.text(x + 17, 154, f"t = {number + 1}", "s m")
    f.path([(244, 124), (432, 124)])
    f.box(246, 176, 11, 11, "b", 0.7)
    f.text(261, 186, "gradient", "s")
    f.box(320, 176, 11, 11, "a", 0.7)
    f.text(335, 186, "AdamW, × 5", "s")


@figure("loss-and-loop", "The mean of a batch in two parts, one of them with padding", 190)
def _loss_and_loop(f: Figure) -> None:
    losses = torch.tensor([[1.0, 2, 3, 2], [5, 0, 0, 0]])
    targets = torch.tensor([[0, 0, 0, 0], [0, -100, -100, -100]])
    with torch.enable_grad():  # the model is a table with the loss of each target
        model = torch.nn.Embedding.from_pretrained(losses.view(-1, 1), freeze=False)
        parts = list(zip(torch.arange(8).view(2, 4), targets, strict=True))
        whole = reference("loss-and-loop").accumulate(model, parts, lambda row, target: row[target != -100].mean())
    means = [float(row[target != -100].mean()) for row, target in zip(losses, targets, strict=True)]
    f.text(12, 18, "losses of the targets", "h")
    for i, (row, target) in enumerate(zip(losses.tolist(), targets.tolist(), strict=True)):
        f.text(12, 54 + 50 * i, f"part {i + 1}", "s")
        for j, (loss, word) in enumerate(zip(row, target, strict=True)):
            f.box(54 + 34 * j, 36 + 50 * i, 34, 28)
            if word == 0:
                f.box(54 + 34 * j, 36 + 50 * i, 34, 28, "ab"[i], 0.35)
                f.text(71 + 34 * j, 55 + 50 * i, f"{loss:g}", "m")
        f.text(54, 79 + 50 * i, f"mean {means[i]:g} of {target.count(0)}", "s")
    f.text(240, 18, "mean of the batch", "h")
    counts = (targets == 0).sum(1)
    ways = {
        "mean of means": [mean / 2 for mean in means],
        "accumulate": (counts / counts.sum() * torch.tensor(means)).tolist(),
    }
    for i, (name, shares) in enumerate(ways.items()):
        total, top = sum(shares), 150.0
        for share, look in zip(shares, "ab", strict=True):
            top -= 30 * share
            f.box(262 + 90 * i, top, 46, 30 * share, look, 0.7)
        f.text(285 + 90 * i, top - 6, f"{total if i == 0 else whole:g}", "m")
        f.text(285 + 90 * i, 166, name, "s m")
    f.path([(248, 150), (432, 150)])
    f.text(12, 183, "a tint for what each part contributes; empty cells are padding", "s")


@figure("accounting", "Where GPT-2's operations are, for texts of four lengths", 196)
def _accounting(f: Figure) -> None:
    account = reference("accounting")
    config = account.Config(50257, 768, 12, 12, 12, 3072, learned_positions=1024, bias=True, norm="layer")
    looks = {"pairs of positions": "a", "logits": "c", "layers' matrices": "b"}
    for i, tokens in enumerate((128, 1024, 8192, 65536)):
        whole = account.flops(config, tokens)
        pairs = 4 * tokens**2 * config.num_layers * config.d_model
        logits = 2 * tokens * config.d_model * config.vocab_size
        top, x = 150.0, 34 + 62 * i
        for size, look in zip((pairs, logits, whole - pairs - logits), looks.values(), strict=True):
            top -= 130 * size / whole
            f.box(x, top, 44, 130 * size / whole, look, 0.7)
        f.text(x + 22, 166, f"{tokens:,}", "s m")
        f.text(x + 22, 146 if pairs / whole > 0.1 else 16, f"{pairs / whole:.0%}", "m")
    f.path([(24, 150), (282, 150)])
    f.text(153, 186, "tokens of the text", "s m")
    for i, (name, look) in enumerate(reversed(looks.items())):
        f.box(300, 40 + 34 * i, 16, 16, look, 0.7)
        f.text(322, 52 + 34 * i, name)


@figure("masked-lm", "A sentence with hidden words, and what is chosen of many", 226)
def _masked_lm(f: Figure) -> None:
    words = ["this", "tired", "child", "mends", "the", "rope"]
    inputs = ["this", "tired", "<mask>", "mends", "lamp", "rope"]
    targets = ["", "", "child", "", "the", ""]
    for y, name, row in ((14, "text", words), (54, "inputs", inputs), (94, "targets", targets)):
        f.text(56, y + 15, name, "s e")
        for place, word in enumerate(row):
            changed = bool(targets[place])
            colour = "" if not changed else {"text": "c", "inputs": "b", "targets": "c"}[name]
            f.named(64 + 62 * place, y, 58, word if word else "-100", colour)
            if changed and y < 94:
                f.path([(93 + 62 * place, y + 23), (93 + 62 * place, y + 38)], "l tip")
    tokens = torch.randint(10, 400, (4, 46), generator=torch.Generator().manual_seed(37))
    seen, asked = reference("masked-lm").hide(
        tokens, mask_id=1, vocab_size=400, special_ids=range(10), generator=torch.Generator().manual_seed(37)
    )
    kinds = {
        "<mask>": seen == 1,
        "random": (seen != tokens) & (seen != 1),
        "as it was": (asked >= 0) & (seen == tokens),
    }
    f.text(12, 152, "184 other tokens at a rate of 15%", "s")
    f.grid(12, 160, (9, 9), torch.zeros(4, 46))
    for (name, where), look, x in zip(kinds.items(), "bca", (12, 112, 216), strict=True):
        for row, column in where.nonzero().tolist():
            f.box(12.5 + 9 * column, 160.5 + 9 * row, 8, 8, look)
        f.box(x, 206, 10, 10, look)
        f.text(x + 14, 215, f"{name}: {int(where.sum())}", "s")


@figure("transfer", "Which layers learn, and how fast", 216)
def _transfer(f: Figure) -> None:
    layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(4))
    rates = [group["lr"] for group in reference("transfer").layerwise_groups(layers, 0.001, 0.8)]
    ways = {"frozen": [0.0] * 4, "tuned": [0.001] * 4, "rates by layer": rates}
    for column, (name, speeds) in enumerate(ways.items()):
        x = 66 + 122 * column
        f.text(x + 55, 18, name, "h m")
        f.named(x, 28, 110, "head", "b")
        for number, rate in enumerate(speeds):
            y = 154 - 32 * number
            f.path([(x + 55, y), (x + 55, y - 10)], "l tip")
            f.box(x, y, 110, 22, "box" if rate else "box d")
            if rate:
                f.box(x, y, 110, 22, "a", 0.62 * (rate / 0.001) ** 3)
            f.text(x + 55, y + 15.5, f"{rate:.3g}" if rate else "0", "m")
    for number in range(4):
        f.text(58, 169 - 32 * number, f"layer {number}", "s e")
    f.text(58, 43, "new", "s e")
    f.text(66, 202, "blue: learning rate · dashed: no gradient is kept", "s")


@figure("lora", "A weight, a column times a row, and what both are together", 150)
def _lora(f: Figure) -> None:
    base, solution = torch.nn.Linear(3, 2, bias=False), reference("lora")
    base.weight.data = torch.tensor([[1.0, 0, 2], [0, 1, -1]])
    layer, before = solution.LoRALinear(base, 1, 2.0), base.weight.clone()
    layer.A.data, layer.B.data = torch.tensor([[1.0, 2, -1]]), torch.tensor([[0.5], [-1.0]])
    solution.merge(layer)
    parts = (("W", 12, 50, before, "c"), ("B", 152, 50, layer.B, "b"), ("A", 192, 16, layer.A, "b"),
             ("B A", 192, 50, layer.B @ layer.A, ""), ("W + 2 · B A", 324, 50, base.weight, "a"))  # fmt: skip
    for name, x, y, values, look in parts:
        for i, row in enumerate(values.tolist()):
            for j, value in enumerate(row):
                f.box(x + 34 * j, y + 28 * i, 34, 28, "box" if look else "box d")
                if look:
                    f.box(x + 34 * j, y + 28 * i, 34, 28, look, 0.25)
                f.text(x + 17 + 34 * j, y + 19 + 28 * i, f"{value:g}", "m")
        if name == "A":
            f.text(x + 110, y + 19, name, "s")
        else:
            f.text(x + 17 * values.shape[1], y + 28 * values.shape[0] + 16, name, "s m")
    f.text(133, 82, "+ 2 ·", "m")
    f.text(309, 82, "=", "m")
    f.text(12, 142, "one column and one row, five numbers, change all six cells", "s")


@figure("preferences", "The loss of a pair by its margin, and the objective of a token by its ratio", 236)
def _preferences(f: Figure) -> None:
    solution, zero, pair = reference("preferences"), torch.zeros(1), math.log(6)
    f.text(12, 18, "DPO: loss of a pair", "h")
    at = f.plot((40, 30, 156, 150), (-4, -2, 0, 2, 4), (0, 1, 2, 3, 4))
    f.text(*at(0, -0.75), "h", "s m")
    f.path([at(0, 0), at(0, math.log(2))], "l d")
    for row, (beta, look) in enumerate(((1.0, "a"), (0.5, "c"), (0.1, "b"))):
        margins = [*(step / 5 for step in range(-20, 21)), pair]
        losses = (float(solution.dpo_loss(torch.tensor([h]), zero, zero, zero, beta)) for h in margins)
        *line, dot = map(at, margins, losses)
        f.path(line, f"l{look} w")
        f.dot(*dot, look)
        f.path([(110, 44 + 16 * row), (126, 44 + 16 * row)], f"l{look} w")
        f.text(132, 48 + 16 * row, f"β = {beta:g}", "s")
    f.text(236, 18, "GRPO: J of a token, ε = 0.2", "h")
    at = f.plot((262, 30, 162, 150), (0, 0.5, 1, 1.5, 2), (-2, -1, 0, 1, 2))
    f.text(*at(1, -2.75), "ratio", "s m")
    f.path([at(0, 0), at(2, 0)], "l d")
    old, keep = torch.zeros(1, 1), torch.ones(1, 1).bool()
    for advantage, look, dots in ((1, "a", (1.0, 2.0)), (-1, "b", (1.0, 1 / 3))):
        ratios = (0.001, 0.8, 1.2, 2.0, *dots)
        A = torch.tensor([float(advantage)])
        heights = (-float(solution.grpo_loss(old + math.log(ratio), old, A, keep, 0.2)) for ratio in ratios)
        points = [*map(at, ratios, heights)]
        f.path(points[:4], f"l{look} w")
        for point in points[4:]:
            f.dot(*point, look)
        f.text(*at(0.35, 1.0 if advantage > 0 else -1.4), f"A = {advantage}", "s")
    f.text(12, 230, "dots: the pair of the example, h = ln 6, and its tokens; flat: no gradient", "s")


@figure("look-inside", "An induction head's attention map", 392)
def _look_inside(f: Figure) -> None:
    story, modern = given(ROOT / "katas/given/story.py"), reference("modern-block")
    model = modern.ModernLM(**story.SIZES)
    model.load_state_dict(story.weights())
    names, heads = "Zarega Pabi Gebi Kudasi ", story.SIZES["num_heads"]
    once, period = story.encode(names)[None], len(names)
    caught = {}
    attention = model.layers[-1].attention
    for name in ("w_q", "w_k"):
        getattr(attention, name).register_forward_hook(
            lambda _m, _a, out, name=name: caught.update({name: out})
        )
    model(once.repeat(1, 2))
    q, k = (
        modern.rotate(attention._heads(caught[name]), torch.arange(2 * period)) for name in ("w_q", "w_k")
    )
    k = k.repeat_interleave(heads // k.shape[1], dim=1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = scores.masked_fill(torch.ones_like(scores[0, 0]).tril() == 0, -torch.inf).softmax(-1)[0]
    measured = reference("look-inside").induction_score(weights, period)
    seen = weights[:, period:, :period]
    order = measured.argsort(descending=True).tolist()
    cell, letters = 11.5, names.replace(" ", "·")
    for left, size, head in ((30, cell, order[0]), (326, 4.5, order[-1])):
        f.text(left - 12, 18, f"head {head}: score {measured[head]:.2f}", "h")
        f.heat((left, 58, size * period, size * period), seen[head], float(seen[order[0]].max()))
    for number, letter in enumerate(letters):
        f.text(30 + cell * (number + 0.5), 53, letter, "m")
        f.text(20, 58 + cell * (number + 0.5) + 4, letter, "m")
    f.text(30, 37, "across: the first copy; down: the second", "s")
    f.text(326, 182, "the same letters", "s")
    f.text(18, 356, "layer 2; the darker, the more weight", "s")
    f.text(18, 374, "one cell right of the diagonal: the letter that came next", "s")


@figure("modern-block", "Query heads that share keys and values", 252)
def _modern_block(f: Figure) -> None:
    for row, (name, groups) in enumerate((("G = 6, 9.3.2", 6), ("G = 2, GQA", 2), ("G = 1, multi-query", 1))):
        y = 18 + 72 * row
        f.text(12, y + 14, name, "h")
        module = reference("modern-block").GroupedQueryAttention(24, 6, groups)
        for head in range(6):
            shared = head // module.groups
            centre = 166 + 40 * (shared * module.groups + (module.groups - 1) / 2)
            f.path([(166 + 40 * head, y + 22), (centre, y + 40)])
        for head in range(6):
            f.named(150 + 40 * head, y, 32, f"q{head}")
        for shared in range(groups):
            centre = 166 + 40 * (shared * module.groups + (module.groups - 1) / 2)
            f.named(centre - 16, y + 40, 32, f"kv{shared}", "b")
        size = module.w_k.weight.numel() // 24
        f.text(12, y + 34, f"cache: {2 * size} numbers", "s")
        f.text(12, y + 49, "a position, for d = 4", "s")
    f.text(150, 246, "lines: which keys and values a query head reads", "s")


@figure("long-attention", "Which scores are computed", 210)
def _long_attention(f: Figure) -> None:
    length, block, few = 16, 4, 4
    causal = torch.ones(length, length).tril()
    place = torch.arange(length) // block
    same = causal * (place[:, None] == place)
    for column, name in enumerate(("softmax", "linear, in blocks", "Linformer")):
        x = 12 + 148 * column
        f.text(x, 18, name, "h")
        if column == 2:
            f.grid(x, 30, (8, 8), torch.ones(length, few))
            f.text(x, 176, f"{length * few} scores: T · k", "s")
            f.text(x, 190, "T keys mixed to k = 4", "s")
            continue
        f.grid(x, 30, (8, 8), causal if column == 0 else same)
        if column:
            for number in range(1, length // block):
                f.box(x, 30 + 32 * number, 32 * number, 32, "b", 0.35)
            f.text(x, 190, "orange: in the sums S, z", "s")
        f.text(x, 176, f"{int((same if column else causal).sum())} scores", "s")
    f.text(12, 190, "all pairs up to its own", "s")
    f.text(12, 206, "row: query, column: key, for 16 positions", "s")


@figure("patches", "An image, its patches and one of them in a row", 270)
def _patches(f: Figure) -> None:
    shapes = given(ROOT / "katas/9.8-modern-variants/patches/shapes.py")
    image = (shapes.draw(4, torch.Generator().manual_seed(5), noise=0.0).images[3:4, :1] > 0).float()
    patches = reference("patches").patchify(image, 4)[0]
    f.text(12, 18, "image, 16 × 16", "h")
    f.heat((12, 30, 128, 128), image[0, 0])
    for line in range(1, 4):
        f.path([(12 + 32 * line, 30), (12 + 32 * line, 158)], "lb")
        f.path([(12, 30 + 32 * line), (140, 30 + 32 * line)], "lb")
    f.path([(146, 94), (168, 94)], "l tip")
    f.text(176, 18, "16 patches", "h")
    for number, patch in enumerate(patches):
        x, y = 176 + 40 * (number % 4), 30 + 42 * (number // 4)
        f.heat((x, y, 26, 26), patch.reshape(4, 4))
        f.text(x + 13, y + 38, number, "s m")
    f.text(12, 222, "patch 5 as a row of 16 numbers: its rows one after the other", "h")
    f.heat((12, 232, 416, 12), patches[5][None])
    f.text(12, 262, "a cross without noise, one channel; blue: light pixels", "s")


@figure("mixture-of-experts", "Four tokens on their way to four experts, each with room for two", 236)
def _mixture_of_experts(f: Figure) -> None:
    tokens = {"the": [1.0, 3, 2, 0], "red": [0, 2, 2, 1], "fox": [2, 3, 0, 1], "ran": [0, 1, 1, 3]}
    solution, logits = reference("mixture-of-experts"), torch.tensor(list(tokens.values()))
    layer, taken = solution.MoE(4, 1, experts=4, k=2, capacity=2), {}
    layer.router.weight.data = torch.eye(4)  # a token is its own logits
    for number, expert in enumerate(layer.experts):
        expert.register_forward_pre_hook(lambda _m, given, n=number: taken.update({n: given[0].tolist()}))
    layer(logits[None])
    f.text(40, 18, "tokens", "h m")
    f.text(300, 18, "experts, each with room for two", "h m")
    chosen = solution.route(logits, 2)[1].tolist()
    for i, (word, row) in enumerate(tokens.items()):
        y = 34 + 48 * i
        f.named(14, y, 52, word, "a")
        f.text(208, y + 15, f"expert {i}", "s")
        names = [name for name in tokens if tokens[name] in taken[i]]
        for slot, name in enumerate([*names, "", ""][:2]):
            f.named(266 + 62 * slot, y, 54, name, "a" if name else "")
        for expert in chosen[i]:
            look = "la tip" if row in taken[expert] else "lb d tip"
            f.path([(68, y + 11), (202, 39 + 48 * expert + 4 * i)], look)
    f.text(14, 228, "dashed: no room left, so this expert adds nothing to the token", "s")


@figure("tiled-attention", "Weights that are corrected from tile to tile, and the tiles of causal attention", 340)
def _tiled_attention(f: Figure) -> None:
    scores, values = torch.tensor([1.0, 3, 2, 6, 4]), torch.tensor([10.0, 40, 20, 30, 50])
    query, key = torch.ones(1, 4), scores[:, None].expand(5, 4) / 2
    solution = reference("tiled-attention")
    f.text(12, 18, "exp(s − m) of one query, after each tile of two keys", "h")
    for number, score in enumerate(scores.tolist()):
        f.text(88 + 44 * number, 38, f"s = {score:.0f}", "s m")
    for column, words in enumerate(("m", "l", "a / l")):
        f.text(318 + 50 * column, 38, words, "s m")
    for tile, (first, seen) in enumerate(((0, 2), (2, 4), (4, 5))):
        y, largest = 46 + 30 * tile, float(scores[:seen].max())
        output, logsumexp = solution.tiled_attention(query, key[:seen], values[:seen, None], block=2)
        f.text(12, y + 16, f"tile {tile}", "s")
        f.box(66, y, 220, 26)  # keys to come are an empty box
        f.grid(66, y, (44, 26), (scores[None, :seen] - largest).exp(), ".2f")
        x, end = 66 + 44 * first, 66 + 44 * seen
        f.path([(x, y), (end, y), (end, y + 26), (x, y + 26), (x, y)], "lb w")
        for column, number in enumerate((largest, float((logsumexp - largest).exp()), float(output))):
            f.text(318 + 50 * column, y + 16, f"{number:.2f}" if column else f"{number:.0f}", "m")
    f.text(12, 152, "orange: the tile just read; everything to its left is corrected to the new m", "s")
    queries, keys, side, cell = 7, 10, 4, 14
    f.text(12, 184, "seven queries, ten keys, causal, in tiles of four", "h")
    future = torch.arange(keys) > torch.arange(queries)[:, None] + keys - queries
    rows = [(at, min(at + side, queries)) for at in range(0, queries, side)]
    columns = [(at, min(at + side, keys)) for at in range(0, keys, side)]
    for i, (top, bottom) in enumerate(rows):
        for j, (left, right) in enumerate(columns):
            x, y, hidden = 66 + cell * left + 12 * j, 196 + cell * top + 12 * i, future[top:bottom, left:right]
            f.grid(x, y, (cell, cell), (~hidden).float())
            whole, w, h = bool(hidden.all()), cell * (right - left), cell * (bottom - top)
            if hidden.any():
                f.path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], "lb w" + " d" * whole)
    for place, words in enumerate(("blue: seen", "orange: needs the mask", "dashed: skipped, never computed")):
        f.text(250, 216 + 20 * place, words, "s")
    f.text(12, 330, "row: query, column: key; the last query sees all keys", "s")


def _log(f: Figure, kata: str, vocabulary: int, known: tuple[str, float]) -> None:
    """Draw the runs that differ in their seed alone: what a healthy curve looks like, and how far chance goes."""
    rows = list(csv.DictReader(io.StringIO(reference(kata).training_log())))
    steps = max(int(row["step"]) for row in rows)
    at = f.plot((40, 16, 380, 150), (1, 40, 80, 120, steps), (0, 1, 2, 3, 4))
    for height, words in ((math.log(vocabulary), f"knows nothing: ln {vocabulary}"), (known[1], known[0])):
        f.path([at(1, height), at(steps, height)], "l d")
        f.text(at(steps, height)[0], at(steps, height)[1] - 5, words, "s e")
    for run, look in (("base-2", "lb d"), ("base-3", "lb d"), ("base-4", "lb d"), ("base", "la w")):
        f.path((at(int(r["step"]), float(r["loss"])) for r in rows if r["run"] == run), look)
    f.path([(40, 200), (64, 200)], "la w")
    f.text(70, 204, "base, seed 1")
    f.path([(180, 200), (204, 200)], "lb d")
    f.text(210, 204, "base-2 to base-4")
    f.text(420, 204, "loss, by step", "s e")


@figure("language-model-capstone", "The loss of four runs that differ in their seed", 214)
def _language_model(f: Figure) -> None:
    _log(f, "language-model-capstone", 57, ("what a bigram pays: 2.05", 2.05))


@figure("translator-capstone", "The loss of four runs that differ in their seed", 214)
def _own_translator(f: Figure) -> None:
    _log(f, "translator-capstone", 42, ("where base runs have to end: 0.5", 0.5))
