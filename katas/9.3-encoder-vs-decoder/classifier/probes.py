"""What checks of `fit` bring into the worker."""

from __future__ import annotations

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed the global generators, as something else in the program might."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def as_float(value: object) -> float | None:
    """Return a float of any kind (numpy's is one too) as Python's own."""
    return float(value) if isinstance(value, float) else None
