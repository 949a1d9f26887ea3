"""The same by sorting all choices once: each expert gets a piece of the sorted rows, and index_add puts them back."""

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


def route(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Take the largest k times, and cross it out each time; of equal ones argmax takes the first."""
    if k < 1 or k > logits.shape[-1]:
        raise ValueError(f"k should be from 1 to {logits.shape[-1]}, not {k}")
    left, experts = logits.detach().clone(), []
    for _ in range(k):
        best = left.max(-1, keepdim=True).values
        experts.append((left == best).int().argmax(-1, keepdim=True))
        left = left.scatter(-1, experts[-1], -torch.inf)
    chosen = torch.cat(experts, -1)
    powers = torch.exp(logits.gather(-1, chosen) - logits.amax(-1, keepdim=True).detach())
    return powers / powers.sum(-1, keepdim=True), chosen


class MoE(nn.Module):
    """A layer of E experts, of which each token goes to k."""

    def __init__(self, d_model, d_ff, experts, k, capacity=None, shared=0) -> None:
        super().__init__()
        for name, value, right in (
            ("k", k, 1 <= k <= experts),
            ("capacity", capacity, capacity is None or capacity > 0),
            ("shared", shared, shared >= 0),
        ):
            if not right:
                raise ValueError(f"{name} cannot be {value} with {experts} experts")
        self.k, self.capacity = k, capacity
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList([Expert(d_model, d_ff) for _ in range(experts)])
        self.shared = nn.ModuleList([Expert(d_model, d_ff) for _ in range(shared)])

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Sort the choices by expert, stably, so that each expert's rows are in the order of the text."""
        rows = x.reshape(-1, x.shape[-1])
        weights, experts = route(self.router(rows), self.k)
        if keep is not None:
            experts = experts.masked_fill(~keep.reshape(-1, 1), len(self.experts))  # of which there is none
        order = experts.flatten().argsort(stable=True)
        counts = experts.flatten().bincount(minlength=len(self.experts) + 1)[:-1].tolist()
        output = sum((shared(rows) for shared in self.shared), torch.zeros_like(rows))
        start = 0
        for expert, count in zip(self.experts, counts, strict=True):
            places = order[start : start + count][: self.capacity]
            start += count
            output = output.index_add(
                0, places // self.k, weights.flatten()[places, None] * expert(rows[places // self.k])
            )
        if keep is not None:
            output = output.where(keep.reshape(-1, 1), 0.0)
        return output.view(x.shape)


def balance_loss(logits: Tensor, experts: Tensor) -> Tensor:
    """Look up each choice's mean probability; the mean of these is the sum over all experts."""
    mean = F.softmax(logits, -1).flatten(0, -2).mean(0) if logits.dim() > 1 else F.softmax(logits, -1)
    return mean[experts].mean() * logits.shape[-1]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
