"""Unit 9.3 live: one attention, two masks, and what each of them is good for: a reader and a writer, trained here."""

from __future__ import annotations

import random
from itertools import product

import torch
from mine import (
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    additive_mask,
    bidirectional_mask,
    causal_mask,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, panel, play, question, table, text

WORDS = ["the", "tired", "cat", "slept", "again"]
VOCABULARY = ["the", "tired", "merry", "cat", "dog", "slept", "sang", "again", "never"]
WIDTH, LENGTH, STEPS = 16, len(WORDS), 120
SHOWN = (0, 10, 30, STEPS)
"""After how many steps of training the writer is asked."""
VERBS, ENDS = {"cat": "slept", "dog": "sang"}, {"tired": "again", "merry": "never"}
MASKS = {"bidirectional": bidirectional_mask, "causal": causal_mask}
SPAN, NARROW, PART_STEPS, TOLD = 48, 32, 250, 400
"""Of the model that is built part by part: positions, width, training steps, stories that it learns from."""
PARTS: dict[str, dict[str, int | str | bool]] = {
    "bigram": {},
    "+ average of what came before": {"mix": "average"},
    "one head of attention in its place": {"mix": "attention", "heads": 1},
    "four heads": {"mix": "attention", "heads": 4},
    "+ feed-forward network": {"mix": "attention", "heads": 4, "network": True},
    "+ residual connections": {"mix": "attention", "heads": 4, "network": True, "residual": True},
    "+ norms": {"mix": "attention", "heads": 4, "network": True, "residual": True, "norm": True},
}
"""What each model has; everything else about it is the same."""


class Model(nn.Module):
    """One head of attention between word vectors and scores at every position."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(VOCABULARY), WIDTH)
        self.w_q, self.w_k, self.w_v = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.head = nn.Linear(WIDTH, outputs)
        self.positions = sinusoidal_positions(LENGTH, WIDTH)

    def forward(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores [B, T, outputs] and weights [B, T, T]."""
        x = self.embed(tokens) + self.positions
        output, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)
        return self.head(x + output), weights


class Part(nn.Module):
    """A language model over characters with some of a transformer's parts."""

    def __init__(
        self,
        characters: int,
        mix: str = "",
        heads: int = 0,
        network: bool = False,
        residual: bool = False,
        norm: bool = False,
    ) -> None:
        super().__init__()
        self.mix, self.residual = mix, residual
        self.embed, self.head = nn.Embedding(characters, NARROW), nn.Linear(NARROW, characters)
        self.positions, self.mask = sinusoidal_positions(SPAN, NARROW), causal_mask(SPAN)
        self.attention = MultiHeadAttention(NARROW, heads) if heads else None
        self.network = FeedForward(NARROW, 4 * NARROW) if network else None
        self.norm1, self.norm2, self.norm = (LayerNorm(NARROW) if norm else nn.Identity() for _ in range(3))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, T, characters] for tokens [B, T = SPAN]."""
        x = self.embed(tokens)
        if self.mix:
            x = x + self.positions
        if self.mix == "average":
            x = additive_mask(self.mask).softmax(-1) @ x
        if self.attention is not None:
            y = self.attention(self.norm1(x), self.mask)
            x = x + y if self.residual else y
        if self.network is not None:
            y = self.network(self.norm2(x))
            x = x + y if self.residual else y
        return self.head(self.norm(x))


def demo() -> list[Exhibit]:
    """Return what the unit shows."""
    masks = {name: make(LENGTH) for name, make in MASKS.items()}
    readers = {name: _reader(mask) for name, mask in masks.items()}
    writer, asked = _writer(masks["causal"], SHOWN)
    cheat, _ = _writer(masks["bidirectional"], (STEPS,))
    tokens = _tokens([WORDS])
    with torch.no_grad():
        x = writer.embed(tokens[0]) + writer.positions
        q, k, v = writer.w_q(x), writer.w_k(x), writer.w_v(x)
        results = {name: scaled_dot_product_attention(q, k, v, mask) for name, mask in masks.items()}
    return [
        text(
            "One mechanism, two masks",
            "An encoder reads: every word may look at every other (bidirectional self-attention). A decoder writes: "
            "a word "
            "may look only at itself and at what came before (causal self-attention). Below, both run on the same "
            "queries, keys and values. Nothing differs but the mask.",
        ),
        _maps_of_masks(masks),
        _weights_from_scores(q, k, masks["causal"]),
        _maps_of_weights(results),
        _who_sees_what(masks),
        _distances(results),
        _outputs(results),
        _reading(readers, masks),
        _next_words(asked),
        _writing({"causal": writer, "bidirectional": cheat}, masks),
        _order_matters(writer),
        _part_by_part(),
        _play(writer, results["causal"][1]),
        _question(),
    ]


def _tokens(sentences: list[list[str]]) -> Tensor:
    return torch.tensor([[VOCABULARY.index(word) for word in words] for words in sentences])


def _train(model: Model, tokens: Tensor, targets: Tensor, mask: Tensor, steps: range) -> None:
    """Train on all sentences at once; a target below 0 is none."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in steps:
        scores, _ = model(tokens, mask)
        loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _claims() -> tuple[Tensor, Tensor]:
    """Return eight sentences [8, T], and for each position whether the sentence ends in "again" [8, T]."""
    sentences = [
        ["the", adjective, animal, verb, end]
        for adjective, (animal, verb), end in product(ENDS, VERBS.items(), ENDS.values())
    ]
    happened = [[int(words[-1] == "again")] * LENGTH for words in sentences]
    return _tokens(sentences), torch.tensor(happened)


def _reader(mask: Tensor) -> Model:
    torch.manual_seed(0)
    model, (tokens, labels) = Model(2), _claims()
    _train(model, tokens, labels, mask, range(STEPS))
    return model


def _writer(mask: Tensor, shown: tuple[int, ...]) -> tuple[Model, dict[int, Tensor]]:
    """Train to say the next word; return the model, and after each number of steps its probabilities [T, V]."""
    torch.manual_seed(1)
    model = Model(len(VOCABULARY))
    sentences = [
        ["the", adjective, animal, VERBS[animal], ENDS[adjective]]
        for adjective, animal in product(ENDS, VERBS)
    ]
    tokens = _tokens(sentences)
    targets = torch.cat([tokens[:, 1:], torch.full((len(tokens), 1), -1)], dim=1)
    asked, done = {}, 0
    for steps in shown:
        _train(model, tokens, targets, mask, range(done, steps))
        done = steps
        with torch.no_grad():
            asked[steps] = model(_tokens([WORDS]), mask)[0][0].softmax(-1)
    return model, asked


def _maps_of_masks(masks: dict[str, Tensor]) -> Exhibit:
    panels = [panel(name, mask.float(), WORDS, WORDS) for name, mask in masks.items()]
    return heatmap("The two masks", panels, note="1: this query (row) may look at this key (column).")


def _weights_from_scores(q: Tensor, k: Tensor, mask: Tensor) -> Exhibit:
    scores = q @ k.T / WIDTH**0.5
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
    return choice(
        "The same scores, softmaxed under each mask",
        "mask",
        {
            name: heatmap("weights", [panel(name, weights, WORDS, WORDS)])
            for name, (_, weights) in results.items()
        },
        start=1,
        note="Every row sums to 1. The queries and keys are those of the writer below, which was trained under the "
        "causal mask.",
    )


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
        note=f"The last word sees everything under both masks: its two outputs differ by {float(distance[-1]):.1g}.",
    )


def _outputs(results: dict[str, tuple[Tensor, Tensor]]) -> Exhibit:
    panels = [
        panel(name, output[:, :6], WORDS, [f"{column}" for column in range(1, 7)])
        for name, (output, _) in results.items()
    ]
    return heatmap(
        "The outputs themselves",
        panels,
        row_axis="word",
        column_axis=f"the first 6 of {WIDTH} columns",
        diverging=True,
        note="What the next layer reads. Only the rows of the last word are equal.",
    )


@torch.no_grad()
def _reading(readers: dict[str, Model], masks: dict[str, Tensor]) -> Exhibit:
    tokens, labels = _claims()
    right = {
        name: (model(tokens, masks[name])[0].argmax(-1) == labels).float().mean(0)
        for name, model in readers.items()
    }
    both, past = (right[name] for name in masks)
    return bars(
        "A reader's task: say at every word whether the sentence ends in “again” or in “never”",
        [
            "1st word",
            *(
                f"{place}th word" if place > 3 else ["2nd word", "3rd word"][place - 2]
                for place in range(2, 6)
            ),
        ],
        {f"{name} mask": (100 * values).tolist() for name, values in right.items()},
        y_axis="% of eight sentences that are read correctly",
        note=f"Two readers, trained for {STEPS} steps from the same weights. The bidirectional one is right at "
        f"{int((both == 1).sum())} of {LENGTH} words, because every word may look at the end. The causal one is "
        "right at "
        f"{int((past == 1).sum())}: before the last word it can only guess (a guess is right in half of all cases). "
        "Labels for tokens want an encoder.",
    )


def _next_words(asked: dict[int, Tensor]) -> Exhibit:
    frames = {}
    for steps, probabilities in asked.items():
        rows = []
        for place in range(LENGTH - 1):
            best = probabilities[place].topk(3)
            guesses = [
                f"{VOCABULARY[i]} {p:.2f}"
                for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
            ]
            rows.append([" ".join(WORDS[: place + 1]), *guesses, WORDS[place + 1]])
        frames[steps] = table(
            "guesses", ["seen so far", "1st guess", "2nd guess", "3rd guess", "really next"], rows
        )
    last = asked[STEPS]
    known = [float(last[place, VOCABULARY.index(WORDS[place + 1])]) for place in range(LENGTH - 1)]
    return choice(
        "A writer's task: the next word, step by step",
        "training step",
        frames,
        start=len(frames) - 1,
        slider=True,
        note="It learns from four sentences: a cat slept, a dog sang; after “tired” it ends in “again”, after "
        "“merry” in "
        f"“never”. At the end “slept” gets a probability of {known[2]:.2f} and “again” {known[3]:.2f}, as the text "
        "before "
        f"them decides; “tired” gets {known[0]:.2f} and “cat” {known[1]:.2f}, since nothing before them does. No row "
        "could have seen its answer.",
    )


@torch.no_grad()
def _writing(writers: dict[str, Model], masks: dict[str, Tensor]) -> Exhibit:
    """Let both write from the same beginning, where no next word exists yet: the rest is filled with "the"."""
    rows = []
    for name, model in writers.items():
        for start in (["the", "tired", "dog"], ["the", "merry", "cat"]):
            words = list(start)
            while len(words) < LENGTH:
                scores, _ = model(_tokens([words + ["the"] * (LENGTH - len(words))]), masks[name])
                words.append(VOCABULARY[int(scores[0, len(words) - 1].argmax())])
            wanted = [VERBS[start[2]], ENDS[start[1]]]
            rows.append([name, " ".join(start), " ".join(words[3:]), " ".join(wanted)])
    right = {name: sum(row[2] == row[3] for row in rows if row[0] == name) for name in writers}
    return table(
        "Two writers, trained with the same loss under different masks",
        ["mask", "prompt", "it goes on", "right"],
        rows,
        note=f"Right: {right['causal']} of 2 under the causal mask, {right['bidirectional']} of 2 under the "
        "bidirectional one. "
        "In training the second could look at the next word and copy it: a leak. In use there is nothing to copy.",
    )


@torch.no_grad()
def _order_matters(model: Model) -> Exhibit:
    embedded = model.embed(_tokens([WORDS])[0])

    def outputs(x: Tensor) -> Tensor:
        return scaled_dot_product_attention(model.w_q(x), model.w_k(x), model.w_v(x))[0]

    shuffle = torch.tensor([4, 2, 0, 3, 1])
    back = shuffle.argsort()
    positions = model.positions
    bare = (outputs(embedded) - outputs(embedded[shuffle])[back]).norm(dim=-1)
    placed = (outputs(embedded + positions) - outputs(embedded[shuffle] + positions)[back]).norm(dim=-1)
    return bars(
        "Shuffle the sentence: does a word's output notice?",
        WORDS,
        {"without positions": bare.tolist(), "with sinusoidal positions": placed.tolist()},
        y_axis="change of the output",
        note="No mask. Attention alone reads a set of words (it is permutation-equivariant); positions make it a "
        f"sequence. The largest change without them is {float(bare.max()):.1g}, which is rounding.",
    )


def _stories() -> str:
    """Return small stories whose names are new in each: they can only be looked up."""
    chance, lines = random.Random(0), []
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    for _ in range(TOLD):
        one, two = ("".join(chance.sample(syllables, 2)) for _ in range(2))
        animal, other = chance.sample(["fox", "owl", "cat", "dog"], 2)
        thing, place = chance.choice(["key", "drum", "lamp"]), chance.choice(["lake", "mill", "barn"])
        lines.append(
            f"{one} the {animal} lost a {thing}. {two} the {other} found the {thing} by the {place}. {one} was glad.\n"
        )
    return "".join(lines)


def _part_by_part() -> Exhibit:
    """Train one model after the other, each with a part more, on the same pieces of the same text."""
    text = _stories()
    characters = sorted(set(text))
    tokens = torch.tensor([characters.index(character) for character in text])
    pieces = tokens[: len(tokens) // (SPAN + 1) * (SPAN + 1)].view(-1, SPAN + 1)
    known, new = pieces[:-100], pieces[-100:]
    rows: list[list[object]] = []
    for name, parts in PARTS.items():
        torch.manual_seed(0)
        model, generator = Part(len(characters), **parts), torch.Generator().manual_seed(0)  # type: ignore[arg-type]
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for step in range(PART_STEPS):
            batch = known[torch.randint(len(known), (16,), generator=generator)]
            optimizer.param_groups[0]["lr"] = 1e-2 * min((step + 1) / 20, 1.1 - step / PART_STEPS)
            optimizer.zero_grad()
            _paid(model, batch).backward()
            optimizer.step()
        with torch.no_grad():
            loss = float(_paid(model, new))
        change = round(loss - float(str(rows[-1][2])), 2) if rows else None
        rows.append([name, sum(p.numel() for p in model.parameters()), round(loss, 2), change])
    fallen = min(rows[1:], key=lambda row: float(str(row[3])))
    return table(
        "The same small model, part by part, with its loss",
        ["model", "parameters", "loss on new stories", "change"],
        rows,
        note=f"Nats a character, after {PART_STEPS} steps each on the same pieces of one text, one seed: differences "
        f"of a few hundredths are noise. The greatest fall comes with: {fallen[0]}. Names are new in every story, so a "
        "model has to look them up. In one layer there is little for residual connections and norms to do: they are "
        "for depth (kata demo encoder-layer, kata demo layer-norm).",
    )


def _paid(model: nn.Module, pieces: Tensor) -> Tensor:
    return F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())


@torch.no_grad()
def _play(model: Model, weights: Tensor) -> Exhibit:
    return play(
        "Try it: your own sentence, your own mask",
        "attention.js",
        {
            "vectors": dict(zip(VOCABULARY, model.embed.weight, strict=True)),
            "w_q": model.w_q.weight,
            "w_k": model.w_k.weight,
            "positions": model.positions,
            "sentence": " ".join(WORDS),
            "masks": True,
            "causal": True,
            "limit": LENGTH,
        },
        heatmap("The trained writer's weights", [panel("causal", weights, WORDS, WORDS)]),
        note="The queries and keys are the trained writer's. Which word does the end of the sentence depend on?",
    )


def _question() -> Exhibit:
    return question(
        "Which added part lowered the loss most, and which one raised it?",
        seen="The same small model",
        answer="Read down the column of losses. Attention lowers it most. The plain average raises it: it forgets "
        "which character came last.",
    )
