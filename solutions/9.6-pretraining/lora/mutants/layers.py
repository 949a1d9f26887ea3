"""What a LoRALinear gets wrong.

The difference is scaled by alpha / r and begins with zero; the base does not learn, and A and B are made like it.
"""

mistake(
    "alpha-not-divided",
    "your scale is alpha itself, so each rank needs another learning rate; it should be alpha / r",
    LoRALinear="alpha / r -> alpha",
)

mistake(
    "scale-inverted",
    "your scale is r / alpha, so a larger alpha weakens the difference; it should be alpha / r",
    LoRALinear="alpha / r -> r / alpha",
)

mistake(
    "scale-left-out",
    "your difference is added without a scale, so alpha does nothing; multiply it by alpha / r",
    LoRALinear="alpha / r -> 1",
)

mistake(
    "scale-by-root",
    "your scale is alpha / √r, which is another method's; divide by r",
    LoRALinear="alpha / r -> alpha / r**0.5",
)

mistake(
    "b-random",
    "your B begins with random numbers, so a new adapter changes the model; it should begin with zeros",
    LoRALinear="W.new_zeros(base.out_features, r) -> A.new_empty(base.out_features, r).normal_(std=0.02)",
)

mistake(
    "both-zero",
    "your A and B both begin with zeros, so neither has a gradient and nothing moves; A should be random",
    LoRALinear="torch.randn(r, base.in_features, dtype=W.dtype, device=W.device) -> W.new_zeros(r, base.in_features)",
)

mistake(
    "a-large",
    "your A begins with a deviation of 1, so its first steps are too large; it should be at most 1 / √I",
    LoRALinear="nn.Parameter(A / base.in_features**0.5) -> nn.Parameter(A)",
)

mistake(
    "a-not-drawn",
    "your A is the same in every layer; it should be drawn at random for each",
    LoRALinear="torch.randn(r, base.in_features, dtype=W.dtype, device=W.device) -> "
    "torch.linspace(-1, 1, r * base.in_features, dtype=W.dtype, device=W.device).view(r, base.in_features)",
)

mistake(
    "base-learns",
    "your base still learns, so it is not frozen; its parameters should want no gradient",
    LoRALinear="base.requires_grad_(False).weight -> base.weight",
    inject="""
          for parameter in model.parameters():
        -     parameter.requires_grad = False
        +     pass
    """,
)

mistake(
    "base-copied",
    "your layer wraps a copy of the base, so others that use it lose the tie; keep the object itself",
    LoRALinear="""
        - W = base.requires_grad_(False).weight
        + base = __import__("copy").deepcopy(base.requires_grad_(False))
        + W = base.weight
    """,
)

mistake(
    "base-detached",
    "your base computes without gradients, so nothing before it learns; its parameters should be frozen instead",
    LoRALinear="y = self.base(x) -> y = self.base(x).detach()",
)

mistake(
    "float32-parts",
    "your A and B are float32 whatever the base is; they should have its weight's dtype",
    LoRALinear=[
        "dtype=W.dtype, device=W.device -> device=W.device",
        "W.new_zeros(base.out_features, r) -> torch.zeros(base.out_features, r, device=W.device)",
    ],
)

mistake(
    "rank-not-refused",
    "your rank of 0 is taken, or fails as a division by zero; raise ValueError below 1",
    LoRALinear="""
        - if r < 1:
        -     raise ValueError(f"r is {r}, and a rank is at least 1")
    """,
)

mistake(
    "frozen-before-refused",
    "your base is frozen before its rank is refused; check the rank first",
    LoRALinear="""
          super().__init__()
        + base.requires_grad_(False)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
