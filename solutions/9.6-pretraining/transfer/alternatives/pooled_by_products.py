"""Means by matrix products, spans by adding a mask, groups by counting down."""

from __future__ import annotations

import torch
from torch import nn


class Pooled(nn.Module):
    def __init__(self, d_model: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, outputs)

    def pooled(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        share = mask.to(hidden.dtype) / mask.sum(1, keepdim=True)
        return torch.einsum("bt,btd->bd", share, hidden)


class TokenHead(nn.Module):
    def __init__(self, d_model: int, num_labels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, num_labels)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.linear(hidden) * mask[..., None]


class SpanHead(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, 2)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.linear(hidden)
        blocked = torch.zeros_like(scores[..., 0]).masked_fill(~mask, float("-inf"))
        return scores[..., 0] + blocked, scores[..., 1] + blocked


class RegressionHead(Pooled):
    def __init__(self, d_model: int) -> None:
        super().__init__(d_model, 1)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.linear(self.pooled(hidden, mask))[:, 0]


class ClassHead(Pooled):
    def __init__(self, d_model: int, num_classes: int) -> None:
        super().__init__(d_model, num_classes)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.linear(self.pooled(hidden, mask))


def freeze(module: nn.Module) -> nn.Module:
    return module.requires_grad_(False)


def layerwise_groups(layers, lr: float, decay: float) -> list[dict]:
    groups: list[dict] = []
    for layer in reversed(list(layers)):
        groups.insert(0, {"params": [*layer.parameters()], "lr": lr})
        lr *= decay
    return groups


class MultiTask(nn.Module):
    def __init__(self, body: nn.Module, heads) -> None:
        super().__init__()
        self.body, self.heads = body, nn.ModuleDict()
        for name, head in heads.items():
            self.heads[name] = head

    def forward(self, tokens: torch.Tensor, task: str):
        try:
            head = self.heads[task]
        except KeyError:
            raise ValueError(f"unknown task {task}") from None
        mask = tokens.ne(self.body.pad_id)
        return head(self.body(tokens), mask)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
