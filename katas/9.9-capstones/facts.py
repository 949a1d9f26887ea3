"""Facts that say which mistake a capstone's answer made. Its numbers are the learner's own, so they never say it.

Each is a rough kind of thing that neither the draw nor a design moves. They are gathered in the grader.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


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


def of_norms(shallow: Tensor, deep: Tensor) -> dict[str, bool]:
    """Return whether silent layers act on the stream, and whether a token shows in its logits [B, T, V]."""
    return {"acts": apart(deep, shallow), "shows": apart(deep[:, 1], deep[:, 0])}


def apart(one: Tensor, other: Tensor) -> bool:
    """Tell whether two results differ by more than rounding."""
    return not torch.allclose(one.cpu(), other.cpu(), rtol=1e-3, atol=1e-3)


def of_a_log(log: dict, runs: dict, steps: Sequence[int]) -> dict[str, bool]:
    """Return what is missing of a log that can be read."""
    seeds = [log[run][0] for run in ("base", "base-again") if run in log]
    return {
        "runs": log.keys() == runs.keys(),
        "steps": all({step for step, _, _ in rows} >= set(steps) for _, rows in log.values()),
        "one_seed": len(seeds) > len(set(seeds)),
    }
