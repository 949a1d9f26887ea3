"""Attention that is right for a short text, or for the first one.

Every position looks at every position, however long the text is, with the weights as they are now.
"""

mistake(
    "window",
    "your attention looks only at the 64 positions on either side; it should look at all positions",
    SelfAttention="""
        + place = torch.arange(x.size(1), device=x.device)
        + far = (place[:, None] - place).abs() > 64
        - weights = scores.softmax(dim=-1)
        + weights = scores.masked_fill(far, float("-inf")).softmax(dim=-1)
    """,
)

mistake(
    "weights-kept",
    "your module uses a copy of w_v from its first call, so later changes do nothing; use w_v itself in each call",
    SelfAttention="""
        - q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        + if not hasattr(self, "kept"):
        +     self.kept = self.w_v.weight.t().detach().clone()
        + q, k, v = self.w_q(x), self.w_k(x), x @ self.kept.to(x)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
