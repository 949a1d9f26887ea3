"""What dropout gets wrong.

In train mode each hidden unit of each position is dropped with probability p, after the activation, and what is kept is
scaled by 1 / (1 - p).
"""

mistake(
    "dropout-missing",
    "your module is given dropout and never drops anything; it should drop that share in train mode",
    FeedForward="self.dropout(h) -> h",
)

mistake(
    "dropout-by-default",
    "your dropout is 0.1 by default; it should be 0 here",
    FeedForward="dropout: float = 0.0 -> dropout: float = 0.1",
)

mistake(
    "dropout-in-eval",
    "your dropout drops in eval mode too; pass it self.training, or use nn.Dropout",
    FeedForward=[
        "self.dropout = nn.Dropout(dropout) -> self.p = dropout",
        "self.dropout(h) -> F.dropout(h, self.p)",
    ],
)

mistake(
    "dropout-keeps-p",
    "your dropout keeps the share p; it should drop the share p",
    FeedForward="nn.Dropout(dropout) -> nn.Dropout(1.0 - dropout)",
)

mistake(
    "dropout-share-inverted",
    "your dropout drops the share 1 - p, and scales as if it were p; it should drop the share p",
    FeedForward="""
        - self.dropout = nn.Dropout(dropout)
        + self.p = dropout

        - return self.linear2(self.dropout(h))
        + if self.training:
        +     h = h * (torch.rand_like(h) < self.p) / (1 - self.p)
        + return self.linear2(h)
    """,
)

mistake(
    "dropout-not-scaled",
    "your dropout does not scale up the units that it keeps; multiply them by 1/(1 - p)",
    FeedForward="""
        - self.dropout = nn.Dropout(dropout)
        + self.p = dropout

        - return self.linear2(self.dropout(h))
        + if self.training:
        +     h = h * (torch.rand_like(h) >= self.p)
        + return self.linear2(h)
    """,
)

mistake(
    "dropout-shared",
    "your dropout draws one mask for all positions; each number should be dropped or kept by itself",
    FeedForward="""
        - return self.linear2(self.dropout(h))
        + h = h * self.dropout(torch.ones_like(h[:1, :1]))
        + return self.linear2(h)
    """,
)

mistake(
    "dropout-on-input",
    "your dropout drops features of x; drop hidden units, after the activation",
    FeedForward="""
        + x = self.dropout(x)
          h = self.linear1(x)

        - return self.linear2(self.dropout(h))
        + return self.linear2(h)
    """,
)

mistake(
    "dropout-before-activation",
    "your dropout comes before the activation, which distorts its scaling; drop after the activation",
    FeedForward=[
        "self.linear1(x) -> self.dropout(self.linear1(x))",
        "self.gate(x) -> self.dropout(self.gate(x))",
        "self.dropout(h) -> h",
    ],
)

mistake(
    "dropout-on-output",
    "your dropout comes after linear2; drop hidden units, before it",
    FeedForward="self.linear2(self.dropout(h)) -> self.dropout(self.linear2(h))",
)

mistake(
    "dropout-twice",
    "your dropout is applied twice, before and after linear2; it should be applied only before linear2",
    FeedForward="self.linear2(self.dropout(h)) -> self.dropout(self.linear2(self.dropout(h)))",
)

mistake(
    "dropout-not-for-swiglu",
    "your swiglu drops nothing; dropout should come before linear2 in all three cases",
    FeedForward="h = F.silu(self.gate(x)) * h -> return self.linear2(F.silu(self.gate(x)) * h)",
)

mistake(
    "dropout-fixed",
    "your dropout drops a half, whatever share the argument says; pass it to nn.Dropout",
    FeedForward="nn.Dropout(dropout) -> nn.Dropout()",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
