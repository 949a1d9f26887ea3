"""The softmax in float32 whatever the dtype, as models of half precision have it, and heads split with chunk."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scale the queries, and leave a blind query's scores alone until the end."""
    scores = torch.matmul(query * query.size(-1) ** -0.5, key.mT)
    if mask is None:
        weights = F.softmax(scores.float(), dim=-1).type_as(query)
        return torch.matmul(weights, value), weights
    sees = mask.any(dim=-1, keepdim=True)
    hidden = torch.logical_and(sees, ~mask)
    weights = F.softmax(scores.float().masked_fill(hidden, -torch.inf), dim=-1)
    weights = torch.where(sees, weights, 0.0).type_as(query)
    return torch.matmul(weights, value), weights


class MultiHeadAttention(nn.Module):
    """Chunks of the width, stacked into an axis of heads."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not share a width of {d_model}")
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None = None, context: Tensor | None = None) -> Tensor:
        """Attend in every head at once, and put the chunks side by side again."""
        context = x if context is None else context
        pairs = (self.w_q(x), self.w_k(context), self.w_v(context))
        query, key, value = (torch.stack(part.chunk(self.num_heads, dim=-1), dim=1) for part in pairs)
        output, _ = scaled_dot_product_attention(query, key, value, mask)
        return self.w_o(torch.cat(output.unbind(dim=1), dim=-1))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
