"""Cotangents without the cost of torch's first explicit gradient in a process."""

from __future__ import annotations

from collections.abc import Iterable

import torch


def products(pairs: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> list[torch.Tensor]:
    """Return, for each output and its cotangent, a real scalar whose gradient by the output is the cotangent.

    Backward from these equals backward from the outputs with the cotangents given.
    """
    # Torch imports sympy (0.3 s) when a process first gives it a gradient; from scalars it does not.
    return [(output * cotangent.conj()).sum().real for output, cotangent in pairs]
