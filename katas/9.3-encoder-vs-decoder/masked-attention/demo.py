"""Masked attention live: from scores to weights, what heads look at, and what a missing mask does."""

from __future__ import annotations

import torch
from mine import MultiHeadAttention, causal_mask, scaled_dot_product_attention, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, choice, heatmap, lines, panel, play, question, table, text

TEXT = "the cat sat on the mat and the dog lay on the rug and the cat and the dog sang to the moon. "
WORDS = ["she", "gave", "him", "the", "book"]
CONTEXT, D_MODEL, STEPS = 24, 48, 150


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    return [*_from_scores_to_weights(), _try_it(), _heads(), *_a_leak(), _question()]


def _from_scores_to_weights() -> list[Exhibit]:
    q, k = torch.randn(len(WORDS), 8), torch.randn(len(WORDS), 8)
    mask = causal_mask(len(WORDS))
    scores = q @ k.T / 8**0.5
    _, weights = scaled_dot_product_attention(q, k, torch.eye(len(WORDS)), mask)
    masked = scores.masked_fill(~mask, -torch.inf)
    return [
        heatmap(
            "Raw scores, and scores with the future masked",
            [panel("q·k / √d", scores, WORDS, WORDS), panel("masked", masked, WORDS, WORDS)],
            diverging=True,
            note="The mask goes in before the softmax: -inf is the score of a word that is not there.",
        ),
        heatmap(
            "Weights: the softmax of each masked row",
            [panel("weights", weights, WORDS, WORDS)],
            note="exp(-inf) is 0, so the words that are left share a whole weight of 1.",
        ),
    ]


def _try_it() -> Exhibit:
    generator = torch.Generator().manual_seed(6)
    words = [*WORDS, "his", "a", "letter"]
    vectors, positions = torch.randn(len(words), 8, generator=generator), sinusoidal_positions(8, 8)
    w_q, w_k = torch.randn(2, 8, 8, generator=generator) * 0.5
    x = vectors[: len(WORDS)] + positions[: len(WORDS)]
    _, weights = scaled_dot_product_attention(x @ w_q.T, x @ w_k.T, x, causal_mask(len(WORDS)))
    return play(
        "Try it: block a key, and see where its weight goes",
        "attention.js",
        {
            "vectors": dict(zip(words, vectors, strict=True)),
            "w_q": w_q,
            "w_k": w_k,
            "positions": positions,
            "sentence": " ".join(WORDS),
            "masks": True,
            "causal": True,
            "limit": 8,
        },
        heatmap("Weights under the causal mask", [panel("weights", weights, WORDS, WORDS)]),
        note="Block every key of one query: it may then attend to nothing, and gets zeros. Vectors and projections "
        "are random.",
    )


def _heads() -> Exhibit:
    torch.manual_seed(4)
    attention = MultiHeadAttention(32, 4)
    x = torch.randn(1, len(WORDS), 32)
    with torch.no_grad():
        q, k = (w(x).unflatten(-1, (4, 8)).transpose(1, 2) * 2 for w in (attention.w_q, attention.w_k))
        _, weights = scaled_dot_product_attention(q, k, k, causal_mask(len(WORDS)))
    return choice(
        "Four heads of one layer, before any training",
        "head",
        {h: heatmap("weights", [panel(f"head {h}", weights[0, h], WORDS, WORDS)]) for h in range(4)},
        note="Head h has columns h·D/H to (h+1)·D/H for itself; each softmaxes by itself under the same mask.",
    )


class Model(nn.Module):
    """One layer of attention between an embedding and a guess of the next letter."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(letters, D_MODEL)
        self.attention = MultiHeadAttention(D_MODEL, 4)
        self.hidden, self.head = nn.Linear(D_MODEL, 2 * D_MODEL), nn.Linear(2 * D_MODEL, letters)
        self.positions = sinusoidal_positions(CONTEXT, D_MODEL)

    def forward(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        """Return logits [B, T, letters] for tokens [B, T]."""
        x = self.embed(tokens) + self.positions[: tokens.shape[1]]
        return self.head(F.relu(self.hidden(x + self.attention(x, mask))))


def _a_leak() -> list[Exhibit]:
    letters = sorted(set(TEXT))
    codes = torch.tensor([letters.index(letter) for letter in TEXT * 3])
    windows = codes.unfold(0, CONTEXT + 1, 1)[: len(TEXT)]
    inputs, targets = windows[:, :-1], windows[:, 1:]
    curves: dict[str, tuple[list[float], list[float]]] = {}
    rows, honest = [], {}
    for name, mask in (("with the causal mask", causal_mask(CONTEXT)), ("without a mask", None)):
        torch.manual_seed(1)
        model = Model(len(letters))
        losses = _train(model, inputs, targets, mask)
        curves[name] = (list(range(1, len(losses) + 1)), losses)
        with torch.no_grad():
            guesses = model(inputs, mask).argmax(-1)
            alone = torch.stack(
                [model(inputs[:, : t + 1], None)[:, -1].argmax(-1) for t in range(CONTEXT)], dim=1
            )
        honest[name] = float((alone == targets).float().mean())
        rows.append([
            name,
            f"{losses[-1]:.3f}",
            f"{(guesses == targets).float().mean():.0%}",
            f"{(alone == targets).float().mean():.0%}",
            _write(model, letters, "the cat "),
        ])  # fmt: skip
    low, better = (
        min(curves, key=lambda name: curves[name][1][-1]),
        max(honest, key=lambda name: honest[name]),
    )
    return [
        text(
            "A leak: the loss falls, the writing fails",
            "Two models, the same in everything but the mask, learn to guess the next letter of a short text. "
            "In training all positions are guessed in one pass. Without a mask the answer to each position is "
            "in the input, one place to the right, and attention finds it.",
        ),
        lines(
            "Training loss",
            curves,
            x_axis="step",
            y_axis="cross-entropy",
            log_y=True,
            note=f"Lower at the end: {low}. Better at guessing what it cannot see: {better}. A loss says nothing "
            "about a model that has seen its answers.",
        ),
        table(
            "What each model learned",
            [
                "model",
                "loss",
                "right, all at once",
                "right, when the future is not there",
                "it writes: the cat …",
            ],
            rows,
            note="When a model writes, the next letter does not exist yet. One that has learned to copy it finds "
            "nothing to copy.",
        ),
    ]


def _train(model: Model, inputs: Tensor, targets: Tensor, mask: Tensor | None) -> list[float]:
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(STEPS):
        loss = F.cross_entropy(model(inputs, mask).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def _write(model: Model, letters: list[str], start: str) -> str:
    codes = [letters.index(letter) for letter in start]
    for _ in range(40):
        tokens = torch.tensor([codes[-CONTEXT:]])
        codes.append(int(model(tokens, causal_mask(tokens.shape[1]))[0, -1].argmax()))
    return "".join(letters[code] for code in codes[len(start) :])


def _question() -> Exhibit:
    return question(
        "Two models differ only in the mask. Which of them has the lower loss in training, and which of them "
        "can write?",
        seen="What each model learned",
        answer="The one without a mask has the lower loss, because it copies the answer from one place to the right. "
        "When it writes, there is nothing to copy: the causal one continues the text.",
    )
