"""What a check asks of torch where the submission runs."""

from __future__ import annotations

import torch


def recording() -> bool:
    """Tell whether torch records what gradients need."""
    return torch.is_grad_enabled()
