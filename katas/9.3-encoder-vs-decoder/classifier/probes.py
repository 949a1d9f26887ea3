"""What checks bring into the worker."""

from __future__ import annotations

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed the global generators, as something else in the program might."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
