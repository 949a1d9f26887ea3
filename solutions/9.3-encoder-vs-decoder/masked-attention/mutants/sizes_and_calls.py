"""Attention that is right for a short text, or for the first mask.

Every key that the mask allows is looked at, however many there are, and the mask is that of this very call.
"""

mistake(
    "keys-cut",
    "your attention looks at 512 keys at most; it should look at all of them, however many there are",
    scaled_dot_product_attention="""
        + if mask is None:
        +     mask = torch.ones(1, key.size(-2), dtype=torch.bool, device=key.device)
        + mask = mask & (torch.arange(key.size(-2), device=key.device) < 512)
          scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    """,
    unnamed="no visible text is as long",
)

mistake(
    "mask-kept",
    "your module stores the mask of the first call and uses it ever after; it should use the mask of each call",
    MultiHeadAttention="""
        + if not hasattr(self, "kept"):
        +     self.kept = mask
        + if mask is not None and self.kept is not None and mask.shape == self.kept.shape:
        +     mask = self.kept
          source = x if context is None else context
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
