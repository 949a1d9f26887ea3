"""Your own translator reads numbers: German words into digits, where the ones come before the tens."""

from __future__ import annotations

import random
from collections.abc import Callable

import german
import torch
from budget import steps_within
from mine import train, translate
from torch import Tensor, nn

from grader.learner.demos.exhibits import Exhibit, lines, table, text

NEEDS = ("translator-capstone",)
SECONDS, MOST, TRIED, PAIRS = 90.0, 2000, 10, 20_000
"""How long it trains, the most steps, steps that show how long one takes, and pairs that it learns from."""
PARTS, TESTED, LARGEST = (0.1, 0.3, 1.0), 300, 999_999
PAD, BOS, EOS = 0, 1, 2
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train with more and more steps; count how many numbers are right to the last digit."""
    chance = random.Random(0)
    tested = sorted({chance.randint(1, LARGEST) for _ in range(TESTED)})
    known = [
        one
        for one in (chance.randint(1, 10 ** chance.choice((2, 4, 6, 6)) - 1) for _ in range(PAIRS))
        if one not in tested
    ]
    pairs = (_sources(known), _targets(known), EOS + 1 + len(german.PARTS), EOS + 1 + 10)
    steps = int(min(MOST, steps_within(SECONDS, lambda count: train(*pairs, count, 0), TRIED, PARTS)))
    curve: tuple[list[int], list[float]] = ([], [])
    for number, part in enumerate(PARTS):
        count = max(1, int(part * steps))
        step(f"training, {count:,} steps", number, len(PARTS))
        model, _ = train(*pairs, count, 1)
        right = sum(map(str.__eq__, _answers(model, tested), map(str, tested))) / len(tested)
        curve[0].append(count)
        curve[1].append(100 * right)
    step("done", len(PARTS), len(PARTS))
    asked = [int(one) for one in (prompt or "").split() if one.isdecimal() and 0 < int(one) <= LARGEST] or [
        *german.ASKED
    ]
    rows = [[" ".join(german.parts(one)), answer, "yes" if answer == str(one) else "no"]
            for one, answer in zip(asked, _answers(model, asked), strict=True)]  # fmt: skip
    return [
        text("Your translator reads numbers", f"{len(known):,} numbers to learn from, word by word; of {len(tested)} "
             f"others {curve[1][-1]:.1f}% are right to the last digit after {curve[0][-1]:,} steps. Model, training "
             "and search are yours. German says seven-and-forty: the ones come before the tens."),
        table("Asked", ["words", "digits", "right"], rows),
        lines("Right to the last digit, by steps of training", {"new numbers": curve}, x_axis="steps", y_axis="%"),
    ]  # fmt: skip


def _padded(rows: list[list[int]]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def _sources(numbers: list[int]) -> Tensor:
    """Return the parts of the words: at most 16 tokens, as far as a model of this kata reads by default."""
    return _padded([[EOS + 1 + german.PARTS.index(part) for part in german.parts(one)] for one in numbers])


def _targets(numbers: list[int]) -> Tensor:
    return _padded([[*(EOS + 1 + int(digit) for digit in str(one)), EOS] for one in numbers])


def _answers(model: nn.Module, numbers: list[int]) -> list[str]:
    """Return the digits that the model writes for each number."""
    found = []
    for row in translate(model, _sources(numbers), max_len=len(str(LARGEST)) + 1).tolist():
        kept = row[: row.index(EOS)] if EOS in row else row
        found.append("".join(str(token - EOS - 1) for token in kept if token > EOS))
    return found
