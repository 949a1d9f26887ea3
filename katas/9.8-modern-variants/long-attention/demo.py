"""Attention for long sequences live: what length costs, what the weights become, and how few keys will do."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, lines, panel, question, table

try:
    from mine import linear_attention

    OWN = True
except ImportError:  # the learner's does not pass yet: blocks in turn
    OWN = False

    def linear_attention(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
        """Carry both sums along as one, values with a column of ones."""
        q, k = F.elu(query) + 1, F.elu(key) + 1
        v = F.pad(value, (0, 1), value=1.0)
        if not causal:
            y = q @ (k.mT @ v)
        else:
            state, parts = k[..., :1, :].mT * v[..., :1, :] * 0, []
            for a, b, c in zip(q.split(64, -2), k.split(64, -2), v.split(64, -2), strict=True):
                parts.append(a @ state + (a @ b.mT).tril() @ c)
                state = state + b.mT @ c
            y = torch.cat(parts, -2)
        return y[..., :-1] / y[..., -1:]


HEADS, WIDTH, MIXED = 4, 32, 64
LENGTHS = (256, 512, 1024, 2048, 4096)
WHOSE = "" if OWN else " (given: yours takes its place when it passes)"


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    return [*_by_length(), _weights(), _sharpness(), _recall(), _recurrent(), _low_rank(), _question()]


def _by_length() -> list[Exhibit]:
    """Time each way at each length, in turn, several rounds; the fastest counts."""

    def softmax(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (q @ k.mT * WIDTH**-0.5).softmax(-1) @ v

    def mixed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mixture = torch.full((MIXED, k.shape[-2]), k.shape[-2] ** -0.5)
        return softmax(q, mixture @ k, mixture @ v)

    ways: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
        "softmax, all pairs": softmax,
        f"{MIXED} mixtures (Linformer)": mixed,
        "linear": linear_attention,
        "linear, causal": lambda q, k, v: linear_attention(q, k, v, causal=True),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for length in LENGTHS:
        given = tuple(torch.randn(HEADS, length, WIDTH) for _ in range(3))
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(8):  # the least of them: other programs only make one slower
            for name, way in ways.items():
                since = time.perf_counter()
                way(*given)
                best[name] = min(best[name], time.perf_counter() - since)
        for name, seconds in best.items():
            took[name].append(1000 * seconds)
    grown = {name: ms[-1] / ms[-3] for name, ms in took.items()}
    odd = [name for name, factor in grown.items() if (factor < 8) == (name == "softmax, all pairs")]
    otherwise = f" That is not so here: {', '.join(odd)}. Something else was running, or it is computed in another way."
    held = {
        "softmax, all pairs": [HEADS * length**2 for length in LENGTHS],
        f"{MIXED} mixtures (Linformer)": [HEADS * length * MIXED for length in LENGTHS],
        "linear": [HEADS * WIDTH * (WIDTH + 1) for _ in LENGTHS],
    }
    return [
        lines(
            "What length costs: time",
            {name: (LENGTHS, ms) for name, ms in took.items()},
            x_axis="positions",
            y_axis="milliseconds",
            log_x=True,
            log_y=True,
            note="From 1,024 to 4,096 positions: "
            + "; ".join(f"{name}: ×{factor:.1f}" for name, factor in grown.items())
            + ". A line with the slope 1 grows as the length does (×4), one with 2 as its square (×16)."
            + (otherwise if odd else "")
            + WHOSE,
        ),
        lines(
            "What length costs: numbers that are held",
            {name: (LENGTHS, [4 * n / 2**20 for n in numbers]) for name, numbers in held.items()},
            x_axis="positions",
            y_axis="MiB",
            log_x=True,
            log_y=True,
            note="Scores of one layer with 4 heads in float32, counted: all pairs, k for each query, or S and z of "
            "linear attention, which do not know how long the text is.",
        ),
    ]


def _seen(query: Tensor, key: Tensor, causal: bool) -> Tensor:
    """Return the weights: values that are an identity give them away."""
    return linear_attention(query, key, torch.eye(len(key)), causal=causal)


def _weights() -> Exhibit:
    query, key = (2 * torch.randn(12, WIDTH) for _ in range(2))
    key[7] = query[4]
    scores = query @ key.mT * WIDTH**-0.5
    hidden = torch.ones(12, 12, dtype=torch.bool).triu(1)
    frames = {}
    for name, causal in (("both sides", False), ("causal", True)):
        exact = scores.masked_fill(hidden, -torch.inf) if causal else scores
        frames[name] = heatmap(
            "weights",
            [
                panel("softmax", exact.softmax(-1), range(12), range(12)),
                panel("linear", _seen(query, key, causal), range(12), range(12)),
            ],
        )
    return choice(
        "The same queries and keys, two kinds of weights",
        "which keys are seen",
        frames,
        note="Key 7 is made equal to query 4. The softmax points at it; products of elu + 1 are spread out.",
    )


def _sharpness() -> Exhibit:
    """How much of the weight the one right key gets, among more and more others."""
    counts, exact, flat = (4, 16, 64, 256, 1024), [], []
    for count in counts:
        key = F.normalize(torch.randn(40, count, WIDTH), dim=-1) * WIDTH**0.5
        query = key[:, :1] * 2
        exact.append(100 * float((query @ key.mT * WIDTH**-0.5).softmax(-1)[..., 0].mean()))
        eye = F.pad(torch.ones(40, 1, 1), (0, 0, 0, count - 1))
        flat.append(100 * float(linear_attention(query, key, eye).mean()))
    return bars(
        "How much of the weight the one right key gets",
        counts,
        {"softmax": exact, "linear": flat},
        y_axis="% of the weight",
        note=f"The query is twice the key that it looks for; the others are random. Among 1,024 keys softmax gives it "
        f"{exact[-1]:.0f}%, linear attention {flat[-1]:.1f}%.",
    )


def _recall() -> Exhibit:
    """How many things a state of D x Dv can hold: each key has two features of D that are not near 0."""
    counts = (4, 16, 64, 128, 256)
    right: dict[str, list[float]] = {"softmax": [], "linear": []}
    pairs = torch.combinations(torch.arange(WIDTH), 2)
    for count in counts:
        chosen = torch.stack([pairs[torch.randperm(len(pairs))[:count]] for _ in range(8)])
        key = torch.full((8, count, WIDTH), -6.0).scatter(-1, chosen, 14.0)
        value = torch.randn(8, count, WIDTH)
        reads = {
            "softmax": (key @ key.mT * WIDTH**-0.5).softmax(-1) @ value,
            "linear": linear_attention(key, key, value),
        }
        for name, read in reads.items():
            found = torch.cdist(read, value).argmin(-1) == torch.arange(count)
            right[name].append(100 * float(found.float().mean()))
    return bars(
        "Looking things up: which value belongs to this key?",
        counts,
        right,
        y_axis="% found again",
        note="Pairs of a key and a value are stored, and each key is asked for its value; keys are as far apart as "
        f"suits linear attention best. A state of {WIDTH} x {WIDTH} numbers fills up; a cache of all keys does not.",
    )


def _recurrent() -> Exhibit:
    """The same numbers, a step at a time, from S and z alone."""
    query, key, value = (torch.randn(6, WIDTH) for _ in range(3))
    whole = linear_attention(query, key, value, causal=True)
    state, norm, rows = torch.zeros(WIDTH, WIDTH), torch.zeros(WIDTH), []
    for t in range(6):
        q, k = F.elu(query[t]) + 1, F.elu(key[t]) + 1
        state, norm = state + torch.outer(k, value[t]), norm + k
        y = q @ state / (q @ norm)
        rows.append(
            [
                t,
                state.numel() + norm.numel(),
                (t + 1) * 2 * WIDTH,
                f"{float(y[0]):+.4f}",
                f"{float(whole[t, 0]):+.4f}",
                f"{float((y - whole[t]).abs().max()):.0e}",
            ]
        )
    return table(
        "Step by step: a recurrent network",
        [
            "position",
            "numbers in S and z",
            "in a cache",
            "y[0], step by step",
            "y[0], all at once",
            "apart by",
        ],
        rows,
        note="The state is as large at the first word as at the millionth. A cache is larger after "
        f"{(WIDTH * WIDTH + WIDTH) // (2 * WIDTH) + 1} positions.",
    )


def _low_rank() -> Exhibit:
    """How much of a softmax's matrix its largest patterns hold: what a Linformer counts on."""
    length, kept = 128, (1, 2, 4, 8, 16, 32, 64, 128)
    x = torch.randn(length, WIDTH).cumsum(0) / torch.arange(1, length + 1)[:, None] ** 0.5
    series = {}
    for name, factor in (("flat", 0.5), ("sharp", 2.0), ("very sharp", 6.0)):
        scores = factor * x @ torch.randn(WIDTH, WIDTH) @ x.mT / WIDTH
        values = torch.linalg.svdvals(scores.softmax(-1)) ** 2
        series[name] = (kept, [100 * float(values[:k].sum() / values.sum()) for k in kept])
    return lines(
        "How few patterns hold a matrix of weights",
        series,
        x_axis="patterns kept, of 128",
        y_axis="% held",
        log_x=True,
        note="Softmax weights of 128 positions whose neighbours are alike, by their singular values. Mixing down to k "
        "costs what lies beyond k: little where weights are flat, more where each query points at one key.",
    )


def _question() -> Exhibit:
    return question(
        "From 1,024 to 4,096 positions: which kinds of attention take about 4 times as long, and which about "
        "16 times?",
        seen="What length costs: time",
        answer="Those that never make a table of all pairs, linear attention and Linformer, grow as the length does. "
        "Full attention grows as its square.",
    )
