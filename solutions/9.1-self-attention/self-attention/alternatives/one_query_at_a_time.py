"""One query at a time, with the softmax written out; the pair has names."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Attended(NamedTuple):
    """What comes out, by name."""

    output: Tensor
    weights: Tensor


class SelfAttention(nn.Module):
    """Loop over the queries; each looks at the whole sequence."""

    def __init__(self, d_model: int, d_k: int, verbose: bool = False) -> None:
        super().__init__()
        for name in ("w_v", "w_k", "w_q"):  # in any order
            self.add_module(name, nn.Linear(d_model, d_k, bias=False))
        self.register_buffer("scale", torch.tensor(d_k).rsqrt())  # a buffer is free
        self.verbose = verbose

    def forward(self, x: Tensor) -> Attended:
        """Average the values for each query in turn."""
        queries, keys, values = self.w_q(x) * self.scale, self.w_k(x), self.w_v(x)
        outputs, weights = [], []
        for t in range(x.size(1)):
            scores = (queries[:, t, None] * keys).sum(dim=-1)  # [B, T]
            powers = (scores - scores.amax(dim=1, keepdim=True)).exp()
            share = powers / powers.sum(dim=1, keepdim=True)
            outputs.append((share[..., None] * values).sum(dim=1))  # [B, d_k]
            weights.append(share)
        print("attended to", len(weights), "queries")
        return Attended(torch.stack(outputs, dim=1), torch.stack(weights, dim=1))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
