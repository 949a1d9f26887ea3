"""Self-attention live: one word in two sentences, why scores are scaled, no order, and learning where to look."""

from __future__ import annotations

import torch
from mine import SelfAttention
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, choice, heatmap, lines, panel, play, question, table, text

WORDS = {
    "river": (2.0, 0.0, 0.0),
    "bank": (1.0, 1.0, 0.0),
    "floods": (1.0, 0.0, 2.0),
    "loan": (0.0, 2.0, 0.0),
}
"""How much each word has of water, money and movement, as in the lesson."""
KEYS, TRIALS = 10, 2000
NAMES, VALUES = ["ann", "ben", "cleo", "dan"], ["red", "blue", "green", "white"]
STEPS = 300
SHOWN = (0, 30, 60, 120, STEPS)
"""After how many steps of training the map is looked at."""


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    return [*_two_sentences(), _try_it(), _scaling(), _no_order(), *_learning_to_look(), _question()]


def _of_the_lesson() -> SelfAttention:
    attention = SelfAttention(3, 4)
    attention.load_state_dict({
        "w_q.weight": torch.tensor([[1.0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        "w_k.weight": torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]]),
        "w_v.weight": torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0]]),
    })  # fmt: skip
    return attention


def _two_sentences() -> list[Exhibit]:
    attention, panels, rows = _of_the_lesson(), [], []
    for sentence in (["river", "bank", "floods"], ["loan", "bank"]):
        x = torch.tensor([[WORDS[word] for word in sentence]])
        with torch.no_grad():
            output, weights = attention(x)
        place = sentence.index("bank")
        panels.append(panel(" ".join(sentence), weights[0], sentence, sentence))
        water, money, _ = WORDS["bank"]
        rows.append([" ".join(sentence), f"{water - money:+.2f}", f"{output[0, place, 3]:+.2f}"])
    return [
        heatmap(
            "Who looks at whom",
            panels,
            note="The lesson's numbers. A row says where the word on its left takes its new vector from; it sums to 1. "
            "The map is not symmetric: what one word seeks is not what the other shows.",
        ),
        table(
            "The same word in two sentences",
            ["sentence", "bank alone: water minus money", "bank after attention"],
            rows,
            note="Same module, same vector for bank, other neighbours. Now it is wet, or it lends.",
        ),
    ]


def _try_it() -> Exhibit:
    attention, sentence = _of_the_lesson(), ["loan", "bank", "floods"]
    with torch.no_grad():
        _, weights = attention(torch.tensor([[WORDS[word] for word in sentence]]))
    return play(
        "Try it: a sentence of your own",
        "attention.js",
        {
            "vectors": WORDS,
            "w_q": attention.w_q.weight,
            "w_k": attention.w_k.weight,
            "positions": None,
            "sentence": " ".join(sentence),
            "masks": False,
            "causal": False,
            "limit": 8,
        },
        heatmap("Who looks at whom", [panel(" ".join(sentence), weights[0], sentence, sentence)]),
        note="Put the words in another order, or write one twice. What changes, and what does not?",
    )


def _scaling() -> Exhibit:
    widths = [4, 16, 64, 256, 1024]
    scaled, unscaled = [], []
    for width in widths:
        # The first half of x holds what a position asks, the second what it shows: both are random numbers.
        attention = SelfAttention(2 * width, width)
        eye, zero = torch.eye(width), torch.zeros(width, width)
        attention.load_state_dict({
            "w_q.weight": torch.cat([eye, zero], dim=1),
            "w_k.weight": torch.cat([zero, eye], dim=1),
            "w_v.weight": torch.cat([zero, zero], dim=1),
        })  # fmt: skip
        x = torch.randn(TRIALS // KEYS, KEYS, 2 * width)
        with torch.no_grad():
            _, weights = attention(x)
        query, key = x.split(width, dim=-1)
        scaled.append(float(weights.amax(dim=-1).mean()))
        unscaled.append(float((query @ key.mT).softmax(dim=-1).amax(dim=-1).mean()))
    return lines(
        "How much does the best of ten random keys get?",
        {"divided by √d_k (the module)": (widths, scaled), "as they are": (widths, unscaled)},
        x_axis="d_k: how wide queries and keys are",
        y_axis="largest weight, on average",
        log_x=True,
        note=f"From a width of {widths[0]} to one of {widths[-1]}, the largest weight goes from {unscaled[0]:.2f} to "
        f"{unscaled[-1]:.2f} unscaled: a hard choice before anything has been learned, through which almost no "
        "gradient "
        f"flows (the softmax saturates). Divided by √d_k it goes from {scaled[0]:.2f} to {scaled[-1]:.2f}.",
    )


def _no_order() -> Exhibit:
    attention = _of_the_lesson()
    panels, outputs = [], []
    for sentence in (["river", "bank", "floods"], ["floods", "river", "bank"]):
        with torch.no_grad():
            output, weights = attention(torch.tensor([[WORDS[word] for word in sentence]]))
        panels.append(panel(" ".join(sentence), weights[0], sentence, sentence))
        outputs.append({word: output[0, place] for place, word in enumerate(sentence)})
    first, second = outputs
    most = max(float((first[word] - second[word]).abs().max()) for word in first)
    return heatmap(
        "Another order, the same numbers",
        panels,
        note="Rows and columns have changed places, and no number is new: each word's output differs by "
        f"{most:.1g} at most. Attention sees a set. Who bites whom takes positions, in unit 9.2.",
    )


class Reader(nn.Module):
    """One head of attention, and a guess from what it brings."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = SelfAttention(len(NAMES) + 1 + len(VALUES), 16)
        self.head = nn.Linear(16, len(VALUES), bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return (guesses [B, T, values], weights [B, T, T])."""
        output, weights = self.attention(x * 2)  # larger, so that it learns in seconds
        return self.head(output), weights


def _draw(batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return vectors [B, 2N, D], the right answers [B, N] of the first half, and who owns what [B, N]."""
    order = torch.rand(batch, len(NAMES)).argsort(dim=1)  # who is where in the second half
    owned = torch.randint(0, len(VALUES), (batch, len(NAMES)))  # by place in the second half
    asking = F.one_hot(torch.arange(len(NAMES)), len(NAMES)).expand(batch, -1, -1)
    asks = torch.cat(
        [asking, torch.ones(batch, len(NAMES), 1), torch.zeros(batch, len(NAMES), len(VALUES))], dim=-1
    )
    holds = torch.cat(
        [F.one_hot(order, len(NAMES)), torch.zeros(batch, len(NAMES), 1), F.one_hot(owned, len(VALUES))],
        dim=-1,
    )
    answers = owned.gather(1, order.argsort(dim=1))
    return torch.cat([asks, holds], dim=1).float(), answers, order


def _learning_to_look() -> list[Exhibit]:
    torch.manual_seed(2)
    model = Reader()
    x, answers, order = _draw(1)
    while len(answers.unique()) < len(VALUES):  # to look at, one in which nobody shares a colour
        x, answers, order = _draw(1)
    labels = [f"{name}?" for name in NAMES]
    owned = x[0, len(NAMES) :, len(NAMES) + 1 :].argmax(dim=-1)
    labels += [f"{NAMES[name]}: {VALUES[value]}" for name, value in zip(order[0], owned, strict=True)]
    maps = {}
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for step in range(STEPS + 1):
        if step in SHOWN:
            with torch.no_grad():
                maps[step] = model(x)[1]
        if step == STEPS:
            break
        batch, wanted, _ = _draw(64)
        guesses, _ = model(batch)
        loss = F.cross_entropy(guesses[:, : len(NAMES)].flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        guesses, _ = model(x)
    chosen = guesses[0, : len(NAMES)].argmax(dim=-1)
    asked = slice(0, len(NAMES))
    holder = len(NAMES) + order[0].argsort()
    share = {
        step: float(weights[0, asked].gather(1, holder[:, None]).mean()) for step, weights in maps.items()
    }
    return [
        text(
            "Learning where to look",
            "Four positions ask for a colour, four hold one: “ann?” wants what “ann: red” has. Which colour is whose, "
            "and who is where, is drawn anew each time. Nobody says where to look. The module is only told "
            "whether the colour was right, and gradients do the rest.",
        ),
        choice(
            "Where each question looks, while it learns",
            "training step",
            {
                step: heatmap(
                    "weights", [panel(f"step {step}", weights[0, asked], labels[: len(NAMES)], labels)]
                )
                for step, weights in maps.items()
            },
            start=len(maps) - 1,
            slider=True,
            note=f"At step 0 a question gives {share[0]:.0%} of its weight to the position that holds its answer, at "
            "step "
            f"{STEPS} {share[STEPS]:.0%}. A query now says whose colour it seeks, a key whose colour it has, a value "
            "which colour that is.",
        ),
        lines(
            "Loss",
            {"cross entropy": (list(range(1, STEPS + 1)), losses)},
            x_axis="step",
            y_axis="loss",
            log_y=True,
            note=f"Cross-entropy: from {losses[0]:.2f} to {losses[-1]:.3f}. A blind guess among {len(VALUES)} "
            f"colours costs {torch.tensor(len(VALUES)).log():.2f}.",
        ),
        table(
            "Questions and answers",
            ["question", "it says", "right"],
            [
                [f"{name}?", VALUES[int(said)], VALUES[int(right)]]
                for name, said, right in zip(NAMES, chosen, answers[0], strict=True)
            ],
            note="One set of weights answers whatever the colours are, and wherever they stand.",
        ),
    ]


def _question() -> Exhibit:
    return question(
        "The words are put into another order. How many new numbers are there in the table of weights?",
        seen="Another order",
        answer="None. Rows and columns have changed places, and every number was there before: attention reads a "
        "set.",
    )
