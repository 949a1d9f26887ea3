"""The loop live: a run that is cut and resumed without this or that, means of parts with padding, and overflow."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question, table

try:
    from mine import accumulate, cross_entropy, load, log_softmax, save, windows
except ImportError:  # the learner's does not pass yet: torch's own, and short ones, take its place
    log_softmax = F.log_softmax

    def cross_entropy(logits: Tensor, targets: Tensor, ignore: int = -100) -> Tensor:
        """Take torch's loss."""
        return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=ignore)

    def windows(tokens: Tensor, length: int, generator: torch.Generator, batch: int) -> tuple[Tensor, Tensor]:
        """Draw pieces of a text."""
        pieces = tokens.unfold(0, length + 1, 1)
        chosen = pieces[torch.randint(len(pieces), (batch,), generator=generator)]
        return chosen[:, :-1], chosen[:, 1:]

    def accumulate(model, batches, loss) -> float:  # type: ignore[no-untyped-def]
        """Compute all parts at once."""
        counts = [(targets != -100).sum() for _, targets in batches]
        shares = [n * loss(model(x), targets) for n, (x, targets) in zip(counts, batches, strict=True) if n]
        whole = sum(shares) / sum(counts)
        whole.backward()
        return float(whole.detach())

    def save(path, model, optimizer, generator, step) -> None:  # type: ignore[no-untyped-def]
        """Save a list."""
        torch.save([model.state_dict(), optimizer.state_dict(), generator.get_state(), step], path)

    def load(path, model, optimizer, generator) -> int:  # type: ignore[no-untyped-def]
        """Load a list."""
        own, moments, where, step = torch.load(path)
        model.load_state_dict(own), optimizer.load_state_dict(moments), generator.set_state(where)
        return int(step)


TEXT = "the cat sat on the mat, and the rat sat on the cat; then the cat ate the rat and sat on the mat again. " * 3
LETTERS = sorted(set(TEXT))
TOKENS = torch.tensor([LETTERS.index(letter) for letter in TEXT])
STEPS, CUT = 60, 25


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [_resumed(), _means(), _overflow(), _question()]


class Run:
    """A small model that learns which letter follows which."""

    def __init__(self, seed: int = 0) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.model = nn.Embedding(len(LETTERS), len(LETTERS))  # a letter's row holds the logits of the next one
        nn.init.normal_(self.model.weight, std=0.3, generator=draw)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=2.0, momentum=0.9)
        self.generator = torch.Generator().manual_seed(seed)
        self.losses: list[float] = []
        self.ways: list[Tensor] = []

    def train(self, steps: int) -> Run:
        """Take some steps; note each loss, and where the weights are after it."""
        for _ in range(steps):
            batch = windows(TOKENS, 12, self.generator, 4)
            self.optimizer.zero_grad()
            self.losses.append(accumulate(self.model, [batch], cross_entropy))
            self.optimizer.step()
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.97
            self.ways.append(self.model.weight.detach().clone())
        return self


def resumed(lacking: str) -> Run:
    """Train to a step, save, and let another run go on from the file, which lacks something."""
    first, other = Run().train(CUT), Run(seed=1)
    fresh = copy.deepcopy((other.model.state_dict(), other.optimizer.state_dict(), other.generator.get_state()))
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder) / "run.pt", first.model, first.optimizer, first.generator, CUT)
        load(Path(folder) / "run.pt", other.model, other.optimizer, other.generator)
    if lacking == "the parameters":
        other.model.load_state_dict(fresh[0])
    if lacking == "the moments":
        other.optimizer.state.clear()
    if lacking == "the rate":
        other.optimizer.param_groups[0]["lr"] = fresh[1]["param_groups"][0]["lr"]
    if lacking == "the generator":
        other.generator.set_state(fresh[2])
    return other.train(STEPS - CUT)


def _pictures(lacking: str) -> list[Exhibit]:
    """Draw the losses of the whole run and of the resumed one, and how far apart their weights are."""
    whole, other = Run().train(STEPS), resumed(lacking)
    apart = [float((a - b).norm()) for a, b in zip(whole.ways[CUT:], other.ways, strict=True)]
    gap = max(abs(a - b) for a, b in zip(whole.losses[CUT:], other.losses, strict=True))
    same = gap == 0 and max(apart) == 0
    return [
        lines(
            "loss",
            {"never cut": (range(STEPS), whole.losses), f"resumed at {CUT}": (range(CUT, STEPS), other.losses)},
            x_axis="step",
            y_axis="loss",
            note="The second curve lies on the first: all losses are the same, to the last bit."
            if same
            else f"Losses differ by up to {gap:.2f}; over the last ten steps their means are "
            f"{sum(whole.losses[-10:]) / 10:.2f} and {sum(other.losses[-10:]) / 10:.2f}.",
        ),
        lines(
            "distance of the weights",
            {"resumed from never cut": (range(CUT, STEPS), apart)},
            x_axis="step",
            y_axis="distance",
            note="It is 0 everywhere." if same else f"At the end it is {apart[-1]:.2f}: these are two models.",
        ),
    ]


def _resumed() -> Exhibit:
    """Leave out one thing after the other."""
    lacking = ("nothing", "the generator", "the moments", "the rate", "the parameters")
    return choice(
        f"A run that was cut after {CUT} steps and resumed from a file",
        "the file lacks",
        {name: _pictures(name) for name in lacking},
        note="Choose what the checkpoint does not have. Where batches are noisy, the loss alone tells little.",
    )


def _means() -> Exhibit:
    """Let the second part of a batch hold more and more padding."""
    draw = torch.Generator().manual_seed(3)
    losses = torch.rand(2, 16, generator=draw) + torch.tensor([[1.0], [3.0]])
    shown = {}
    for padding in (0, 4, 8, 12, 15):
        targets = torch.zeros(2, 16, dtype=torch.int64)
        targets[1, 16 - padding :] = -100
        table_of_losses = nn.Embedding.from_pretrained(losses.view(-1, 1), freeze=False)
        parts = list(zip(torch.arange(32).view(2, 16), targets, strict=True))
        whole = accumulate(table_of_losses, parts, lambda row, target: row[target != -100].mean())
        means = [float(row[target != -100].mean()) for row, target in zip(losses, targets, strict=True)]
        shown[padding] = bars(
            "loss of a batch in two parts",
            ["part 1", "part 2", "mean of both means", "accumulate"],
            {"loss": [*means, sum(means) / 2, whole]},
            y_axis="loss",
            note=f"16 and {16 - padding} targets count. In the mean of the means a target of part 2 has "
            f"{16 / (16 - padding):.1f} times the weight of one of part 1.",
        )
    return choice(
        "Two parts of a batch, the second with padding",
        "padding in part 2",
        shown,
        start=3,
        slider=True,
        note="The mean of the means treats both parts alike; the mean over all targets goes where most of them are.",
    )


def _overflow() -> Exhibit:
    """Compute one loss from probabilities and from logits, for larger and larger scores."""
    rows = []
    for scale in (1, 10, 100, 1000):
        x = scale * torch.tensor([2.0, 1.0, 0.0])
        plain = -(x.exp() / x.exp().sum()).log()[2]
        rows.append([str(scale), f"{float(plain):.4f}", f"{float(-log_softmax(x, -1)[2]):.4f}"])
    return table(
        "The loss of the third of three words, with the scores 2, 1, 0 times a factor",
        ["factor", "log of a softmax", "log_softmax"],
        rows,
        note=f"At a factor of {rows[2][0]} the one is {rows[2][1]} and the other {rows[2][2]}.",
    )


def _question() -> Exhibit:
    return question(
        "The generator, the moments, the rate: without which of them do the weights end farthest from those of the "
        "run that was never cut, and would the last losses have told you?",
        seen="A run that was cut after 25 steps",
        answer="Without the rate, which begins high again and moves the weights far. The last losses are nearly the "
        "same in all three: they say how well a model does, not that it is another one.",
    )
