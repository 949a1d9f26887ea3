"""Positional encoding live: what the numbers look like, how far apart positions are, and where each kind ends."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from mine import (
    LearnedPositionalEncoding,
    MultiHeadAttention,
    SinusoidalPositionalEncoding,
    causal_mask,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import (
    Exhibit,
    bars,
    choice,
    heatmap,
    lines,
    panel,
    play,
    question,
    table,
    text,
)

D_MODEL, TOKENS, BACK = 32, 8, 2
TRAINED, TESTED = 16, 32
STEPS = 300


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    models, curves = _train_each()
    return [
        _the_numbers(),
        _hands(),
        _distance_map(),
        _distance_by_offset(),
        _rotations(),
        _order_on_and_off(),
        *_past_the_end(curves),
        _where_it_looks(models["sinusoidal"], curves),
        _side_by_side(models["learned"].encoding),
        _question(),
    ]


def _wavelength(pair: int) -> float:
    return 2 * math.pi * 10_000 ** (2 * pair / D_MODEL)


def _hands() -> Exhibit:
    positions = sinusoidal_positions(64, D_MODEL)
    pairs = range(0, D_MODEL // 2, 3)
    frames = {
        t: bars(
            "hands",
            [f"pair {pair}: {_wavelength(pair):,.0f}" for pair in pairs],
            {"sine": positions[t, 0::2][pairs], "cosine": positions[t, 1::2][pairs]},
            y_axis="value at this position",
        )
        for t in (0, 1, 2, 3, 4, 5, 6, 12, 19, 63)
    }
    return choice(
        "One position at a time: where the hands of the clock stand",
        "position",
        frames,
        start=1,
        slider=True,
        note="Each pair of columns is a hand; next to it stands how many positions one turn takes (its wavelength). "
        "Pair 0 "
        f"has almost gone round at position 6: its cosine is {float(positions[6, 1]):.2f}. The last one has hardly "
        f"moved at position 63: its sine is {float(positions[63, -2]):.3f}.",
    )


def _order_on_and_off() -> Exhibit:
    generator = torch.Generator().manual_seed(3)
    words = ["dog", "bites", "man", "the", "a"]
    vectors = torch.randn(len(words), 8, generator=generator)
    w_q, w_k = torch.randn(2, 8, 8, generator=generator) * 0.4
    sentence = words[:3]
    positions = sinusoidal_positions(8, 8)
    x = vectors[:3] + positions[:3]
    weights = ((x @ w_q.T) @ (x @ w_k.T).T / 8**0.5).softmax(-1)
    return play(
        "Try it: with and without positions",
        "attention.js",
        {
            "vectors": dict(zip(words, vectors, strict=True)),
            "w_q": w_q,
            "w_k": w_k,
            "positions": positions,
            "sentence": " ".join(sentence),
            "masks": False,
            "causal": False,
            "limit": 8,
        },
        heatmap("Weights with positions", [panel("random projections", weights, sentence, sentence)]),
        note="Write “man bites dog”. With the positions left out, the same numbers come back in other places. The "
        "vectors and projections are random: order makes a difference before anything is learned.",
    )


@torch.no_grad()
def _where_it_looks(model: Model, curves: dict[str, Tensor]) -> Exhibit:
    """Show how far back the sinusoidal model looks, position by position: what its peaks past the end are."""
    tokens = torch.randint(TOKENS, (100, TESTED), generator=torch.Generator().manual_seed(5))
    x, attention = model.encoding(model.embed(tokens)), model.attention
    heads = attention.num_heads if hasattr(attention, "num_heads") else 2
    q, k = (w(x).unflatten(-1, (heads, -1)).transpose(1, 2) for w in (attention.w_q, attention.w_k))
    _, weights = scaled_dot_product_attention(q, k, k, causal_mask(TESTED))
    weights = weights.mean(dim=(0, 1))
    places, steps = range(TRAINED - 4, TESTED), range(TESTED - 8)
    values = [[float(weights[t, t - back]) if back <= t else 0.0 for back in steps] for t in places]
    peak = TRAINED + 2 + int(curves["sinusoidal"][TRAINED + 2 :].argmax())
    dip = TRAINED + int(curves["sinusoidal"][TRAINED:peak].argmin())
    furthest = int(weights[dip, : dip + 1].argmax())
    turn = _wavelength(0)
    return heatmap(
        "Why there are peaks past the end: how far back it looks",
        [panel("weight of attention", values, places, steps)],
        row_axis="position",
        column_axis="positions back",
        note=f"It has learned to look {BACK} back. The fastest hand turns once in {turn:.1f} positions, so to it "
        f"{BACK} back, "
        f"{BACK + turn:.0f} back and {BACK + 2 * turn:.0f} back are one and the same; only slower hands tell them "
        "apart, and past "
        f"position {TRAINED - 1} they stand as they never did in training. At position {dip} it looks "
        f"{dip - furthest} back "
        f"({float(curves['sinusoidal'][dip]):.0%} right). Position {peak} is one turn of the fastest hand after "
        f"{peak - turn:.1f}, a position that it knows: there {float(weights[peak, peak - BACK]):.0%} of the weight "
        f"is {BACK} "
        f"back again, and {float(curves['sinusoidal'][peak]):.0%} of the answers are right. It is luck, not a rule: "
        "see how much a peak depends on the draw.",
    )


def _peaks(curve: Tensor) -> str:
    best = TRAINED + 2 + int(curve[TRAINED + 2 :].argmax())
    return f"{float(curve[best]):.0%} at position {best}"


def _the_numbers() -> Exhibit:
    positions = sinusoidal_positions(48, D_MODEL)
    return heatmap(
        "Forty-eight positions, each a row of 32 numbers",
        [panel("sinusoidal_positions(48, 32)", positions, range(48), range(D_MODEL))],
        row_axis="position",
        column_axis="column",
        diverging=True,
        note="Columns come in pairs, a sine and a cosine of one speed. The first pair turns once in "
        f"{_wavelength(0):.1f} positions, the last one in {_wavelength(D_MODEL // 2 - 1):,.0f}: on the left "
        "neighbours differ, on the right only distant positions do.",
    )


def _distance_map() -> Exhibit:
    positions = sinusoidal_positions(TESTED, D_MODEL)
    return heatmap(
        "How far is each position from each other one?",
        [panel("distance of the encodings", torch.cdist(positions, positions), range(TESTED), range(TESTED))],
        row_axis="position",
        column_axis="position",
        note="Follow a diagonal, the same number of steps apart all along: its shade never changes.",
    )


def _distance_by_offset() -> Exhibit:
    offsets = torch.arange(101)
    positions = sinusoidal_positions(1000, D_MODEL)
    untrained = torch.randn(len(offsets), D_MODEL) / 2**0.5  # the length of the sinusoidal ones
    curves = {
        f"sinusoidal, from position {start}": (positions[start + offsets] - positions[start]).norm(dim=-1)
        for start in (0, 40, 800)
    }
    curves["rows drawn at random"] = (untrained - untrained[0]).norm(dim=-1)
    random = curves["rows drawn at random"]
    return lines(
        "Distance against offset",
        {name: (offsets, curve) for name, curve in curves.items()},
        x_axis="offset: how many positions further",
        y_axis="distance",
        note="Three sinusoidal curves lie on one another: where you start does not matter. Near is near, "
        "though the curve does not rise all the way. Rows drawn at random know no near: all are about "
        f"equally far, {float(random[1:].min()):.1f} to {float(random.max()):.1f}.",
    )


def _rotations() -> Exhibit:
    positions = sinusoidal_positions(1000, D_MODEL).double().unflatten(-1, (-1, 2))
    speeds = 10_000 ** (-torch.arange(0, D_MODEL, 2, dtype=torch.float64) / D_MODEL)
    rows = []
    for offset in (1, 7, 100):
        sine, cosine = (speeds * offset).sin(), (speeds * offset).cos()
        s, c = positions.unbind(-1)
        turned = torch.stack((s * cosine + c * sine, c * cosine - s * sine), dim=-1)
        errors = [float((turned[p] - positions[p + offset]).abs().max()) for p in (0, 40, 800)]
        rows.append([f"+{offset}", *(f"{error:.0e}" for error in errors)])
    return table(
        "One rotation moves every position by the same offset",
        ["offset", "error at position 0", "at position 40", "at position 800"],
        rows,
        note="Each pair is turned by speed × offset. The angle holds no position, so this is one matrix "
        "for all of them, and a linear layer can learn to ask for “two back”. What is left is the rounding "
        "of float32.",
    )


def _past_the_end(curves: dict[str, Tensor]) -> list[Exhibit]:
    rows = []
    kinds = {"sinusoidal": SinusoidalPositionalEncoding, "learned": LearnedPositionalEncoding}
    for name, kind in kinds.items():
        torch.manual_seed(1)
        short = kind(D_MODEL, TRAINED)
        parameters = sum(parameter.numel() for parameter in short.parameters())
        longer = "rows that nobody has trained" if parameters else "more of the same formula"
        rows.append([name, parameters, _try(short, TRAINED), _try(short, TRAINED + 1), longer])
    seen, beyond = slice(BACK, TRAINED), slice(TRAINED, TESTED)
    return [
        table(
            f"An encoding made for {TRAINED} positions",
            [
                "",
                "parameters",
                f"{TRAINED} positions",
                f"{TRAINED + 1} positions",
                f"rows {TRAINED} to {TESTED - 1}",
            ],
            rows,
            note="Both refuse what they have no row for. Only a formula can be asked for more rows of the "
            "same kind.",
        ),
        text(
            "A formula goes on. Does the model?",
            f"Four models, one layer of attention each, learn to repeat the token {BACK} places back. They "
            f"are trained on {TRAINED} positions and tested on {TESTED}. The learned table has {TESTED} "
            "rows from the start, so that nothing raises; rows past the trained length are as they were "
            "drawn. Two "
            "models are the same but for the random numbers that they begin with.",
        ),
        lines(
            f"Accuracy at each position; trained on 0 to {TRAINED - 1}",
            {name: (range(BACK, TESTED), curve[BACK:]) for name, curve in curves.items()},
            x_axis="position",
            y_axis="right answers, of 1",
            note=f"Inside: {_means(curves, seen)}. Past it: {_means(curves, beyond)}. Chance is {1 / TOKENS:.0%}. "
            "The rows "
            f"of the sinusoidal table are right, but the attention has met only {TRAINED} of them: length "
            "extrapolation is "
            f"a property of the model, not of the table. Its best position from {TRAINED + 2} on: "
            f"{_peaks(curves['sinusoidal'])} in the first draw, {_peaks(curves['sinusoidal, second draw'])} in the "
            "second. The next picture shows why.",
        ),
    ]


def _side_by_side(trained: nn.Module) -> Exhibit:
    tables = {
        "sinusoidal": sinusoidal_positions(TESTED, D_MODEL),
        "learned, before training": _rows(LearnedPositionalEncoding(D_MODEL, TESTED), TESTED),
        "learned, after training": _rows(trained, TESTED),
    }
    unit = {name: F.normalize(rows, dim=-1) for name, rows in tables.items()}
    return heatmap(
        "Learned against sinusoidal: the cosine between any two positions",
        [panel(name, rows @ rows.T, range(TESTED), range(TESTED)) for name, rows in unit.items()],
        row_axis="position",
        column_axis="position",
        diverging=True,
        note="The formula begins with an order, the table without one. Training has written into the 16 "
        "rows of the upper left corner what this task needs; the rows below are as they began.",
    )


class Model(nn.Module):
    """One layer of attention between an embedding and a guess."""

    def __init__(self, encoding: nn.Module) -> None:
        super().__init__()
        self.embed, self.encoding = nn.Embedding(TOKENS, D_MODEL), encoding
        self.attention, self.head = MultiHeadAttention(D_MODEL, 2), nn.Linear(D_MODEL, TOKENS)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, T, tokens] for tokens [B, T]."""
        return self.head(self.attention(self.encoding(self.embed(tokens)), causal_mask(tokens.shape[1])))


def _train_each() -> tuple[dict[str, Model], dict[str, Tensor]]:
    makers: dict[str, Callable[[], nn.Module]] = {
        "sinusoidal": lambda: SinusoidalPositionalEncoding(D_MODEL, TESTED),
        "learned": lambda: LearnedPositionalEncoding(D_MODEL, TESTED),
        "no positions": nn.Identity,
        "sinusoidal, second draw": lambda: SinusoidalPositionalEncoding(D_MODEL, TESTED),
    }
    models, curves = {}, {}
    for name, make in makers.items():
        torch.manual_seed(2 if "second" in name else 0)
        models[name] = model = Model(make())
        generator = torch.Generator().manual_seed(1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(STEPS):
            tokens = torch.randint(TOKENS, (32, TRAINED), generator=generator)
            loss = F.cross_entropy(model(tokens)[:, BACK:].flatten(0, 1), tokens[:, :-BACK].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        tokens = torch.randint(TOKENS, (400, TESTED), generator=generator)
        curves[name] = (model(tokens).argmax(-1) == tokens.roll(BACK, 1)).float().mean(0)
    return models, curves


def _rows(encoding: nn.Module, length: int) -> Tensor:
    return encoding(torch.zeros(1, length, D_MODEL))[0].detach()


def _try(encoding: nn.Module, length: int) -> str:
    try:
        _rows(encoding, length)
    except ValueError:
        return "ValueError"
    return "fine"


def _means(curves: dict[str, Tensor], where: slice) -> str:
    return ", ".join(f"{name} {float(curve[where].mean()):.0%}" for name, curve in curves.items())


def _question() -> Exhibit:
    return question(
        "Which pairs of columns tell positions 2 and 3 apart, and which would you need for positions 2 and "
        "900?",
        seen="Forty-eight positions",
        answer="The first pairs turn fast, so they differ from one position to the next. Only the slow pairs on the "
        "right have not gone round many times by position 900.",
    )
