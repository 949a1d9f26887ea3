"""Unit 9.3 live: one attention, two masks, and what each of them is good for."""

from __future__ import annotations

import torch
from mine import (
    additive_mask,
    bidirectional_mask,
    causal_mask,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from torch import Tensor, nn

from grader.demos.exhibits import Exhibit, bars, heatmap, panel, table, text

WORDS = ["the", "tired", "cat", "slept", "again"]
VOCABULARY = ["the", "tired", "cat", "dog", "slept", "sang", "again", "never"]
D_MODEL, D_HEAD = 16, 8


def demo() -> list[Exhibit]:
    """Return what the unit shows."""
    torch.manual_seed(3)
    embedding = nn.Embedding(len(VOCABULARY), D_MODEL)
    w_q, w_k, w_v = (nn.Linear(D_MODEL, D_HEAD, bias=False) for _ in range(3))
    tokens = torch.tensor([VOCABULARY.index(word) for word in WORDS])
    with torch.no_grad():
        x = 1.5 * embedding(tokens) + sinusoidal_positions(len(WORDS), D_MODEL)
        q, k, v = w_q(x), w_k(x), w_v(x)
        masks = {"bidirectional": bidirectional_mask(len(WORDS)), "causal": causal_mask(len(WORDS))}
        results = {name: scaled_dot_product_attention(q, k, v, mask) for name, mask in masks.items()}
        return [
            text(
                "One mechanism",
                "An encoder reads: every word may look at every other. A decoder writes: a word may look only "
                "at itself and at what came before. Below, both run on the same queries, keys and values. "
                "Nothing differs but the mask.",
            ),
            _maps_of_masks(masks),
            _weights_from_scores(q, k, masks["causal"]),
            _maps_of_weights(results),
            _who_sees_what(masks),
            _distances(results),
            _classification(results["bidirectional"][0]),
            _next_words(results["causal"][0]),
            _order_matters(embedding(tokens), (w_q, w_k, w_v)),
        ]


def _maps_of_masks(masks: dict[str, Tensor]) -> Exhibit:
    panels = [panel(name, mask.float(), WORDS, WORDS) for name, mask in masks.items()]
    return heatmap("The two masks", panels, note="1: this query (row) may look at this key (column).")


def _weights_from_scores(q: Tensor, k: Tensor, mask: Tensor) -> Exhibit:
    scores = q @ k.T / D_HEAD**0.5
    masked = scores + additive_mask(mask)
    word = WORDS.index("cat")
    rows = [
        ["score", *scores[word].tolist()],
        ["+ additive mask", *masked[word].tolist()],
        ["softmax", *masked[word].softmax(-1).tolist()],
    ]
    return table(
        "From scores to weights, for the query “cat” under the causal mask",
        ["step", *WORDS],
        [[step, *(round(value, 3) for value in values)] for step, *values in rows],
        note="-inf becomes exactly 0; the words that are left share the whole weight.",
    )


def _maps_of_weights(results: dict[str, tuple[Tensor, Tensor]]) -> Exhibit:
    panels = [panel(f"{name} weights", weights, WORDS, WORDS) for name, (_, weights) in results.items()]
    return heatmap("The same scores, softmaxed under each mask", panels, note="Every row sums to 1.")


def _who_sees_what(masks: dict[str, Tensor]) -> Exhibit:
    rows = []
    for place, word in enumerate(WORDS):
        seen = {
            name: [WORDS[key] for key in range(len(WORDS)) if mask[place, key]]
            for name, mask in masks.items()
        }
        hidden = len(WORDS) - len(seen["causal"])
        rows.append([word, len(seen["bidirectional"]), " ".join(seen["causal"]), hidden])
    return table(
        "What each word may see",
        ["word", "encoder sees", "decoder sees", "hidden from the decoder"],
        rows,
    )


def _distances(results: dict[str, tuple[Tensor, Tensor]]) -> Exhibit:
    encoder, decoder = results["bidirectional"][0], results["causal"][0]
    distance = (encoder - decoder).norm(dim=-1)
    return bars(
        "How far the mask moves each word's output",
        WORDS,
        {"distance": distance.tolist()},
        y_axis="distance of the two outputs",
        note="The last word sees everything under both masks: its two outputs are the same.",
    )


def _classification(output: Tensor) -> Exhibit:
    sentence = output.mean(dim=0)
    direction = torch.randn(D_HEAD, generator=torch.Generator().manual_seed(1))
    score = float(sentence @ direction)
    rows = [
        [f"feature {i}", round(float(s), 3), round(float(d), 3)]
        for i, (s, d) in enumerate(zip(sentence, direction, strict=True))
    ]
    verdict = "positive" if score > 0 else "negative"
    return table(
        "A reader's task: one label for the sentence",
        ["", "mean of the outputs", "weight of the classifier"],
        [*rows, ["sum of products", round(score, 3), verdict]],
        note="The classifier is random: this shows where the label comes from, not that it is right. 9.3.6 trains one.",
    )


def _next_words(output: Tensor) -> Exhibit:
    head = torch.randn(len(VOCABULARY), D_HEAD, generator=torch.Generator().manual_seed(2))
    rows = []
    for place in range(len(WORDS) - 1):
        probabilities = (head @ output[place]).softmax(dim=-1)
        best = probabilities.topk(3)
        guesses = [
            f"{VOCABULARY[i]} {p:.2f}"
            for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        rows.append([" ".join(WORDS[: place + 1]), *guesses, WORDS[place + 1]])
    return table(
        "A writer's task: the next word, step by step",
        ["seen so far", "1st guess", "2nd guess", "3rd guess", "really next"],
        rows,
        note="An untrained model guesses; what matters is that no row could have seen its answer. 9.3.7 trains one.",
    )


def _order_matters(embedded: Tensor, projections: tuple[nn.Linear, ...]) -> Exhibit:
    def outputs(x: Tensor) -> Tensor:
        q, k, v = (project(x) for project in projections)
        return scaled_dot_product_attention(q, k, v)[0]

    shuffle = torch.tensor([4, 2, 0, 3, 1])
    back = shuffle.argsort()
    positions = sinusoidal_positions(len(WORDS), D_MODEL)
    bare = (outputs(embedded) - outputs(embedded[shuffle])[back]).norm(dim=-1)
    placed = (outputs(embedded + positions) - outputs(embedded[shuffle] + positions)[back]).norm(dim=-1)
    return bars(
        "Shuffle the sentence: does a word's output notice?",
        WORDS,
        {"without positions": bare.tolist(), "with sinusoidal positions": placed.tolist()},
        y_axis="change of the output",
        note="Attention alone reads a set of words. Positions make it a sequence.",
    )
