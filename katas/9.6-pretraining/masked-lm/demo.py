"""The masked language model live: what is hidden, what is found again, from one side and from both, at many rates."""

from __future__ import annotations

import harbor
import torch
from mine import Encoder, causal_mask, padding_mask, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question, table, text

try:
    from mine import MaskedLM, hide

    OWN = True
except ImportError:  # the learner's does not pass yet: small ones stand in
    OWN = False

    def hide(tokens: Tensor, *, mask_id: int, vocab_size: int, special_ids=(), rate: float = 0.15,  # type: ignore[no-untyped-def]
             generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Choose, then decide with another number what becomes of each."""
        words = torch.tensor([word for word in range(vocab_size) if word not in set(special_ids)])
        ordinary = torch.isin(tokens, words)
        first, second = torch.rand(2, *tokens.shape, generator=generator)
        other = words[torch.randint(len(words), tokens.shape, generator=generator)]
        chosen = ordinary & (first < rate)
        kept = torch.where(second < 0.9, other, tokens)
        return (
            torch.where(chosen, torch.where(second < 0.8, mask_id, kept), tokens),
            torch.where(chosen, tokens, -100),
        )

    class MaskedLM(nn.Module):  # type: ignore[no-redef]
        """Embeddings, an encoder, and the same table again."""

        def __init__(self, vocab_size: int, d_model: int = 64, num_heads: int = 4, d_ff: int = 128, num_layers: int = 2,
                     max_len: int = 128) -> None:  # fmt: skip
            super().__init__()
            self.words = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)
            self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)

        def body(self, tokens: Tensor) -> Tensor:
            """Read from both sides."""
            x = (
                F.embedding(tokens, self.words) * self.words.shape[1] ** 0.5
                + self.positions[: tokens.shape[1]]
            )
            return self.encoder(x, padding_mask(tokens))

        def forward(self, tokens: Tensor) -> Tensor:
            """Score every word."""
            return self.body(tokens) @ self.words.T


VOCAB, STEPS = len(harbor.WORDS), 200
RATES = (0.02, 0.15, 0.4, 0.8)
GAPS = (
    "these <mask> near the hill light the lamp",
    "this old keeper near the rock <mask> the lamp",
    "this child <mask> the boat",
    "<mask> tired sailors ring the bell",
    "these fishers near the pier mend the <mask>",
    "this sailor near <mask> beach sails the ship",
)


class OneSided(nn.Module):
    """The same body under a causal mask, trained to say the next word."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Parameter(torch.randn(VOCAB, 32) * 32**-0.5)
        self.register_buffer("positions", sinusoidal_positions(harbor.LENGTH, 32), persistent=False)
        self.encoder = Encoder(2, 32, 4, 64)

    def forward(self, tokens: Tensor) -> Tensor:
        """Score the next word at every position."""
        x = F.embedding(tokens, self.words) * 32**0.5 + self.positions[: tokens.shape[1]]
        return self.encoder(x, causal_mask(tokens.shape[1])) @ self.words.T


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    train, test = harbor.sentences(2000, 0), harbor.sentences(300, 1 << 20)
    models, curves = {}, {}
    for rate in RATES:
        torch.manual_seed(0)
        model = MaskedLM(VOCAB, 32, 4, 64, 2, harbor.LENGTH)
        curves[rate] = _train(model, train, test, rate)
        models[rate] = model.eval()
    model = models[0.15]
    return [
        _hidden(test),
        _found(model),
        _rates(curves),
        *_sides(model, train, test),
        _neighbors(model),
        _question(),
    ]


def _train(model: nn.Module, train: Tensor, test: Tensor, rate: float) -> tuple[list[int], list[float]]:
    """Train; return by step the share of single hidden words that is found."""
    generator, optimizer = torch.Generator().manual_seed(0), torch.optim.AdamW(model.parameters(), lr=4e-3)
    steps, shares = [], []
    for step in range(STEPS + 1):
        if step % 40 == 0:
            steps.append(step)
            shares.append(100 * float(_by_word(model.eval(), test).mean()))
            model.train()
        rows = torch.randint(len(train), (64,), generator=generator)
        inputs, targets = hide(
            train[rows], mask_id=harbor.MASK, vocab_size=VOCAB, special_ids=harbor.SPECIAL, rate=rate,
            generator=generator,
        )  # fmt: skip
        if bool((targets != -100).any()):
            loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return steps, shares


@torch.no_grad()
def _by_word(model: nn.Module, test: Tensor) -> Tensor:
    """Hide one word of each sentence; return for each whether it was found."""
    place = torch.tensor([1 + row % (int((words != 0).sum()) - 1) for row, words in enumerate(test)])
    rows, inputs = torch.arange(len(test)), test.clone()
    inputs[rows, place] = harbor.MASK
    return (model(inputs)[rows, place].argmax(-1) == test[rows, place]).float()


def _hidden(test: Tensor) -> Exhibit:
    frames = {}
    for rate in (0.05, 0.15, 0.3, 0.6):
        inputs, targets = hide(
            test[:6], mask_id=harbor.MASK, vocab_size=VOCAB, special_ids=harbor.SPECIAL, rate=rate,
            generator=torch.Generator().manual_seed(3),
        )  # fmt: skip
        rows = []
        for words, read, asked in zip(test[:6], inputs, targets, strict=True):
            wanted = [harbor.WORDS[word] for word in asked.tolist() if word >= 0]
            rows.append([harbor.decode(words), harbor.decode(read), " ".join(wanted) or "nothing"])
        frames[f"{rate:g}"] = table("sentences", ["as written", "as read", "asked for"], rows)
    return choice(
        "What is hidden, and what is asked for",
        "rate",
        frames,
        start=1,
        slider=True,
        note="Of the chosen words 80% become <mask>; some become another word, some stay as they were and are asked "
        "for all the same.",
    )


@torch.no_grad()
def _found(model: nn.Module) -> Exhibit:
    tokens, rows = harbor.encode(list(GAPS)), []
    for sentence, row, logits in zip(GAPS, tokens, model(tokens), strict=True):
        chances = logits[int((row == harbor.MASK).nonzero()[0])].softmax(-1)
        best = chances.topk(3)
        guesses = [
            f"{harbor.WORDS[w]} {p:.0%}"
            for p, w in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        rows.append([sentence, *guesses])
    seen = {first.split()[0] for _, first, *_ in rows[3:4]} == {"these"}
    verdict = "as the model has it" if seen else "which the model does not see yet"
    return table(
        "Gaps, and what the model says",
        ["sentence", "1st guess", "2nd guess", "3rd guess"],
        rows,
        note=f"After {STEPS} steps at a rate of 0.15. What comes after a gap can decide it: with “sailors” after it, "
        f"the fourth begins with “these”, {verdict}. "
        + ("Your own model." if OWN else "A given stand-in: yours takes its place when it passes."),
    )


def _rates(curves: dict[float, tuple[list[int], list[float]]]) -> Exhibit:
    best = max(curves, key=lambda rate: curves[rate][1][-1])
    between = best not in (RATES[0], RATES[-1])
    why = ". Few gaps teach little at each step; many gaps leave little to read between them."
    return lines(
        "Single hidden words that are found, by the rate in training",
        {f"rate {rate:g}": curve for rate, curve in curves.items()},
        x_axis="training step",
        y_axis="% found",
        note="At the end: "
        + ", ".join(f"{rate:g}: {shares[-1]:.0f}%" for rate, (_, shares) in curves.items())
        + (why if between else f". After these steps a rate of {best:g} finds the most."),
    )


def _sides(model: nn.Module, train: Tensor, test: Tensor) -> list[Exhibit]:
    torch.manual_seed(0)
    causal, generator = OneSided(), torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(causal.parameters(), lr=4e-3)
    for _ in range(STEPS):
        words = train[torch.randint(len(train), (64,), generator=generator)]
        loss = F.cross_entropy(causal(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    kinds = {
        "this, these": ("this", "these"),
        "person": (*harbor.PEOPLE, *harbor.PLURALS),
        "verb": (*harbor.VERBS, *harbor.PLURAL_VERBS),
        "thing": tuple(thing for pair in harbor.THINGS for thing in pair),
    }
    right: dict[str, list[float]] = {"both sides": [], "left side alone": []}
    with torch.no_grad():
        ahead = causal(test[:, :-1])
        for words in kinds.values():
            tokens = torch.tensor([harbor.WORDS.index(word) for word in words])
            rows, places = torch.isin(test, tokens).nonzero(as_tuple=True)
            inputs = test[rows].clone()
            inputs[torch.arange(len(rows)), places] = harbor.MASK
            wanted = test[rows, places]
            both = model(inputs)[torch.arange(len(rows)), places]
            past = ahead[rows, places - 1]
            for name, logits in (("both sides", both), ("left side alone", past)):
                right[name].append(100 * float((logits.argmax(-1) == wanted).float().mean()))
    gained = {kind: both - past for kind, both, past in zip(kinds, *right.values(), strict=True)}
    most = max(gained, key=lambda kind: gained[kind])
    helps = f"The other side helps most at “{most}”: {gained[most]:.0f} points more."
    if gained[most] < 1:
        helps = "After so few steps the other side helps nowhere yet: there is more to learn from two sides."
    return [
        bars(
            "A hidden word from both sides, a next word from one",
            list(kinds),
            right,
            y_axis="% right",
            note=f"Trained as long, on the same sentences. {helps} A thing has two words that fit equally, so "
            "about half is the most there is to find.",
        ),
        text(
            "What it costs",
            "The causal model learned from every word of a text, this one from the chosen ones. In return each of "
            "its vectors has seen the whole sentence, which is what labels and searches need.",
        ),
    ]


@torch.no_grad()
def _neighbors(model: nn.Module) -> Exhibit:
    """Find the words whose vectors are nearest: the only table [V, D] is both ends' own."""
    (words,) = [p for p in model.parameters() if tuple(p.shape) == (VOCAB, 32)][:1]
    unit = F.normalize(words - words.mean(0), dim=-1)
    rows, together = [], 0
    things = tuple(thing for pair in harbor.THINGS for thing in pair)
    people = (*harbor.PEOPLE, *harbor.PLURALS)
    groups = (people, harbor.PLACES, harbor.ADJECTIVES, (*harbor.VERBS, *harbor.PLURAL_VERBS), things)
    for word in ("keeper", "hill", "old", "lights", "lamp"):
        cosines = unit @ unit[harbor.WORDS.index(word)]
        best = cosines.topk(4)
        nearest = harbor.WORDS[int(best.indices[1])]
        together += any(word in group and nearest in group for group in groups)
        rows.append(
            [
                word,
                *(
                    f"{harbor.WORDS[w]} {c:.2f}"
                    for c, w in list(zip(best.values.tolist(), best.indices.tolist(), strict=True))[1:]
                ),
            ]
        )
    return table(
        "Words known by the same company: nearest in the table",
        ["word", "1st", "2nd", "3rd"],
        rows,
        note="Cosines of rows of the one table that reads and answers. A word of the same kind (a person, a place, a "
        f"verb and so on) is nearest to {together} of the {len(rows)}"
        + (": words that fit the same gaps come together." if together > len(rows) / 2 else "."),
    )


def _question() -> Exhibit:
    return question(
        "A hidden word is easier to guess than a next word. Which words does the reader from both sides know "
        "that the other one cannot?",
        seen="A hidden word from both sides",
        answer="Those that what follows decides. The model that reads from one side has not seen it.",
    )
