"""Transfer: heads on a body, what may still learn, and one body for many tasks.

B batch, T length, D = d_model, L labels, C classes. References: Devlin et al. 2018 (arXiv:1810.04805), section 4;
Howard and Ruder 2018 (arXiv:1801.06146), section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn


def _mean(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean over real tokens, [B, D]."""
    real = mask.unsqueeze(-1)
    return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)


class TokenHead(nn.Module):
    """A linear layer at each token."""

    def __init__(self, d_model: int, num_labels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, num_labels)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return logits [B, T, L]."""
        return self.linear(hidden)


class SpanHead(nn.Module):
    """Two scores for each token, and none for padding."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, 2)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return start and end, both [B, T]."""
        start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        return start, end


class RegressionHead(nn.Module):
    """A number from the mean."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, 1)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return [B]."""
        return self.linear(_mean(hidden, mask)).squeeze(-1)


class ClassHead(nn.Module):
    """Logits from the mean."""

    def __init__(self, d_model: int, num_classes: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, num_classes)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return logits [B, C]."""
        return self.linear(_mean(hidden, mask))


def freeze(module: nn.Module) -> None:
    """Let no parameter of the module learn any more."""
    for parameter in module.parameters():
        parameter.requires_grad = False


def layerwise_groups(layers: Sequence[nn.Module], lr: float, decay: float) -> list[dict[str, Any]]:
    """Return a group for each layer, the last at lr."""
    return [
        {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        for depth, layer in enumerate(layers)
    ]


class MultiTask(nn.Module):
    """A body, and the head of the task."""

    def __init__(self, body: nn.Module, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.body = body
        self.heads = nn.ModuleDict(heads)

    def forward(self, tokens: torch.Tensor, task: str) -> Any:
        """Return what the task's head gives."""
        if task not in self.heads:
            raise ValueError(f"there is no task {task!r}: {', '.join(self.heads)}")
        return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
