"""A norm that is right for a narrow vector, or for the first batch.

All features of a position count, however many there are, and those of this very call.
"""

mistake(
    "first-features-alone",
    "your mean is that of the first 1024 features; it should be that of all features",
    LayerNorm="x.mean(dim=-1, keepdim=True) -> x[..., :1024].mean(dim=-1, keepdim=True)",
    unnamed="no visible vector is as wide",
)

mistake(
    "weight-kept",
    "your module uses a copy of its weight from the first call, so later changes do nothing; use the weight itself",
    LayerNorm="""
        + if not hasattr(self, "kept"):
        +     self.kept = self.weight.detach().clone()
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.kept.to(x) + self.bias
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
