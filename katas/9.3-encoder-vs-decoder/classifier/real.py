"""A classifier on a real text: which chapter a sentence is from, by three poolings and by counted words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import minilm
import torch
from mine import Encoder  # noqa: F401 - the classifier is built on it
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, lines, table, text

try:
    from mine import EncoderClassifier, fit
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import EncoderClassifier, fit

NEEDS = ()
MOST, WORDS, LONGEST, EPOCHS = 150, 1500, 48, 8
"""Sentences of each chapter, words that have a number, words of a sentence, rounds of training."""
STRATEGIES = ("cls", "mean", "max")
PAD, CLS, OTHER = 0, 1, 2
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train a classifier for each pooling; show what it says of sentences that it never saw."""
    names, sentences, labels = minilm.chapters(own, MOST)
    split = [minilm.words_of(one) for one in sentences]
    cut = len(sentences) * 3 // 4
    common = Counter(word for words in split[:cut] for word in words).most_common(WORDS)
    number = {word: OTHER + 1 + at for at, (word, _) in enumerate(common)}
    tokens = _tokens(split, number)
    curves, rows, models = {}, [], {}
    for at, strategy in enumerate(STRATEGIES):
        step(f"training, {strategy}", at, len(STRATEGIES))
        torch.manual_seed(0)
        model = EncoderClassifier(OTHER + 1 + len(number), len(names), d_model=64, num_heads=4, d_ff=128,
                                  num_layers=2, max_len=LONGEST + 1, pooling=strategy)  # fmt: skip
        generator = torch.Generator().manual_seed(0)
        losses = fit(model, tokens[:cut], labels[:cut], epochs=EPOCHS, lr=2e-3, generator=generator)
        curves[strategy], models[strategy] = (list(range(1, EPOCHS + 1)), losses), model.eval()
        rows.append(
            [
                strategy,
                *(_right(model, tokens[part], labels[part]) for part in (slice(cut), slice(cut, None))),
            ]
        )
    step("counting words", len(STRATEGIES), len(STRATEGIES))
    rows.append(["no order: counts of words", *_counted(tokens, labels, cut)])
    shown = [minilm.words_of(prompt)] if prompt else split[cut : cut + 6]
    said = [prompt] if prompt else sentences[cut : cut + 6]
    with torch.no_grad():
        chances = models["mean"](_tokens(shown, number)).softmax(-1)
    verdicts = [
        [one, names[int(c.argmax())], f"{float(c.max()):.0%}"] for one, c in zip(said, chances, strict=True)
    ]
    of = "your text, in four quarters" if own else "six chapters of the documentation of Python"
    return [
        text("Where is this sentence from?", f"{cut} sentences from {of} to learn from, {len(sentences) - cut} others "
             f"to test with; a guess is right in {100 / len(names):.0f}%. Everything is learned here, from so few "
             "sentences: kata run transfer shows what a body gains that has read before."),
        table("Right, by pooling", ["pooling", "of sentences it learned from", "of new ones"], rows,
              note="A chapter has words of its own, so counting them, without any order, is hard to beat here: the "
              "sentences of the kata are made so that it cannot help."),
        lines("Loss while it trains", curves, x_axis="epoch", y_axis="nats"),
        table("New sentences, read with mean pooling", ["sentence", "said to be from", "sure"], verdicts),
    ]  # fmt: skip


def _tokens(split: list[list[str]], number: dict[str, int]) -> Tensor:
    """Return [N, T] with `<cls>` in front."""
    rows = [torch.tensor([CLS, *(number.get(word, OTHER) for word in words[:LONGEST])]) for words in split]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


@torch.no_grad()
def _right(model: nn.Module, tokens: Tensor, labels: Tensor) -> str:
    return f"{(model(tokens).argmax(-1) == labels).float().mean():.0%}"


def _counted(tokens: Tensor, labels: Tensor, cut: int) -> list[str]:
    """Train a linear model on which words occur: what is possible without any order."""
    counts = torch.zeros(len(tokens), int(tokens.max()) + 1).scatter_(1, tokens, 1.0)
    counts[:, [PAD, CLS]] = 0
    torch.manual_seed(0)
    linear = nn.Linear(counts.shape[1], int(labels.max()) + 1)
    optimizer = torch.optim.AdamW(linear.parameters(), lr=0.02, weight_decay=0.05)
    for _ in range(100):
        loss = F.cross_entropy(linear(counts[:cut]), labels[:cut])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [_right(linear, counts[part], labels[part]) for part in (slice(cut), slice(cut, None))]
