"""Numbers and dates in German words, written as digits: how soon all are right, and where the model looks."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Any

import german
import torch
from budget import Budget
from mine import Decoder, Encoder  # noqa: F401 - the model is built on them
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

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
SECONDS, BATCH, TESTED, LARGEST = 120.0, 32, 300, 999_999
FIRST, LAST = date(1000, 1, 1).toordinal(), date(2099, 12, 31).toordinal()
PAD, BOS, EOS = 0, 1, 2
LETTERS = [" ", *sorted(set("".join([*german.PARTS, *german.MONTHS])))]
DIGITS = "0123456789-"
LONGEST = len("1975-05-03")
DATES = (date(1990, 10, 3), date(1521, 4, 17), date(2026, 11, 30))
Step = Callable[[str, int, int], None]
Pair = tuple[str, str]
"""What is said, and what is to be written."""


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train on numbers and dates, and ask for others."""
    chance = random.Random(0)
    tests = {"numbers": [number(chance.randint(1, LARGEST)) for _ in range(TESTED)],
             "dates": [day(chance.randint(FIRST, LAST)) for _ in range(TESTED)]}  # fmt: skip
    hidden = {said for test in tests.values() for said, _ in test}
    torch.manual_seed(0)
    model = Translator(3 + len(LETTERS), 3 + len(DIGITS), 64, 4, 128, 2, 80)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    # The last steps' weights go to and fro around better ones: their running mean answers.
    mean = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    budget, seen, done, due = Budget(SECONDS), 0, 0.0, 0.0
    times: list[float] = []
    shares: dict[str, list[float]] = {name: [] for name in tests}
    while True:
        if done >= due:
            # Writing takes as long as learning from some batches: on the way a third of the test is enough.
            for name, test in tests.items():
                shares[name].append(100 * right(mean.module, test if done >= 1 else test[::3]))
            times.append(SECONDS * done)
            due += 0.1
        if done >= 1:
            break
        optimizer.param_groups[0]["lr"] = 3e-3 * min(1.0, seen / 100 + 0.02) * (1 - 0.97 * done)
        # Of mixed lengths: batches of like length take a third less time each, and more steps are needed. Small ones:
        # twice as many steps in the same time.
        pairs = [drawn(chance, hidden) for _ in range(BATCH)]
        target = padded([[BOS, *(3 + DIGITS.index(one) for one in written), EOS] for _, written in pairs])
        logits = model(sources([said for said, _ in pairs]), target[:, :-1])
        loss = smoothed_loss(logits, target[:, 1:], 0.05, PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        mean.update_parameters(model)
        seen += 1
        done = budget.spent()
        if seen % 5 == 1:
            step(
                f"training, {shares['numbers'][-1]:.0f}% of numbers right",
                round(SECONDS * done),
                round(SECONDS),
            )
    asked = [one for one in (prompt or "").lower().split(", ") if one and set(one) <= set(LETTERS)][:8]
    words = asked or [*map(german.spoken, german.ASKED), *map(german.spoken_date, DATES)]
    rows = [[word, answer] for word, answer in zip(words, answered(mean.module, words), strict=True)]
    said = f"{shares['numbers'][-1]:.1f}% of {TESTED} numbers up to {LARGEST:,} and {shares['dates'][-1]:.1f}% of "
    said += f"{TESTED} dates that it never saw are right to the last digit, after at most {SECONDS:.0f} seconds of "
    said += f"processor time and {seen:,} steps. The mean of its weights over the last hundred steps or so answers. "
    said += "German says seven-and-forty: the ones come before the tens, and the day before the year."
    return [
        text("Numbers and dates, read aloud", said),
        table("Asked", ["words", "digits"], rows, note='Your own: --prompt "elf, erster mai zweitausend"'),
        lines(
            "How many are right while it trains",
            {f"new {name}": (times, share) for name, share in shares.items()},
            x_axis="seconds",
            y_axis="%",
        ),
        *(_looks(mean.module, word) for word in dict.fromkeys((words[0], words[-1]))),
    ]


def number(value: int) -> Pair:
    """Return a number's words and digits."""
    return german.spoken(value), str(value)


def day(ordinal: int) -> Pair:
    """Return a date's words, and the date as ISO 8601 writes it."""
    found = date.fromordinal(ordinal)
    return german.spoken_date(found), found.isoformat()


def drawn(chance: random.Random, hidden: set[str]) -> Pair:
    """Draw a date, or a number of any length, the longest most often, that is not in the test."""
    while True:
        if chance.random() < 0.3:  # dates are learned sooner
            pair = day(chance.randint(FIRST, LAST))
        else:
            value = chance.randint(1, 10 ** chance.choice((1, 2, 3, 4, 5, 6, 6, 6)) - 1)
            if chance.random() < 0.1:
                # No word says a zero: if two next to each other are as rare as chance has them, 70,017 loses one.
                place = 10 ** chance.randrange(5)
                value += value % place - value % (100 * place)
            pair = number(max(1, value))
        if pair[0] not in hidden:
            return pair


def padded(rows: list[list[int]]) -> Tensor:
    """Return a batch."""
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def sources(words: list[str]) -> Tensor:
    """Return words as letters."""
    return padded([[3 + LETTERS.index(letter) for letter in word][:78] for word in words])


def right(model: Any, test: list[Pair]) -> float:
    """Return which part of a test is written as it should be, to the last digit."""
    answers = answered(model, [said for said, _ in test])
    return sum(answer == written for answer, (_, written) in zip(answers, test, strict=True)) / len(test)


@torch.no_grad()
def answered(model: Any, words: list[str]) -> list[str]:
    """Write the best digit, one after the other."""
    source = sources(words)
    memory, target = model.encode(source), torch.full((len(words), 1), BOS)
    for _ in range(LONGEST + 1):
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
    shown = panel("needed", torch.stack(rows, dim=1), list(digits), list(word.replace(" ", "␣")))
    title = f"Which letters of {word} each digit needs"
    note = "How far the digit's probability falls when the letter is hidden. The words do not go from left to right."
    return heatmap(title, [shown], row_axis="digit", column_axis="letter", note=note)
