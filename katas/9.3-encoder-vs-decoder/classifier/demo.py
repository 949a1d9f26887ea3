"""The classifier live: three ways to pool, sentences in two dimensions, and what attention looks at."""

from __future__ import annotations

from itertools import product

import torch
from mine import Encoder, padding_mask, scaled_dot_product_attention, sinusoidal_positions
from sentiment import MOODS, PRAISE, WORDS, decode, encode, splits
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import (
    Exhibit,
    choice,
    heatmap,
    lines,
    panel,
    play,
    question,
    scatter,
    table,
    text,
)

try:
    from mine import EncoderClassifier, fit

    OWN = True
except ImportError:  # the learner's does not pass yet: a small one replaces it
    OWN = False

    class EncoderClassifier(nn.Module):  # type: ignore[no-redef]
        """Embeddings and positions, an encoder, a pooled vector, and a score for each class."""

        def __init__(self, vocab_size: int, num_classes: int, d_model: int = 64, num_heads: int = 4, d_ff: int = 128,
                     num_layers: int = 2, max_len: int = 128, pooling: str = "cls") -> None:  # fmt: skip
            super().__init__()
            self.embed, self.head = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, num_classes)
            self.encoder, self.pooling = Encoder(num_layers, d_model, num_heads, d_ff), pooling
            self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)

        def forward(self, tokens: Tensor) -> Tensor:
            """Return logits [B, classes] for tokens [B, T]."""
            real = padding_mask(tokens)
            hidden = self.encoder(self.embed(tokens) + self.positions[: tokens.shape[1]], real)
            real = real[:, 0, 0, :, None]
            if self.pooling == "cls":
                pooled = hidden[:, 0]
            elif self.pooling == "mean":
                pooled = hidden.where(real, 0.0).sum(1) / real.sum(1)
            else:
                pooled = hidden.masked_fill(~real, -torch.inf).amax(1)
            return self.head(pooled)

    def fit(model: nn.Module, tokens: Tensor, labels: Tensor, *, epochs: int = 10, batch_size: int = 32,
            lr: float = 1e-3, generator: torch.Generator | None = None) -> list[float]:  # fmt: skip
        """Train and return each epoch's mean loss."""
        optimizer, losses = torch.optim.Adam(model.parameters(), lr=lr), []
        for _ in range(epochs):
            total = 0.0
            for rows in torch.randperm(len(tokens), generator=generator).split(batch_size):
                loss = F.cross_entropy(model(tokens[rows]), labels[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(rows)
            losses.append(total / len(tokens))
        return losses


STRATEGIES = ("cls", "mean", "max")
EPOCHS = 6
SENTENCES = [
    "the plot was good but the ending was dull",
    "the ending was dull but the plot was good",
    "the plot was not dull but the ending was not good",
    "the music was very clever but the camera was not moving",
]


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    train, test = splits(seed=0)
    curves, rows, models = {}, [], {}
    for strategy in STRATEGIES:
        torch.manual_seed(0)
        model = EncoderClassifier(
            len(WORDS), 2, d_model=32, num_heads=4, d_ff=64, num_layers=2, pooling=strategy
        )
        losses = fit(
            model,
            train.tokens,
            train.labels,
            epochs=EPOCHS,
            lr=3e-3,
            generator=torch.Generator().manual_seed(0),
        )
        curves[strategy] = (list(range(1, EPOCHS + 1)), losses)
        models[strategy] = model.eval()
        rows.append([strategy, round(losses[-1], 3), _accuracy(model, train), _accuracy(model, test)])
    counts = _bag_of_words(train, test)
    return [
        text(
            "The task",
            "Sentences such as “the plot was good but the ending was dull”: the clause after “but” decides, and “not” "
            "turns an adjective around. Each sentence has a mirror image with the same words and the other label, so "
            f"counting words does not help. {len(train.labels)} to train on, {len(test.labels)} others to test with.",
        ),
        lines(
            "Training, by pooling",
            curves,
            x_axis="epoch",
            y_axis="mean loss per example",
            note="After the last epoch: "
            + ", ".join(f"{name} {losses[-1]:.3f}" for name, (_, losses) in curves.items()),
        ),
        table(
            "Pooling compared on new sentences",
            ["pooling", "last loss", "right in training", "right on new sentences"],
            [*rows, ["no order: counts of words", "", *counts]],
            note=f"On new sentences the three poolings are {_spread(rows)} apart on this seed; counting words, "
            f"without any order, gets {counts[1]}. "
            + ("Your own classifier." if OWN else "A given stand-in: yours takes its place when it passes."),
        ),
        _map(models["mean"], test),
        *_by_layer(models["mean"], test),
        *_attention(models["cls"]),
        _verdicts(models),
        _try_it(models),
        _question(),
    ]


def _spread(rows: list[list[object]]) -> str:
    right = [int(str(row[-1]).rstrip("%")) for row in rows]
    return f"{max(right) - min(right)} percentage points"


@torch.no_grad()
def _accuracy(model: nn.Module, data: object) -> str:
    return f"{(model(data.tokens).argmax(-1) == data.labels).float().mean():.0%}"


def _bag_of_words(train: object, test: object) -> list[str]:
    """Train a linear model on counts of words: what is possible without any order."""

    def counts(tokens: Tensor) -> Tensor:
        return F.one_hot(tokens, len(WORDS)).sum(1).float()

    torch.manual_seed(0)
    linear = nn.Linear(len(WORDS), 2)
    optimizer = torch.optim.Adam(linear.parameters(), lr=0.05)
    for _ in range(200):
        loss = F.cross_entropy(linear(counts(train.tokens)), train.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [f"{(linear(counts(d.tokens)).argmax(-1) == d.labels).float().mean():.0%}" for d in (train, test)]


@torch.no_grad()
def _map(model: nn.Module, test: object) -> Exhibit:
    """Show what the last linear layer is given, on its two main axes."""
    seen: list[Tensor] = []
    last = [
        module for module in model.modules() if isinstance(module, nn.Linear) and module.out_features == 2
    ][-1]
    handle = last.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    model(test.tokens)
    handle.remove()
    points, _ = _principal(seen[0])
    return scatter(
        "New sentences as the classifier sees them (mean pooling, two main directions)",
        {mood: points[test.labels == label] for label, mood in enumerate(MOODS)},
        x_axis="first",
        y_axis="second",
        note="Every sentence has a twin with the same words. Where the two clouds part, order has been read.",
    )


@torch.no_grad()
def _by_layer(model: nn.Module, test: object) -> list[Exhibit]:
    """Show the mean vector of every sentence before the first layer and after each, on two principal components."""
    layers = [m for m in model.modules() if all(hasattr(m, name) for name in ("attention", "feed_forward"))]
    if not layers:
        return []
    states: list[Tensor] = []
    hooks = [layers[0].register_forward_pre_hook(lambda module, inputs: states.append(inputs[0]))]
    hooks += [
        one.register_forward_hook(lambda module, inputs, output: states.append(output)) for one in layers
    ]
    model(test.tokens)
    for hook in hooks:
        hook.remove()
    real = padding_mask(test.tokens)[:, 0, 0, :, None]
    frames, found = {}, []
    for number, state in enumerate(states):
        name = f"after layer {number}" if number else "before the first layer"
        points, share = _principal(state.where(real, 0.0).sum(1) / real.sum(1))
        centres = torch.stack([points[test.labels == label].mean(0) for label in range(len(MOODS))])
        right = (torch.cdist(points, centres).argmin(-1) == test.labels).float().mean()
        found.append(f"{name} {right:.0%}")
        frames[name] = scatter(
            f"the plane holds {share:.0%} of the variance",
            {mood: points[test.labels == label] for label, mood in enumerate(MOODS)},
            x_axis="first principal component",
            y_axis="second principal component",
        )
    return [
        choice(
            "Layer by layer: new sentences on two principal components (PCA of mean vectors)",
            "place",
            frames,
            start=len(frames) - 1,
            slider=True,
            note="PCA looks for the directions in which vectors differ most, and knows no labels. Sentences that lie "
            f"nearer to the centre of their own class: {', '.join(found)}. Before the first layer twins with the same "
            "words are one point: a mean of sums does not know which position belongs to which word. Attention reads "
            "the order, and parts them.",
        )
    ]


def _principal(vectors: Tensor) -> tuple[Tensor, float]:
    """Return vectors on their two main axes, and the share of the variance that lies in this plane."""
    centred = vectors - vectors.mean(0)
    _, sizes, axes = torch.linalg.svd(centred, full_matrices=False)
    return centred @ axes[:2].T, float(sizes[:2].square().sum() / sizes.square().sum())


@torch.no_grad()
def _attention(model: nn.Module) -> list[Exhibit]:
    """Show what the first position looks at in the last layer, head by head, for real sentences."""
    layers = [m for m in model.modules() if all(hasattr(m, name) for name in ("w_q", "w_k", "w_v", "w_o"))]
    if not layers:
        return []
    seen: list[Tensor] = []
    handle = layers[-1].register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    shown = []
    for sentence in SENTENCES[:3]:
        tokens = encode([sentence])
        model(tokens)
        x = seen.pop()
        q, k = (w(x).unflatten(-1, (4, -1)).transpose(1, 2) for w in (layers[-1].w_q, layers[-1].w_k))
        _, weights = scaled_dot_product_attention(q, k, k)
        words = ["<cls>", *decode(tokens[0]).split()]
        most = weights[0, :, 0].argmax(-1).tolist()
        said = ", ".join(f"head {h} “{words[place]}”" for h, place in enumerate(most))
        shown.append((panel(sentence, weights[0, :, 0], [f"head {h}" for h in range(4)], words), said))
    handle.remove()
    return [
        heatmap(
            f"What <cls> looks at in the last layer, sentence {number}",
            [one],
            row_axis="head",
            column_axis="word",
            note=f"Most weight: {said}. Earlier layers have mixed the words already, so a word's vector is no longer "
            "its own.",
        )
        for number, (one, said) in enumerate(shown, 1)
    ]


@torch.no_grad()
def _verdicts(models: dict[str, nn.Module]) -> Exhibit:
    rows = []
    for sentence in SENTENCES:
        guesses = [models[s](encode([sentence])).softmax(-1)[0] for s in STRATEGIES]
        rows.append([sentence, *(f"{MOODS[int(g.argmax())]} {g.max():.2f}" for g in guesses)])
    return table("Verdicts", ["sentence", *STRATEGIES], rows)


@torch.no_grad()
def _try_it(models: dict[str, nn.Module]) -> Exhibit:
    """Let the reader put a sentence together: every one is read beforehand."""
    nots, adjectives = ["", "not"], ["good", "clever", "dull", "boring"]
    slots = [nots, adjectives, nots, adjectives]
    texts = [
        " ".join(f"the plot was {a} {b} but the music was {c} {d}".split()) for a, b, c, d in product(*slots)
    ]
    tokens = encode(texts)
    answers = torch.stack([models[s](tokens).softmax(-1)[:, 1] for s in STRATEGIES], dim=1)
    wanted = torch.tensor([(c == "not") != (d in PRAISE) for _, _, c, d in product(*slots)])
    right = ((answers > 0.5) == wanted[:, None]).float().mean(0)
    start = (0, 0, 1, 1)
    place = texts.index("the plot was good but the music was not clever")
    return play(
        "Try it: put a review together",
        "sentence.js",
        {
            "slots": [
                {"label": label, "options": options, "start": at}
                for label, options, at in zip(
                    ("first not", "first adjective", "second not", "second adjective"),
                    slots,
                    start,
                    strict=True,
                )
            ],
            "joins": ["the plot was", "", "but the music was", "", ""],
            "models": list(STRATEGIES),
            "classes": list(MOODS),
            "answers": [[round(float(part), 4) for part in row] for row in answers],
        },
        table(
            texts[place],
            ["pooling", f"probability of {MOODS[1]}"],
            [[s, round(float(part), 3)] for s, part in zip(STRATEGIES, answers[place], strict=True)],
        ),
        note=f"Of these {len(texts)} sentences the three read "
        + ", ".join(f"{float(part):.0%} ({s})" for s, part in zip(STRATEGIES, right, strict=True))
        + " as the grammar means them. Two praises, or two complaints, never occur in training: see what happens.",
    )


def _question() -> Exhibit:
    return question(
        "Before the first layer a sentence and its twin with the same words are one point. After which layer "
        "do the two classes come apart?",
        seen="Layer by layer",
        answer="The note counts the sentences that lie nearer to their own class, layer by layer: at the embedding "
        "half of them, which is chance, and after the layers that have attended more.",
    )
