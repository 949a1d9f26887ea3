"""The encoder layer live: its parameters, those of BERT and GPT-2, what depth costs and is good for, shared layers."""

from __future__ import annotations

import time

import torch
from mine import Encoder, EncoderLayer
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, lines, panel, question, table

D_MODEL, HEADS, D_FF = 64, 4, 256
LENGTHS = [32, 64, 128, 256, 512]
DEPTHS = [1, 2, 4, 8]
PLACES, WIDTH, STEPS, HOPS = 8, 32, 200, 3
"""The task of the trained stacks: so many places, each with an arrow to another; follow so many arrows."""
STACKS = {
    "1 layer": "A",
    "2 layers": "AB",
    "4 layers": "ABCD",
    "1 layer, run twice": "AA",
    "1 layer, run 4 times": "AAAA",
    "2 layers, alternating": "ABAB",
    "2 layers, each twice": "AABB",
    "6 layers": "ABCDEF",
    "12 layers": "ABCDEFGHIJKL",
}
"""Which layer is run in which place: one letter is one set of weights."""
DEEPER = ("1 layer", "2 layers", "4 layers", "6 layers", "12 layers")
MODELS = {  # layers, width, heads, inner width, words, positions; BERT tells two segments apart, and has a pooler
    "BERT-base": (12, 768, 12, 3072, 30522, 512, True),
    "BERT-large": (24, 1024, 16, 4096, 30522, 512, True),
    "GPT-2": (12, 768, 12, 3072, 50257, 1024, False),
    "GPT-2 XL": (48, 1600, 25, 6400, 50257, 1024, False),
}


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    return [
        _parameters(),
        _known_models(),
        _cost_by_length(),
        _time_by_length(),
        _cost_by_depth(),
        *_trained(),
        _similarity(),
        _size_by_depth(),
        _question(),
    ]


def count(module: nn.Module) -> int:
    """Return the number of parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


def flops(length: int) -> dict[str, float]:
    """Return the multiply-adds of one layer for one sequence, twice each as is usual."""
    return {
        "projections (4 D²)": 2 * length * 4 * D_MODEL**2,
        "scores and averages (2 T D)": 2 * length * 2 * length * D_MODEL,
        "feed-forward (2 D d_ff)": 2 * length * 2 * D_MODEL * D_FF,
    }


def _parameters() -> Exhibit:
    layer = EncoderLayer(D_MODEL, HEADS, D_FF)
    parts = {name: count(getattr(layer, name)) for name in ("attention", "feed_forward", "norm1", "norm2")}
    rows = [[name, size, f"{size / count(layer):.0%}"] for name, size in parts.items()]
    return table(
        f"Where the parameters are (D = {D_MODEL}, {HEADS} heads, d_ff = {D_FF})",
        ["part", "parameters", "share"],
        [
            *rows,
            ["one layer", count(layer), "100%"],
            ["6 layers and a last norm", count(Encoder(6, D_MODEL, HEADS, D_FF)), ""],
        ],
        note="With d_ff = 4 D the feed-forward network has twice as many as attention. The norms hardly count.",
    )


def _known_models() -> Exhibit:
    rows = []
    for name, (depth, width, heads, inner, words, places, bert) in MODELS.items():
        layers = depth * count(EncoderLayer(width, heads, inner))
        embeddings = (words + places + (2 if bert else 0)) * width
        rest = 2 * width + (width * (width + 1) if bert else 0)  # one norm; and a pooler
        total = layers + embeddings + rest
        rows.append(
            [
                name,
                depth,
                width,
                *(f"{n / 1e6:.1f}" for n in (layers, embeddings, total)),
                f"{layers / total:.0%}",
            ]
        )
    return table(
        "The size of known models, counted with this layer",
        ["model", "layers", "D", "in layers, M", "in embeddings, M", "all, M", "share of layers"],
        rows,
        note="Published are 110 and 340 million (Devlin et al. 2018), 124 and 1,558 (Radford et al. 2019): nothing "
        "else is in them. BERT's layers have their norm after the sum; GPT-2's have it before the sublayer, and a "
        "causal mask. Neither changes the count. GPT-2's output layer is its word embedding again (tied weights).",
    )


def _cost_by_length() -> Exhibit:
    series = {name: (LENGTHS, [flops(length)[name] / 1e6 for length in LENGTHS]) for name in flops(1)}
    return lines(
        "Arithmetic of one layer against the length",
        series,
        x_axis="length T",
        y_axis="million operations",
        log_x=True,
        log_y=True,
        note="Two parts grow with T, one with T². It overtakes the projections at T = 2 D and the rest at T = 6 D.",
    )


def _time_by_length() -> Exhibit:
    layer = EncoderLayer(D_MODEL, HEADS, D_FF).eval()
    times = [_least_ms(layer, torch.randn(4, length, D_MODEL)) for length in LENGTHS]
    per_token = [1000 * t / (4 * length) for t, length in zip(times, LENGTHS, strict=True)]
    return table(
        "Time of one layer, measured here (4 sequences, one thread)",
        ["length", "ms", "µs a token"],
        [[length, round(t, 2), round(u, 2)] for length, t, u in zip(LENGTHS, times, per_token, strict=True)],
        note=f"Were the cost only linear in the length, a token would cost the same at every length. Here it costs "
        f"{per_token[0]:.1f} µs at {LENGTHS[0]} and {per_token[-1]:.1f} µs at {LENGTHS[-1]}. Two things move it: the "
        "calls, whose cost many tokens share, and the table of T × T, of which each token pays a row.",
    )


def _cost_by_depth() -> Exhibit:
    x = torch.randn(4, 64, D_MODEL)
    times, sizes = [], []
    for depth in DEPTHS:
        encoder = Encoder(depth, D_MODEL, HEADS, D_FF).eval()
        times.append(_least_ms(encoder, x))
        sizes.append(count(encoder) / 1000)
    return table(
        "Depth: parameters and time, measured here",
        ["layers", "thousand parameters", "ms", "ms a layer"],
        [
            [d, round(s, 1), round(t, 2), round(t / d, 2)]
            for d, s, t in zip(DEPTHS, sizes, times, strict=True)
        ],
        note=f"From {DEPTHS[0]} to {DEPTHS[-1]} layers: {sizes[-1] / sizes[0]:.1f} times the parameters, "
        f"{times[-1] / times[0]:.1f} times the time. Layers run one after the other and share nothing.",
    )


class Follower(nn.Module):
    """Layers between embeddings of what is at each place and a guess of where its arrows lead."""

    def __init__(self, pattern: str) -> None:
        super().__init__()
        self.what, self.where = nn.Embedding(PLACES, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.kinds = nn.ModuleDict({kind: EncoderLayer(WIDTH, 4, 2 * WIDTH) for kind in sorted(set(pattern))})
        self.norm, self.head, self.pattern = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, PLACES), pattern

    def states(self, arrows: Tensor) -> list[Tensor]:
        """Return what goes into the first layer and what comes out of each, [B, T, D]."""
        states = [self.what(arrows) + self.where.weight]
        for kind in self.pattern:
            states.append(self.kinds[kind](states[-1]))
        return states

    def forward(self, arrows: Tensor) -> Tensor:
        """Return logits [B, T, places]."""
        return self.head(self.norm(self.states(arrows)[-1]))


def _arrows(count: int, generator: torch.Generator) -> list[Tensor]:
    """Return where one arrow leads from each place, two, and so on: [B, T] each."""
    first = torch.rand(count, PLACES, generator=generator).argsort(-1)
    found = [first]
    while len(found) < HOPS:
        found.append(first.gather(1, found[-1]))
    return found


def _trained() -> list[Exhibit]:
    curves, rows, models, times = {}, [], {}, {}
    test = _arrows(500, torch.Generator().manual_seed(9))
    for name, pattern in STACKS.items():
        torch.manual_seed(0)
        model, generator = Follower(pattern), torch.Generator().manual_seed(1)
        optimizer = torch.optim.Adam(model.parameters())
        steps, shares, start = [], [], time.perf_counter()
        for step in range(STEPS + 1):
            if step % 40 == 0:
                with torch.no_grad():
                    right = (model(test[0]).argmax(-1) == test[-1]).float().mean()
                steps.append(step)
                shares.append(100 * float(right))
            optimizer.param_groups[0]["lr"] = 5e-3 * min(1.0, (step + 1) / 20, 2 * (1 - step / (STEPS + 1)))
            arrows = _arrows(48, generator)
            loss = F.cross_entropy(model(arrows[0]).flatten(0, 1), arrows[-1].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        models[name], curves[name] = model, (steps, shares)
        times[name] = time.perf_counter() - start
        rows.append([name, pattern, count(model.kinds), round(times[name], 1), f"{shares[-1]:.0f}%"])
    return [
        lines(
            "What depth is good for: following three arrows, by training step",
            {name: curves[name] for name in DEEPER},
            x_axis="training step",
            y_axis="% right on new arrows",
            note=f"Each of {PLACES} places holds an arrow to another one; the answer is where three of them lead. A "
            "layer looks once, and with what it brings back the next one can ask. At the end, "
            + "; ".join(f"{name}: {curves[name][1][-1]:.0f}%" for name in DEEPER)
            + f". A guess is right in {100 / PLACES:.0f}%. What the task does not ask for is paid in time: "
            f"{times['4 layers']:.0f} s of training with 4 layers, {times['12 layers']:.0f} s with 12.",
        ),
        table(
            "One set of weights for several layers, on the same task",
            ["stack", "layers", "parameters in layers", "seconds of training", "right"],
            rows,
            note=f"Sharing saves parameters, not time: {rows[4][2]:,} for four runs of one layer, {rows[2][2]:,} for "
            "four layers. ALBERT (Lan et al. 2019) runs one layer twelve times. Here one layer is right in "
            f"{rows[0][4]} when it runs once, in {rows[3][4]} when it runs twice.",
        ),
        _known_by_layer({name: models[name] for name in ("2 layers", "4 layers")}),
    ]


@torch.no_grad()
def _known_by_layer(models: dict[str, Follower]) -> Exhibit:
    """Read off each layer by a linear probe how many arrows were followed so far."""
    train, test = (_arrows(400, torch.Generator().manual_seed(seed)) for seed in (10, 11))
    frames = {}
    for name, model in models.items():
        learned, asked = (model.states(one[0]) for one in (train, test))
        shares = []
        for states, others in zip(learned, asked, strict=True):
            x, y = (
                torch.cat((one.flatten(0, 1), torch.ones(one[..., 0].numel(), 1)), 1)
                for one in (states, others)
            )
            fit = torch.linalg.inv(x.T @ x + 1e-2 * torch.eye(x.shape[1])) @ x.T
            row = []
            for wanted, really in zip(train, test, strict=True):
                found = (y @ (fit @ F.one_hot(wanted.flatten(), PLACES).float())).argmax(-1)
                row.append(round(100 * float((found == really.flatten()).float().mean())))
            shares.append(row)
        labels = ["embeddings", *(f"layer {number}" for number in range(1, len(shares)))]
        frames[name] = heatmap(
            "% right",
            [panel(name, shares, labels, ["one arrow", "two arrows", "three arrows"])],
            row_axis="after",
            column_axis="what a linear probe reads off",
        )
    return choice(
        "What trained layers know: representations, layer by layer",
        "stack",
        frames,
        note="A probe is a linear map from a representation to an answer, fitted apart, by least squares. What stands "
        "in the input is known from the first layer on, what has to be worked out from a later one: so it is with "
        "words, grammar and meaning in BERT (Tenney et al. 2019).",
    )


def _states(encoder: Encoder, x: Tensor) -> list[Tensor]:
    states = [x]
    with torch.no_grad():
        for layer in encoder.layers:
            states.append(layer(states[-1]))
    return states


def _similarity() -> Exhibit:
    x = torch.randn(8, 32, D_MODEL)
    frames, kept = {}, []
    for name, norm_first in (("pre-norm", True), ("post-norm", False)):
        states = [
            s.flatten(0, 1)
            for s in _states(Encoder(6, D_MODEL, HEADS, D_FF, norm_first=norm_first).eval(), x)
        ]
        cosines = [[float(torch.cosine_similarity(a, b, dim=-1).mean()) for b in states] for a in states]
        labels = ["input", *(str(depth) for depth in range(1, 7))]
        kept.append(f"{name} {cosines[0][-1]:.2f}")
        frames[name] = heatmap(
            "cosine",
            [panel(name, cosines, labels, labels)],
            row_axis="after layer",
            column_axis="after layer",
        )
    return choice(
        "How alike are the representations of a token after each layer? (cosine, untrained)",
        "norm",
        frames,
        note=f"Input against the last layer: {', '.join(kept)}. The residual path keeps the input in view.",
    )


def _size_by_depth() -> Exhibit:
    x = torch.randn(8, 32, D_MODEL)
    sizes = {}
    for name, norm_first in (("pre-norm", True), ("post-norm", False)):
        states = _states(Encoder(6, D_MODEL, HEADS, D_FF, norm_first=norm_first).eval(), x)
        sizes[name] = [float(state.norm(dim=-1).mean()) for state in states]
    return bars(
        "Length of a token's vector after each layer",
        ["input", *range(1, 7)],
        sizes,
        y_axis="mean norm",
        note="From the input to the last layer: "
        + ", ".join(f"{name} {lengths[0]:.1f} to {lengths[-1]:.1f}" for name, lengths in sizes.items())
        + ". A pre-norm stream is only ever added to; that is why the encoder ends with a norm of its own.",
    )


@torch.no_grad()
def _least_ms(module: nn.Module, x: Tensor) -> float:
    times = []
    for _ in range(7):
        start = time.perf_counter()
        module(x)
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


def _question() -> Exhibit:
    return question(
        "The answer is where three arrows lead. Is a stack of one layer, two layers or more needed, and how "
        "do the curves tell?",
        seen="What depth is good for",
        answer="One layer looks once and stays low, however long it trains. A curve rises only where there are "
        "enough layers to look again with what the first look brought back.",
    )
