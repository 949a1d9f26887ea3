"""Masks live: the tables on a batch with padding, what each does to attention weights, and a mask of your own."""

from __future__ import annotations

import torch
from mine import additive_mask, bidirectional_mask, causal_mask, combine_masks, padding_mask
from torch import Tensor

from grader.learner.demos.exhibits import Exhibit, choice, heatmap, panel, play, question, table, text

WORDS = ["<pad>", "the", "cat", "dog", "slept", "sang", "again"]
BATCH = [["the", "cat", "slept", "again"], ["the", "dog", "<pad>", "<pad>"]]
WIDTH = 6


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    tokens = torch.tensor([[WORDS.index(word) for word in row] for row in BATCH])
    length = tokens.shape[1]
    padding = padding_mask(tokens)
    masks = {
        "bidirectional": bidirectional_mask(length)[None, None].expand(len(BATCH), 1, -1, -1),
        "causal": causal_mask(length)[None, None].expand(len(BATCH), 1, -1, -1),
        "padding": padding.expand(-1, 1, length, -1),
        "causal and padding": combine_masks(causal_mask(length), padding),
    }
    generator = torch.Generator().manual_seed(5)
    scores = torch.randn(len(BATCH), 1, length, length, generator=generator)
    return [
        text(
            "Two sentences, one batch",
            "“the cat slept again” has four tokens. “the dog” has two, so it is filled up with two padding "
            "tokens. A mask says for each query (row) which keys (columns) it may attend to: 1 allows, 0 blocks.",
        ),
        choice(
            "The masks of this batch",
            "mask",
            {name: _maps(mask) for name, mask in masks.items()},
            start=3,
            note="A causal mask is a matter of places: the upper triangle goes. A padding mask is a matter of keys: "
            "whole columns go, for every query. The logical and of both is what a decoder uses.",
        ),
        choice(
            "The same scores, a softmax under each mask",
            "mask",
            {name: _weights(scores, mask) for name, mask in masks.items()},
            start=3,
            note="Every row sums to 1 under every mask: what is blocked is shared among the keys that are left.",
        ),
        _before_or_after(),
        _nothing_to_see(scores),
        _a_mask_of_your_own(),
        _question(),
    ]


def _maps(mask: Tensor) -> Exhibit:
    panels = [panel(_name(row), mask[b, 0].float(), row, row) for b, row in enumerate(BATCH)]
    shares = ", ".join(f"{float(mask[b].float().mean()):.0%}" for b in range(len(BATCH)))
    return heatmap("mask", panels, note=f"Allowed, of all pairs of each sequence: {shares}.")


def _weights(scores: Tensor, mask: Tensor) -> Exhibit:
    weights = (scores + additive_mask(mask)).softmax(dim=-1)
    panels = [panel(_name(row), weights[b, 0], row, row) for b, row in enumerate(BATCH)]
    real = torch.tensor([word != "<pad>" for word in BATCH[1]])
    wasted = float(weights[1, 0][real][:, ~real].sum(-1).mean())
    return heatmap(
        "weights",
        panels,
        note=f"Of the weight of the real words of the second sequence, {wasted:.0%} lies on padding.",
    )


def _name(row: list[str]) -> str:
    return " ".join(word for word in row if word != "<pad>")


def _before_or_after() -> Exhibit:
    """Compare three ways to block the last of four keys, for a small and for a large score of that key."""
    allowed = torch.tensor([True, True, True, False])
    rows, last_of = [], {}
    for last in (3.0, 9.0):
        scores = torch.tensor([2.0, 1.0, 0.0, last])
        ways = {
            "no mask": scores.softmax(-1),
            "0 after the softmax": scores.softmax(-1) * allowed,
            "a score of 0": (scores * allowed).softmax(-1),
            "-inf before it": (scores + additive_mask(allowed)).softmax(-1),
        }
        last_of[last] = ways
        rows += [
            [f"{last:g}", way, *(round(float(value), 4) for value in weights), round(float(weights.sum()), 4)]
            for way, weights in ways.items()
        ]
    left, zeroed = last_of[9.0]["0 after the softmax"], last_of[9.0]["a score of 0"]
    return table(
        "Where does a blocked key go? Scores 2, 1, 0, and a last one that is not to count",
        ["last score", "how it is blocked", "key 0", "key 1", "key 2", "key 3", "sum"],
        rows,
        note=f"After the softmax it is too late: with a last score of 9 the other three keep "
        f"{float(left.sum()):.2g} of the weight. A score of 0 is a score like any other: the blocked key gets "
        f"{float(zeroed[-1]):.2g} of the weight, and its value leaks. With -inf before "
        "the softmax (additive masking) the weights are what they would be if the blocked key did not exist.",
    )


def _nothing_to_see(scores: Tensor) -> Exhibit:
    """Put the padding in front, under a causal mask: the first query is then left without any key."""
    tokens = torch.tensor([[0, 0, WORDS.index("the"), WORDS.index("dog")]])
    mask = combine_masks(causal_mask(4), padding_mask(tokens))[0, 0]
    weights = (scores[0, 0] + additive_mask(mask)).softmax(dim=-1)
    labels = ["<pad>", "<pad>", "the", "dog"]
    empty = int((~mask.any(-1)).sum())
    lost = int(weights.isnan().any(-1).sum())
    return heatmap(
        "Padding on the left: rows that are fully masked",
        [
            panel("causal and padding", mask.float(), labels, labels),
            panel("softmax", weights, labels, labels),
        ],
        note=f"{empty} rows have no allowed key, and a plain softmax makes NaN of {lost} of them: 0 divided by 0. "
        "The mask is right; what attention has to do about such rows is part of 9.3.2.",
    )


def _a_mask_of_your_own() -> Exhibit:
    generator = torch.Generator().manual_seed(7)
    words = WORDS[1:]
    vectors = torch.randn(len(words), WIDTH, generator=generator)
    w_q, w_k = torch.randn(2, WIDTH, WIDTH, generator=generator) * 0.6
    sentence = BATCH[0]
    x = vectors[[words.index(word) for word in sentence]]
    scores = (x @ w_q.T) @ (x @ w_k.T).T / WIDTH**0.5
    weights = (scores + additive_mask(causal_mask(len(sentence)))).softmax(-1)
    return play(
        "Make a mask of your own",
        "attention.js",
        {
            "vectors": dict(zip(words, vectors, strict=True)),
            "w_q": w_q,
            "w_k": w_k,
            "positions": None,
            "sentence": " ".join(sentence),
            "masks": True,
            "causal": True,
            "limit": 8,
        },
        heatmap("Weights under the causal mask", [panel("weights", weights, sentence, sentence)]),
        note="The vectors are random: this shows what a mask does, not what a trained model would attend to.",
    )


def _question() -> Exhibit:
    return question(
        "A key is blocked by a 0 after the softmax, and its score rises from 3 to 9. What happens to the sum "
        "of the other three weights, and what with -inf before the softmax?",
        seen="Where does a blocked key go?",
        answer="With a 0 after the softmax their sum falls nearly to 0. With -inf before it the sum is 1 both times: "
        "the blocked key has no say.",
    )
