"""A network that is right for a short text, or for the first weights.

The same weights serve every position, however many there are, as they are now.
"""

mistake(
    "first-positions-alone",
    "your network passes 512 positions at most, and returns zeros for those after that; it should pass all of them",
    FeedForward="""
        - return self.linear2(self.dropout(h))
        + y = self.linear2(self.dropout(h))
        + return torch.cat((y[:, :512], torch.zeros_like(y[:, 512:])), dim=1)
    """,
    unnamed="no visible text is as long",
)

mistake(
    "weight-kept",
    "your module uses a copy of linear1 from its first call, so later changes do nothing; "
    "use linear1 itself in each call",
    FeedForward="""
        - h = self.linear1(x)
        + if not hasattr(self, "kept"):
        +     self.kept = self.linear1.weight.detach().clone()
        + h = F.linear(x, self.kept.to(x), self.linear1.bias)
    """,
    unnamed="visible checks see a gradient that is missing, and no more",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
