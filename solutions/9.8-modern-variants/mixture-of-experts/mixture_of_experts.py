"""Mixture of experts: a router sends each token to k of E small networks.

References: Shazeer et al. 2017 (arXiv:1701.06538); Fedus et al. 2021 (arXiv:2101.03961), equations 4 to 6; Jiang et al.
2024 (arXiv:2401.04088); Dai et al. 2024 (arXiv:2401.06066).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Expert(nn.Module):
    """A feed-forward network, as in each layer of a transformer."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the shape of rows [.., D]; each row is computed by itself."""
        return self.linear2(F.gelu(self.linear1(rows)))


def _refuse(name: str, value: int, least: int, most: int | None = None) -> None:
    """Raise ValueError if a number is not in its range."""
    if value < least or (most is not None and value > most):
        expected = f"{least} or more" if most is None else f"from {least} to {most}, the number of experts"
        raise ValueError(f"{name} is {value}; expected {expected}")


def route(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Choose the k experts with the largest logits; their weights are the softmax over these k."""
    _refuse("k", k, 1, logits.size(-1))
    ordered, experts = logits.sort(dim=-1, descending=True, stable=True)
    return ordered[..., :k].softmax(dim=-1), experts[..., :k]


class MoE(nn.Module):
    """A layer of E experts, of which each token goes to k."""

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, capacity: int | None = None, shared: int = 0
    ) -> None:
        super().__init__()
        _refuse("k", k, 1, experts)
        _refuse("shared", shared, 0)
        if capacity is not None:
            _refuse("capacity", capacity, 1)
        self.k, self.capacity = k, capacity
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList(Expert(d_model, d_ff) for _ in range(experts))
        self.shared = nn.ModuleList(Expert(d_model, d_ff) for _ in range(shared))

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Send each token to its experts, and add up what they return."""
        real = x.new_ones(x.shape[:2], dtype=torch.bool) if keep is None else keep
        tokens = x[real]  # [N, D]: padding is left out, the rest is in the order of the text
        weights, chosen = route(self.router(tokens), self.k)
        total = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, ranks = (chosen == number).nonzero(as_tuple=True)  # ordered by row
            rows, ranks = rows[: self.capacity], ranks[: self.capacity]
            if len(rows):
                total = total.index_add(0, rows, weights[rows, ranks, None] * expert(tokens[rows]))
        for expert in self.shared:
            total = total + expert(tokens)
        output = torch.zeros_like(x)
        output[real] = total
        return output


def balance_loss(logits: Tensor, experts: Tensor) -> Tensor:
    """Return E · Σ f · P; f counts choices, and P is the mean softmax over all E."""
    count = logits.size(-1)
    probability = logits.softmax(dim=-1).reshape(-1, count).mean(dim=0)
    share = experts.flatten().bincount(minlength=count).double() / experts.numel()
    return count * (share.to(logits.dtype) * probability).sum()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
