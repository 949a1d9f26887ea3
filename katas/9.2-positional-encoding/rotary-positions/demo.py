"""Relative positions live: turned pairs, scores by distance, buckets, slopes, and texts longer than in training."""

from __future__ import annotations

import math

import torch
from mine import causal_mask, scaled_dot_product_attention, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, choice, heatmap, lines, panel, question, scatter, table

try:
    from mine import RelativePositionBias, alibi_bias, relative_buckets, rotate
except ImportError:  # the learner's does not pass yet: a short one replaces it

    def rotate(x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Turn pairs, as complex numbers."""
        positions = torch.arange(x.shape[-2]) if positions is None else positions
        speeds = 10000.0 ** -torch.linspace(0, 1, x.shape[-1] // 2 + 1)[:-1]
        turns = torch.polar(torch.ones(()), torch.outer(positions, speeds))
        return torch.view_as_real(
            torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * turns
        ).flatten(-2)

    def relative_buckets(query_len: int, key_len: int, *, num_buckets: int = 32, max_distance: int = 128,
                         bidirectional: bool = True, offset: int = 0) -> Tensor:  # fmt: skip
        """Look distances up among the buckets' first ones."""
        n = num_buckets // 2 if bidirectional else num_buckets
        far = torch.logspace(math.log10(n // 2), math.log10(max_distance), n - n // 2 + 1)[:-1] - 1e-4
        first = torch.cat((torch.arange(1.0, n // 2), far))
        ahead = torch.arange(key_len) - torch.arange(offset, offset + query_len)[:, None]
        size = ahead.abs() if bidirectional else ahead.clamp(max=0).abs()
        return torch.bucketize(size.float(), first, right=True) + n * (ahead > 0) * bidirectional

    class RelativePositionBias(nn.Module):  # type: ignore[no-redef]
        """A number for each bucket and head."""

        def __init__(self, num_heads: int, num_buckets: int = 32, max_distance: int = 128,
                     bidirectional: bool = True) -> None:  # fmt: skip
            super().__init__()
            self.embedding, self.rest = nn.Embedding(num_buckets, num_heads), (max_distance, bidirectional)

        def forward(self, query_len: int, key_len: int, offset: int = 0) -> Tensor:
            """Return [1, H, Tq, Tk]."""
            n, (far, both) = self.embedding.num_embeddings, self.rest
            buckets = relative_buckets(query_len, key_len, num_buckets=n, max_distance=far, bidirectional=both,
                                       offset=offset)  # fmt: skip
            return self.embedding(buckets).permute(2, 0, 1)[None]

    def alibi_bias(num_heads: int, query_len: int, key_len: int, offset: int = 0) -> Tensor:
        """Minus slope times distance."""
        distance = torch.arange(offset, offset + query_len)[:, None] - torch.arange(key_len)
        return -torch.logspace(-8 / num_heads, -8, num_heads, base=2)[:, None, None] * distance.abs()


D_MODEL, HEADS, TOKENS, BACK = 32, 2, 8, 2
TRAINED, TESTED, STEPS = 16, 32, 200


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [
        _arrows(),
        _diagonals(),
        _by_distance(),
        _buckets(),
        _slopes(),
        *_longer_texts(),
        _question(),
    ]


def _arrows() -> Exhibit:
    query, key = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.8]])
    frames, scores = {}, []
    everywhere = {name: rotate(arrow.expand(8, -1)) for name, arrow in (("query", query), ("key", key))}
    for shift in range(7):
        q, k = rotate(query, torch.tensor([shift + 1])), rotate(key, torch.tensor([shift]))
        scores.append(float((q @ k.T).item()))
        frames[shift] = scatter(
            "arrows",
            {
                "query": q,
                "key": k,
                **{f"where the {name} may be": places for name, places in everywhere.items()},
            },
            x_axis="column 0",
            y_axis="column 1",
        )
    return choice(
        "A query one step after its key, moved along the text",
        "position of the key",
        frames,
        slider=True,
        note="Move both along: the two points go round together, and the angle between them stays. Their score is "
        f"{scores[0]:.4f}; over the seven places it moves by {max(scores) - min(scores):.0e}.",
    )


def _diagonals() -> Exhibit:
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 16, generator=generator)
    places = range(16)
    positions = sinusoidal_positions(16, 16)
    turned = rotate(query.expand(16, 16)) @ rotate(key.expand(16, 16)).T
    added = (query + positions) @ (key + positions).T
    return heatmap(
        "One query and one key, at all pairs of positions",
        [
            panel("rotary: both turned", turned, places, places),
            panel("absolute: positions added to both", added, places, places),
        ],
        diverging=True,
        note="On the left each diagonal has one shade: one distance, one score. On the right rows and columns show "
        "through: content meets place, and the score depends on both positions.",
    )


def _by_distance() -> Exhibit:
    distances = torch.arange(0, 200)
    curves = {}
    for width in (8, 64, 512):
        ones = torch.ones(1, width) / width**0.5
        keys = rotate(ones.expand(200, -1), distances)
        curves[f"D = {width}"] = (distances, (rotate(ones, torch.tensor([0])) @ keys.T)[0])
    wide = curves["D = 512"][1]
    return lines(
        "A query and a key that are equal: their score by distance",
        curves,
        x_axis="distance",
        y_axis="score",
        note=f"Near is near: with D = 512 the score falls from {float(wide[0]):.2f} to {float(wide[20]):.2f} at 20 "
        f"steps and {float(wide[199]):.2f} at 199. With few pairs it swings, as a clock with few hands does.",
    )


def _buckets() -> Exhibit:
    frames = {}
    for name, both in (("both directions", True), ("the past alone", False)):
        buckets = relative_buckets(20, 20, num_buckets=16, max_distance=20, bidirectional=both)
        frames[name] = heatmap("buckets", [panel(f"16 buckets, {name}", buckets, range(20), range(20))])
    counted = relative_buckets(1, 200, offset=199)[0]
    last = int((counted == counted.max()).sum())
    return choice(
        "T5's buckets: which number each pair of positions looks up",
        "directions",
        frames,
        note="Near the diagonal each step is a bucket of its own; away from it several share one. With the usual 32 "
        f"buckets, {last} of the 200 distances up to 199 share the last one of the past.",
    )


def _slopes() -> Exhibit:
    back = torch.arange(40)
    weights = alibi_bias(4, 1, 40, 39)[:, 0].softmax(-1).flip(-1)
    curves = {f"head {head + 1}": (back, row) for head, row in enumerate(weights)}
    near = [float(row[:5].sum()) for row in weights]
    return lines(
        "ALiBi alone: where four heads look when all scores are equal",
        curves,
        x_axis="positions back",
        y_axis="weight",
        note=f"The last five positions get {near[0]:.0%} of the first head's weight and {near[-1]:.0%} of the "
        "last one's: each head has a memory of its own length before anything is learned.",
    )


class Model(nn.Module):
    """One layer of attention between an embedding and a guess, with positions in one of five ways."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.embed, self.head = nn.Embedding(TOKENS, D_MODEL), nn.Linear(D_MODEL, TOKENS)
        self.w_q, self.w_k, self.w_v = (nn.Linear(D_MODEL, D_MODEL) for _ in range(3))
        if kind == "T5's bias":
            self.bias = RelativePositionBias(HEADS, 16, 12, bidirectional=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, T, tokens] for tokens [B, T]."""
        x, T = self.embed(tokens), tokens.shape[1]
        if self.kind == "sinusoidal":
            x = x + sinusoidal_positions(T, D_MODEL)
        q, k, v = (w(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        if self.kind == "rotary":
            q, k = rotate(q), rotate(k)
        if self.kind in ("T5's bias", "ALiBi"):
            bias = self.bias(T, T) if self.kind == "T5's bias" else alibi_bias(HEADS, T, T)
            scores = (q @ k.mT) / q.shape[-1] ** 0.5 + bias
            out = scores.masked_fill(~causal_mask(T), -torch.inf).softmax(-1) @ v
        else:
            out, _ = scaled_dot_product_attention(q, k, v, causal_mask(T))
        return self.head(out.transpose(1, 2).flatten(-2))


def _longer_texts() -> list[Exhibit]:
    curves, rows = {}, []
    for kind in ("sinusoidal", "rotary", "T5's bias", "ALiBi", "no positions"):
        torch.manual_seed(0)
        model, generator = Model(kind), torch.Generator().manual_seed(1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(STEPS):
            tokens = torch.randint(TOKENS, (32, TRAINED), generator=generator)
            loss = F.cross_entropy(model(tokens)[:, BACK:].flatten(0, 1), tokens[:, :-BACK].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        tokens = torch.randint(TOKENS, (400, TESTED), generator=generator)
        with torch.no_grad():
            right = (model(tokens).argmax(-1) == tokens.roll(BACK, 1)).float().mean(0)
        curves[kind] = right
        rows.append(
            [kind, f"{float(right[BACK:TRAINED].mean()):.0%}", f"{float(right[TRAINED:].mean()):.0%}"]
        )
    best = max(rows, key=lambda row: int(row[2].removesuffix("%")))
    return [
        lines(
            f"Repeat the token {BACK} back; trained on positions 0 to {TRAINED - 1}",
            {kind: (range(BACK, TESTED), curve[BACK:]) for kind, curve in curves.items()},
            x_axis="position",
            y_axis="right answers, of 1",
            note=f"The models differ in nothing but their positions. Past position {TRAINED - 1} all is new to them; "
            f"{best[0]} keeps most, {best[2]}. Chance is {1 / TOKENS:.0%}.",
        ),
        table(
            "The same as means",
            ["positions", f"2 to {TRAINED - 1}", f"{TRAINED} to {TESTED - 1}"],
            rows,
            note="One task, one layer, one draw: which way is best for long texts is a question of the task. ALiBi, "
            "which wants the nearest, has to learn against its slope to look exactly two back.",
        ),
    ]


def _question() -> Exhibit:
    return question(
        "You move a query and its key ten places along together. What changes: their points, the angle "
        "between them, or their score?",
        seen="A query one step after its key",
        answer="Their points alone. Both are turned by the same angle, so the angle between them and the score stay.",
    )
