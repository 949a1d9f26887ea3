"""Numbers in German words, translated into digits: how soon all of them are right, and where the model looks."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import german
import torch
from budget import Budget
from mine import Decoder, Encoder  # noqa: F401 - the model is built on them
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, heatmap, lines, panel, table, text

try:
    from mine import Translator, smoothed_loss
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import Translator

    def smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.1, pad_id: int = 0) -> Tensor:
        """Return torch's own."""
        flat, wanted = logits.flatten(0, 1), targets.flatten()
        return F.cross_entropy(flat, wanted, ignore_index=pad_id, label_smoothing=smoothing)


NEEDS = ()
SECONDS, BATCH, TESTED, LARGEST = 110.0, 64, 300, 999_999
PAD, BOS, EOS = 0, 1, 2
LETTERS = sorted(set("".join(german.PARTS)))
DIGITS = "0123456789"
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train on numbers, and ask for others."""
    chance = random.Random(0)
    tested = sorted({chance.randint(1, LARGEST) for _ in range(TESTED)})
    torch.manual_seed(0)
    model = Translator(3 + len(LETTERS), 3 + len(DIGITS), 64, 4, 128, 2, 80)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    budget, seen, done, due = Budget(SECONDS), 0, 0.0, 0.0
    times: list[float] = []
    shares: list[float] = []
    while True:
        if done >= due:
            # Writing takes as long as learning from some batches: on the way a third of the test is enough.
            some = tested if done >= 1 else tested[::3]
            answers = answered(model, [german.spoken(number) for number in some])
            right = sum(map(str.__eq__, answers, map(str, some))) / len(some)
            times, shares = [*times, SECONDS * done], [*shares, 100 * right]
            due += 0.1
        if done >= 1:
            break
        optimizer.param_groups[0]["lr"] = 3e-3 * min(1.0, seen / 100 + 0.02) * (1 - 0.97 * done)
        # Of mixed lengths: batches of like length take a third less time each, and more steps are needed.
        numbers = [drawn(chance, tested) for _ in range(BATCH)]
        target = padded([[BOS, *(3 + DIGITS.index(one) for one in str(number)), EOS] for number in numbers])
        logits = model(sources([german.spoken(number) for number in numbers]), target[:, :-1])
        loss = smoothed_loss(logits, target[:, 1:], 0.05, PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += 1
        done = budget.spent()
        if seen % 5 == 1:
            step(f"training, {right:.0%} right", round(SECONDS * done), round(SECONDS))
    asked = [one for one in (prompt or "").lower().split() if set(one) <= set(LETTERS)][:8]
    words = asked or [german.spoken(number) for number in german.ASKED]
    rows = [[word, answer] for word, answer in zip(words, answered(model, words), strict=True)]
    said = f"{right:.1%} of {len(tested)} numbers up to {LARGEST:,} that it never saw are right to the last digit, "
    said += f"after at most {SECONDS:.0f} seconds of processor time and {seen:,} steps. German says "
    said += "seven-and-forty: the ones come before the tens."
    return [
        text("Numbers, read aloud", said),
        table("Asked", ["words", "digits"], rows),
        lines(
            "How many are right while it trains",
            {"new numbers": (times, shares)},
            x_axis="seconds",
            y_axis="%",
        ),
        _looks(model, words[0]),
    ]


def drawn(chance: random.Random, tested: list[int]) -> int:
    """Draw a number of any length, the longest most often, that is not in the test."""
    while (number := chance.randint(1, 10 ** chance.choice((1, 2, 3, 4, 5, 6, 6, 6)) - 1)) in tested:
        pass
    return number


def padded(rows: list[list[int]]) -> Tensor:
    """Return a batch."""
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def sources(words: list[str]) -> Tensor:
    """Return words as letters."""
    return padded([[3 + LETTERS.index(letter) for letter in word][:78] for word in words])


@torch.no_grad()
def answered(model: Any, words: list[str]) -> list[str]:
    """Write the best digit, one after the other."""
    source = sources(words)
    memory, target = model.encode(source), torch.full((len(words), 1), BOS)
    for _ in range(len(str(LARGEST)) + 1):
        best = model.decode(target, memory, source)[:, -1].argmax(-1, keepdim=True)
        target = torch.cat((target, best), dim=1)
    found = []
    for row in target[:, 1:].tolist():
        kept = row[: row.index(EOS)] if EOS in row else row
        found.append("".join(DIGITS[number - 3] for number in kept if number >= 3))
    return found


@torch.no_grad()
def _looks(model: Any, word: str) -> Exhibit:
    """Show what each digit depends on: how much less likely it is with one letter blotted out."""
    digits = answered(model, [word])[0] or "0"
    source = sources([word])
    target = torch.tensor([[BOS, *(3 + DIGITS.index(one) for one in digits)]])
    wanted = target[0, 1:]

    def chances(of: Tensor) -> Tensor:
        logits = model(of, target[:, :-1])[0]
        return logits.softmax(-1).gather(-1, wanted[:, None])[:, 0]

    whole, rows = chances(source), []
    for place in range(source.shape[1]):
        blotted = source.clone()
        blotted[0, place] = PAD
        rows.append((whole - chances(blotted)).clamp(min=0))
    shown = panel("needed", torch.stack(rows, dim=1), list(digits), list(word))
    title = f"Which letters of {word} each digit needs"
    note = "How far the digit's probability falls when the letter is hidden. The words do not go from left to right."
    return heatmap(title, [shown], row_axis="digit", column_axis="letter", note=note)
