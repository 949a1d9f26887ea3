"""Sizes and distances of a capstone's models, counted and compared in the grader."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def parameters_of(model: Any) -> dict[str, Tensor]:
    """Return the parameters by name."""
    with torch.no_grad():  # so that they come as leaves
        return dict(model.named_parameters())


def size(model: Any) -> int:
    """Return how many numbers the model can learn."""
    return sum(parameter.numel() for parameter in parameters_of(model).values())


def distance(model: Any, other: Any) -> float:
    """Return how far the parameters of two models are apart that are built alike."""
    own, theirs = parameters_of(model), parameters_of(other)
    with torch.no_grad():
        return sum(float((own[name] - theirs[name]).double().square().sum()) for name in own) ** 0.5
