"""What the checks of capstones ask of `train`: its rows, its seeds, its rate. It runs in the grader.

Where a function takes `train`, that is the submission's with something to learn: called with steps, seed and settings,
it returns (model, rows), each row (step, loss, rate).
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grader.checks import expect, fail, fingerprint_facts, given_module, precondition

MODELS = runpy.run_path(str(Path(__file__).with_name("models.py")))
size, distance = MODELS["size"], MODELS["distance"]
Rows = list[tuple[int, float, float]]
Train = Callable[..., tuple[Any, Rows]]


def as_asked(found: object, steps: int) -> tuple[Any, Rows]:
    """Return (model, rows); what `train` returned otherwise fails the check."""
    model, rows = expect(found, "result").is_tuple(2)
    rows = expect(rows, "rows").is_list(steps)
    numbers = []
    for place, row in enumerate(rows):
        number, loss, rate = expect(row, f"rows[{place}]").is_tuple(3)
        expect(number, f"step of rows[{place}]").is_value(place + 1)
        for name, value in (("loss", loss), ("rate", rate)):
            if type(value) not in (int, float):
                fail(
                    f"wrong type  {name} of rows[{place}]  got {type(value).__name__}  want float",
                    "  loss.item() makes a number of a tensor",
                    stage="type",
                )
            expect(value, f"{name} of rows[{place}]").is_between(0, 1e6)
        numbers.append((number, float(loss), float(rate)))
    return model, numbers


# --- facts that say which mistake it was: the numbers are the learner's own, so they never do ---


def of_training(found: object, steps: int) -> list[object]:
    """Return what kind of thing `train` returned: of its first row, the step and the types."""
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], list)):
        return [type(found).__name__]
    rows = found[1]
    if len(rows) != steps:
        return ["too few rows" if len(rows) < steps else "too many rows"]
    return [
        value
        if place == 0 and type(value) is int
        else "tensor"
        if isinstance(value, Tensor)
        else type(value).__name__
        for row in rows[:1]
        if isinstance(row, tuple | list)
        for place, value in enumerate(row[:4])
    ]


def of_a_first_loss(loss: float, log_of_v: float) -> str:
    """Return how a new model's loss lies to ln V: a sum over a batch is hundreds of it."""
    if loss > 20 * log_of_v:
        return "a sum"
    return "too sure" if loss > log_of_v else "knows something"


def of_a_loss(told: float, paid: Sequence[float]) -> str:
    """Return how a row's loss lies to what the model pays for pieces of each length."""
    if told < min(paid) - 2e-3:
        return "too low"
    return "too high" if told > max(paid) + 2e-3 else "within"


def of_a_warmup(shares: Sequence[float], warmup: int) -> dict[str, object]:
    """Return how the rate rises, in shares of the full one, and whether it rises beyond that."""
    rises: object = [round(share, 2) for share in shares[:warmup]]
    return {"rises": "never" if shares[0] > 0.99 else rises, "beyond": max(shares[warmup:]) > 1.001}


# --- what is required ---


def expect_start(
    submission: Any, draw: Any, vocab: int, train: Callable[..., object], nats: Callable[[Any], float]
) -> None:
    """Require a model that pays about ln V before its first update.

    Args:
        train: returns whatever the submission's does.
        nats: what a model pays for a token.
    """
    log_of_v = math.log(vocab)
    for settings in ({}, {"norm": "last"}, {"num_layers": 4}):
        model, _ = as_asked(train(0, draw.size(0, 1000), **settings), 0)
        told = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        paid = nats(model)
        fingerprint_facts(submission, start=of_a_first_loss(paid, log_of_v))
        expect(paid, f"loss at the start{told and ' with ' + told}").is_between(
            log_of_v - 0.5,
            log_of_v + 0.5,
            why=f"ln {vocab} is {log_of_v:.3f}: logits of a new model have to be small, "
            "and its head's weights with them",
        )


def expect_rows(submission: Any, found: object, vocab: int) -> None:
    """Require of what four steps returned the model, a row for each step, and a first loss of about ln V."""
    log_of_v = math.log(vocab)
    fingerprint_facts(submission, returned=of_training(found, 4))
    _, rows = as_asked(found, 4)
    fingerprint_facts(submission, first=of_a_first_loss(rows[0][1], log_of_v))
    expect(rows[0][1], "loss of step 1").is_between(
        log_of_v - 0.6,
        log_of_v + 0.6,
        why=f"the mean of -log p before the first update; ln {vocab} is {log_of_v:.3f}",
    )


def expect_seeds(submission: Any, train: Train, drawn: str) -> None:
    """Require runs that the seed alone decides; besides weights it draws what `drawn` names."""
    probes = given_module(submission, "probes")
    begun, losses = [], []
    for left in (1, 2):
        probes.reseed(left)
        begun.append(train(0, 5)[0])
    weights = distance(*begun) < 1e-6
    for left, seed in ((1, 5), (2, 5), (1, 6)):
        probes.reseed(left)
        losses.append([loss for _, loss, _ in train(4, seed)[1]])
    runs = torch.tensor(losses, dtype=torch.float64)
    fingerprint_facts(
        submission,
        weights=weights,
        losses=bool((runs[0] - runs[1]).abs().max() < 1e-3),
        of_another_seed=bool((runs[0] - runs[2]).abs().max() < 1e-6),
    )
    for step, (first, again) in enumerate(zip(losses[0], losses[1], strict=True), 1):
        if abs(first - again) > 1e-3:
            fail(
                f"not the same  loss of step {step}  got {again:.4f}, and {first:.4f} the time before",
                "  both runs had seed=5, and torch's global generator stood elsewhere: draw all from the seed",
                stage="values",
            )
    if max(abs(first - other) for first, other in zip(losses[0], losses[2], strict=True)) < 1e-6:
        fail(
            "the same  losses  with seed=6 as with seed=5",
            f"  weights and {drawn} are drawn from the seed",
            stage="values",
        )


def expect_warmup(submission: Any, train: Train) -> None:
    """Require a rate that rises in equal steps to the full one, which no warm-up changes, and never exceeds it."""
    runs = {warmup: train(12, 1, warmup=warmup)[1] for warmup in (0, 4)}
    full = runs[0][0][2]
    expect(full, "rate of step 1 with warmup=0").is_between(1e-12, 1e3)
    told = of_a_warmup([rate / full for _, _, rate in runs[4]], 4)
    for warmup, steps in ((0, 12), (4, 12), (8, 6), (1, 3)):
        rows = runs.get(warmup) or train(steps, 1, warmup=warmup)[1]
        fingerprint_facts(submission, **told)
        for step, _, rate in rows:
            share = rate / full
            wanted = step / warmup if step <= warmup else (1.0 if step == 1 else None)
            if (wanted is not None and abs(share - wanted) > 1e-3) or share > 1.001:
                fail(
                    f"wrong  rate of step {step} with warmup={warmup}  got {share:.3f} of the full rate"
                    + (f"  want {wanted:.3f}" if wanted is not None else "  want no more than 1"),
                    "  full is the rate of step 1 with warmup=0",
                    stage="values",
                )


def expect_rate_used(submission: Any, train: Train) -> None:
    """Require that the first update moves the parameters as far as the rate of its row says."""
    probes = given_module(submission, "probes")
    probes.reseed(1)  # so that all of them begin alike where the seed does not decide
    start, _ = train(0, 1)
    moved, rates = [], []
    for warmup in (0, 50):
        probes.reseed(1)
        model, rows = train(1, 1, warmup=warmup)
        moved.append(distance(model, start))
        rates.append(rows[0][2])
    expect(moved[0], "how far the first update with warmup=0 moves the parameters").is_between(1e-9, 1e6)
    fingerprint_facts(submission, as_far_as_without_warmup=moved[1] > 0.8 * moved[0])
    expect(moved[1] / moved[0], "share of it that the first update with warmup=50 moves them").is_between(
        0.5 * rates[1] / rates[0],
        2 * rates[1] / rates[0],
        why=f"the rows' rates are {rates[1]:.3g} and {rates[0]:.3g}, and a step is as long as its rate",
    )


def expect_depth(submission: Any, train: Train, default: int) -> None:
    """Require models as deep as num_layers says, and by default of so many layers."""
    sizes = {layers: size(train(0, 1, num_layers=layers)[0]) for layers in (1, 2, 3)}
    fingerprint_facts(submission, depth=[sizes[1] < sizes[2], sizes[2] < sizes[3]])
    expect(sizes[2] > sizes[1], "more parameters with num_layers=2 than with 1").is_value(True)
    expect(sizes[3] - sizes[2], "parameters that num_layers=3 adds to those of 2").is_value(
        sizes[2] - sizes[1]
    )
    expect(size(train(0, 1)[0]), "parameters when nothing is said").is_value(
        sizes[default], why=f"num_layers is {default} then"
    )


def expect_norm_last(
    submission: Any, draw: Any, train: Train, tables: list[int], score: Callable[[Any], Tensor]
) -> None:
    """Require that norm="last" reaches the model: its norms act though all matrices but those of `tables` are 0."""
    models = [train(0, 1, num_layers=layers, norm="last")[0] for layers in (1, 3)]
    for model in models:
        given_module(submission, "probes").quiet(model, draw.seed, tables)
    with precondition("widths must not be those of the vocabulary"):
        shallow, deep = (score(model) for model in models)
    fingerprint_facts(submission, norm_last=MODELS["of_norms"](shallow, deep))
    expect(deep, 'logits with norm="last"', axes=MODELS["LOGITS"]).differs_from(
        shallow, why="all matrices of the sublayers are 0 here, but norms act one after the other"
    )
