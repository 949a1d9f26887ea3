"""What a check calls to see whether torch records what gradients need."""

from __future__ import annotations

from torch import Tensor


def twice(x: Tensor) -> Tensor:
    """Return 2 · x."""
    return 2 * x
