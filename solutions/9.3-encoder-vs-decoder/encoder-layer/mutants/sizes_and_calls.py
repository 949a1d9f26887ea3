"""An encoder that is right for a short text, or for the first mask.

Every layer works on all positions, under the mask of this very call.
"""

mistake(
    "positions-cut",
    "your layer passes 256 positions at most through its feed-forward network; it should pass all of them",
    EncoderLayer="""
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + added = self.dropout(self.feed_forward(self.norm2(x)))
        + x = x + torch.cat((added[:, :256], torch.zeros_like(added[:, 256:])), dim=1)
    """,
    unnamed="no visible text is as long",
)

mistake(
    "mask-kept",
    "your layer stores the mask of its first call for later ones of that shape; it should use the mask of each call",
    EncoderLayer="""
        + if mask is not None:
        +     if not hasattr(self, "kept") or self.kept.shape != mask.shape:
        +         self.kept = mask
        +     mask = self.kept
          if self.norm_first:
    """,
    unnamed="no visible check gives one layer two masks of one shape",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
