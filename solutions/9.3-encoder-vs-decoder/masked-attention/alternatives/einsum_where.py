"""The softmax written out: exponentials of the allowed scores, divided by their sum where there is one."""

from __future__ import annotations

import torch
from torch import Tensor, einsum, nn


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Average the values, weighted by how well each key answers the query."""
    scores = einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    # The peak is a constant as far as the gradient goes: softmax does not change when all scores shift.
    peak = torch.where(allowed, scores, float("-inf")).amax(dim=-1, keepdim=True).detach()
    peak = torch.where(peak.isinf(), 0.0, peak)
    # The inner where keeps exp away from scores it should not see, the outer one removes what it then gives.
    powers = torch.where(allowed, torch.where(allowed, scores - peak, 0.0).exp(), 0.0)
    total = powers.sum(dim=-1, keepdim=True)  # [.., Tq, 1], 0 when nothing is allowed
    weights = powers / torch.where(total == 0, 1.0, total)
    return einsum("...qk,...kv->...qv", weights, value), weights


class MultiHeadAttention(nn.Module):
    """Several attentions at once; the heads are unfolded from the features and folded back."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError("d_model is not a multiple of num_heads")
        for name in ("w_q", "w_k", "w_v", "w_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x: Tensor, mask: Tensor | None = None, context: Tensor | None = None) -> Tensor:
        """Let each position of x look at x, or at context when it is given."""
        source = x if context is None else context
        shape = (self.num_heads, self.d_head)
        q = self.w_q(x).unflatten(-1, shape).movedim(2, 1)  # [B, H, T, d]
        k = self.w_k(source).unflatten(-1, shape).movedim(2, 1)
        v = self.w_v(source).unflatten(-1, shape).movedim(2, 1)
        output, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.w_o(output.movedim(1, 2).flatten(2))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
