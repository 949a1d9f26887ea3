"""Sampling live: what three filters keep where a model is sure and where it is not, and what repetition costs."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question, table

try:
    from mine import min_p, perplexity, repetition_penalty, top_k, top_p
except ImportError:  # the learner's does not pass yet: short ones, by sorting alone, stand in

    def _best(logits: Tensor, keep: Tensor) -> Tensor:
        """Keep the places of the sorted row that `keep` says."""
        order = logits.argsort(-1, descending=True)
        return torch.full_like(logits, -math.inf).scatter(
            -1, order, logits.gather(-1, order).where(keep, torch.tensor(-math.inf))
        )

    def top_k(logits: Tensor, k: int) -> Tensor:
        """Keep k."""
        return _best(logits, torch.arange(logits.shape[-1]) < k)

    def top_p(logits: Tensor, p: float) -> Tensor:
        """Keep the nucleus."""
        shares = logits.softmax(-1).sort(-1, descending=True).values
        return _best(logits, shares.cumsum(-1) - shares < p)

    def min_p(logits: Tensor, p: float) -> Tensor:
        """Keep what can compete."""
        shares = logits.softmax(-1).sort(-1, descending=True).values
        return _best(logits, shares >= p * shares[..., :1])

    def repetition_penalty(logits: Tensor, tokens: Tensor, penalty: float) -> Tensor:
        """Lower what has occurred."""
        seen = torch.stack([torch.bincount(row, minlength=logits.shape[-1]) > 0 for row in tokens])
        return logits * torch.where(seen, torch.where(logits > 0, 1 / penalty, penalty), 1.0)

    def perplexity(logits: Tensor, targets: Tensor, pad_id: int | None = None) -> float:
        """Score all targets."""
        return float(torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).exp())


STORY = (
    "the lamp on the hill is lit when the bell is still and the bell in the harbour is rung when the lamp is out "
    "and the keeper of the lamp sleeps when the bell is rung and the keeper of the bell sleeps when the lamp is lit "
    "and when the fog is on the harbour the lamp is lit and the bell is rung and the keeper of the hill is out "
)
TEXT = STORY.split()
WORDS = sorted(set(TEXT))
INDEX = {word: index for index, word in enumerate(WORDS)}
LENGTH, TEXTS = 60, 30
SMOOTHING = 0.02
"""Every pair of words is counted as this often seen at least: the tail, as each trained model has one."""
APART = 0.001
"""By so much at most the counts of a row are moved, so that no two words are tied for a place."""


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    logits = _bigrams()
    return [_three_filters(logits), *_texts(logits), _repetition(logits), _surprise(logits), _question()]


def _bigrams() -> Tensor:
    """Return logits [V, V]: which word follows which, counted in the text."""
    counts = SMOOTHING + torch.linspace(APART, 0, len(WORDS)).repeat(len(WORDS), 1)
    for one, other in zip(TEXT, TEXT[1:] + TEXT[:1], strict=True):
        counts[INDEX[one], INDEX[other]] += 1
    return (counts / counts.sum(-1, keepdim=True)).log()


FILTERS = {
    "everything": lambda z: z,
    "top-k, k = 3": lambda z: top_k(z, 3),
    "top-p, p = 0.8": lambda z: top_p(z, 0.8),
    "min-p, p = 0.2": lambda z: min_p(z, 0.2),
}


def _three_filters(logits: Tensor) -> Exhibit:
    frames = {}
    sizes = []
    for word in ("the", "is", "keeper"):
        row = logits[INDEX[word]][None]
        order = row[0].argsort(descending=True)[:8]
        kept = {name: keep(row)[0].softmax(-1) for name, keep in FILTERS.items()}
        sizes.append(f"after “{word}” " + ", ".join(str(int((p > 0).sum())) for p in list(kept.values())[1:]))
        frames[f"after “{word}”"] = bars(
            "kept",
            [WORDS[index] for index in order],
            {name: probabilities[order] for name, probabilities in kept.items()},
            y_axis="probability",
        )
    return choice(
        "What may follow: one row of logits, four ways",
        "place",
        frames,
        note=f"How many words top-k, top-p and min-p keep: {'; '.join(sizes)}. top-k cannot leave fewer than three, "
        "even where one word is nearly certain; the others see how sure the model is.",
    )


def _write(logits: Tensor, keep, generator: torch.Generator) -> list[int]:  # type: ignore[no-untyped-def]
    text = [INDEX["the"]]
    while len(text) < LENGTH:
        probabilities = keep(logits[text[-1]][None]).softmax(-1)
        text.append(int(torch.multinomial(probabilities, 1, generator=generator)))
    return text


def _strange(text: list[int]) -> int:
    """Count pairs of words that the text never had."""
    known = set(zip(TEXT, TEXT[1:] + TEXT[:1], strict=True))
    return sum((WORDS[a], WORDS[b]) not in known for a, b in pairwise(text))


def _texts(logits: Tensor) -> list[Exhibit]:
    rows, counts, measured = [], [], []
    ways = {"the best word each time": lambda z: top_k(z, 1), **FILTERS}
    for name, keep in ways.items():
        generator = torch.Generator().manual_seed(4)
        texts = [_write(logits, keep, generator) for _ in range(TEXTS)]
        strange = sum(map(_strange, texts)) / TEXTS
        different = sum(len(set(text)) for text in texts) / TEXTS
        rows.append([name, " ".join(WORDS[index] for index in texts[0][:12])])
        counts.append([name, f"{strange:.1f}", f"{different:.1f}"])
        measured.append((strange, different))
    (_, circle), (wild, many), *filtered = measured
    unseen, some = max(pair[0] for pair in filtered), sorted(pair[1] for pair in filtered)
    return [
        table("How texts begin", ["drawn from", "words"], rows),
        table(
            f"{TEXTS} texts of {LENGTH} words each",
            ["drawn from", "pairs never seen", "different words"],
            counts,
            note=f"Drawn from everything, a text has {wild:.1f} pairs of words that never occurred together, and "
            f"{many:.1f} different words; the best word each time goes round in a cycle of {circle:.0f}. With a "
            f"filter there are {some[0]:.1f} to {some[-1]:.1f} different words, and {unseen:.1f} new pairs at most.",
        ),
    ]


def _repetition(logits: Tensor) -> Exhibit:
    curves = {}
    for penalty in (1.0, 1.2, 2.0):
        text, seen = [INDEX["the"]], []
        for _ in range(LENGTH):
            # Logits of a bigram table are logarithms, below 0 all of them: multiplied, they fall.
            row = repetition_penalty(logits[text[-1]][None], torch.tensor([text]), penalty)
            text.append(int(row.argmax()))
            seen.append(len(set(text)))
        curves[f"penalty {penalty}"] = (range(1, LENGTH + 1), seen)
    ends = [curve[1][-1] for curve in curves.values()]
    return lines(
        "The best word each time, with a penalty on repetition",
        curves,
        x_axis="words written",
        y_axis="different words so far",
        note=f"Without a penalty (1.0) the text ends with {ends[0]} different words, with 1.2 it has {ends[1]}, "
        f"with 2.0 {ends[2]} of {len(WORDS)}. A word that is never said again may have been needed: “the” is "
        "penalised like any other.",
    )


def _surprise(logits: Tensor) -> Exhibit:
    text = torch.tensor([INDEX[word] for word in TEXT])
    shuffled = text[torch.randperm(len(text), generator=torch.Generator().manual_seed(0))]
    rows = []
    for name, tokens in (("the text itself", text), ("the same words, shuffled", shuffled)):
        targets = tokens[None, 1:]
        counted = torch.bincount(text, minlength=len(WORDS)).log().expand(1, targets.shape[1], -1)
        flat = torch.zeros_like(counted)
        rows.append(
            [name, *(f"{perplexity(z, targets):.1f}" for z in (flat, counted, logits[tokens[:-1]][None]))]
        )
    return table(
        "Perplexity: how many words it seems to choose from",
        ["text", "knows nothing", "counts of words", "counts of pairs"],
        rows,
        note=f"There are {len(WORDS)} words. Counts of pairs are scored on the text that they were counted in, which "
        "flatters them; that they are worse than nothing on shuffled words shows how much they depend on order.",
    )


def _question() -> Exhibit:
    return question(
        "Where one word is nearly certain, how many words do top-k, top-p and min-p keep?",
        seen="What may follow",
        answer="top-k keeps k whatever the row looks like. top-p and min-p keep few there, and more where several "
        "words are about equally likely.",
    )
