"""Means row by row, heads that call F.linear, groups by a comprehension over pairs."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class _Head(nn.Module):
    def __init__(self, d_model: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, outputs)

    def score(self, vectors: torch.Tensor) -> torch.Tensor:
        return F.linear(vectors, self.linear.weight, self.linear.bias)

    def of_texts(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.score(torch.stack([hidden[row, mask[row]].mean(0) for row in range(len(hidden))]))


class TokenHead(_Head):
    def __init__(self, d_model: int, num_labels: int) -> None:
        super().__init__(d_model, num_labels)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.score(hidden)


class SpanHead(_Head):
    def __init__(self, d_model: int) -> None:
        super().__init__(d_model, 2)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        both = torch.where(mask[:, None], self.score(hidden).mT, -torch.inf)
        return both[:, 0], both[:, 1]


class RegressionHead(_Head):
    def __init__(self, d_model: int) -> None:
        super().__init__(d_model, 1)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.of_texts(hidden, mask).flatten()


class ClassHead(_Head):
    def __init__(self, d_model: int, num_classes: int) -> None:
        super().__init__(d_model, num_classes)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.of_texts(hidden, mask)


def freeze(module: nn.Module) -> None:
    for name, _ in module.named_parameters():
        module.get_parameter(name).requires_grad_(False)


def layerwise_groups(layers, lr: float, decay: float) -> list[dict]:
    depths = range(len(layers))[::-1]
    return [
        dict(params=list(layer.parameters()), lr=lr * decay**below)
        for layer, below in zip(layers, depths, strict=True)
    ]


class MultiTask(nn.Module):
    def __init__(self, body: nn.Module, heads) -> None:
        super().__init__()
        self.add_module("body", body)
        self.heads = nn.ModuleDict(dict(heads))

    def forward(self, tokens: torch.Tensor, task: str):
        heads = dict(self.heads.items())
        if task not in heads:
            raise ValueError(f"{task!r} is none of {sorted(heads)}")
        return heads[task](self.body(tokens), tokens != self.body.pad_id)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
