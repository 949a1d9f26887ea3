"""The same by one-hot masks, as GShard dispatches: places in an expert come from a running count."""

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
    """Rank each expert by how many are before it, and weigh all under a mask."""
    count = logits.shape[-1]
    if not 0 < k <= count:
        raise ValueError(f"k = {k}, expected 1 ≤ k ≤ {count}")
    mine, other = logits[..., :, None], logits[..., None, :]
    first = torch.ones(count, count, dtype=torch.bool, device=logits.device).tril(-1)
    rank = ((other > mine) | ((other == mine) & first)).sum(-1)
    experts = rank.argsort(-1)[..., :k]
    weights = logits.masked_fill(rank >= k, float("-inf")).softmax(-1)
    return weights.gather(-1, experts), experts


class MoE(nn.Module):
    """A layer of E experts, of which each token goes to k."""

    def __init__(self, d_model, d_ff, experts, k, capacity=None, shared=0) -> None:
        super().__init__()
        if k not in range(1, experts + 1):
            raise ValueError(f"{k} experts of {experts}: k is from 1 to their number")
        if (capacity is not None and capacity < 1) or shared < 0:
            raise ValueError(f"capacity {capacity} and shared {shared}: at least 1 and 0 were expected")
        self.k, self.capacity = k, capacity
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList([Expert(d_model, d_ff) for _ in range(experts)])
        self.shared = nn.ModuleList([Expert(d_model, d_ff) for _ in range(shared)])

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Dispatch and combine by products with one-hot rows."""
        rows = x.flatten(0, 1)
        weights, experts = route(self.router(rows), self.k)
        hot = nn.functional.one_hot(experts, len(self.experts))  # [N, k, E]
        combine = (weights[..., None] * hot).sum(1)
        taken = hot.sum(1)
        if keep is not None:
            taken = taken * keep.flatten()[:, None]
        place = taken.cumsum(0)
        if self.capacity is not None:
            taken = taken * (place <= self.capacity)
        output = torch.zeros_like(rows)
        for number, expert in enumerate(self.experts):
            places = torch.arange(1, int(taken[:, number].sum()) + 1, device=x.device)
            dispatch = ((place[:, number] == places[:, None]) & (taken[:, number] > 0)).to(x.dtype)  # [n, N]
            output = output + dispatch.T @ ((dispatch @ combine[:, number, None]) * expert(dispatch @ rows))
        for expert in self.shared:
            output = output + expert(rows)
        if keep is not None:
            output = output * keep.flatten()[:, None]
        return output.unflatten(0, x.shape[:2])


def balance_loss(logits: Tensor, experts: Tensor) -> Tensor:
    """Multiply two means of rows."""
    count = logits.shape[-1]
    share = nn.functional.one_hot(experts, count).to(logits.dtype).reshape(-1, count).mean(0)
    mean = torch.softmax(logits, -1).reshape(-1, count).mean(0)
    return torch.dot(share, mean) * count
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
