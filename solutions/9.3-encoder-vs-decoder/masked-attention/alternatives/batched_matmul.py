"""Leading axes flattened into one batch, the mask as numbers added by `baddbmm`, the heads in a loop."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Average the values, weighted by how well each key answers the query."""
    *lead, Tq, d = query.shape
    Tk, dv = value.shape[-2:]
    q, k, v = query.reshape(-1, Tq, d), key.reshape(-1, Tk, d), value.reshape(-1, Tk, dv)

    bias = q.new_zeros(*lead, Tq, Tk)
    sighted = torch.ones(Tq, 1, dtype=torch.bool, device=q.device)
    if mask is not None:
        sighted = mask.any(dim=-1, keepdim=True)  # [.., Tq or 1, 1]
        bias = bias.masked_fill(~mask & sighted, float("-inf"))  # rows without a key keep finite scores

    scores = torch.baddbmm(bias.reshape(-1, Tq, Tk), q, k.mT, alpha=d**-0.5)  # bias + q kT / sqrt(d)
    log_weights = scores - scores.logsumexp(dim=-1, keepdim=True)
    weights = log_weights.exp().reshape(*lead, Tq, Tk) * sighted
    output = torch.bmm(weights.reshape(-1, Tq, Tk), v).reshape(*lead, Tq, dv)
    return output, weights


class MultiHeadAttention(nn.Module):
    """One attention per slice of the columns, joined by concatenation."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError("heads must be equally wide")
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None = None, context: Tensor | None = None) -> Tensor:
        """Let each position of x look at x, or at context when it is given."""
        if context is None:
            context = x
        B, T, _ = x.shape
        Tk = context.shape[1]
        slices = zip(
            self.w_q(x).chunk(self.num_heads, dim=-1),
            self.w_k(context).chunk(self.num_heads, dim=-1),
            self.w_v(context).chunk(self.num_heads, dim=-1),
            strict=True,
        )
        masks = [None] * self.num_heads
        if mask is not None:
            masks = mask.expand(B, self.num_heads, T, Tk).unbind(dim=1)
        heads = [
            scaled_dot_product_attention(q, k, v, allowed)[0]  # [B, T, d]
            for (q, k, v), allowed in zip(slices, masks, strict=True)
        ]
        return self.w_o(torch.cat(heads, dim=-1))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
