"""What the divisor gets wrong.

It is the root of variance plus eps: the variance is the mean of the squared differences from the mean, and eps is added
inside the root.
"""


@mistake(
    "mean-kept",
    "your mean is never subtracted, and x is only divided by its size, as in RMSNorm; subtract the mean first",
)
class LayerNorm:
    def forward(self, x):
        variance = x.square().mean(dim=-1, keepdim=True)
        return x / torch.sqrt(variance + self.eps) * self.weight + self.bias


mistake(
    "mean-kept-above",
    "your variance is right, but you divide x by the root; divide x minus its mean",
    LayerNorm="centred / torch.sqrt(variance + self.eps) -> x / torch.sqrt(variance + self.eps)",
)


@mistake(
    "scaled-only-by-mean",
    "your output has its mean subtracted and stays at its scale; divide it by the root of variance plus eps",
)
class LayerNorm:
    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        return centred * self.weight + self.bias


mistake(
    "root-forgotten",
    "your divisor is the variance; it should be the root of variance plus eps",
    LayerNorm="torch.sqrt(variance + self.eps) -> (variance + self.eps)",
)

mistake(
    "sum-of-squares",
    "your variance is the sum of the squares; divide it by D",
    LayerNorm="centred.square().mean(dim=-1, keepdim=True) -> centred.square().sum(dim=-1, keepdim=True)",
)

mistake(
    "unbiased-variance",
    "your variance divides by D - 1; layer norm should take the biased one, which divides by D",
    LayerNorm="centred.square().mean(dim=-1, keepdim=True) -> x.var(dim=-1, keepdim=True)",
)

mistake(
    "mean-absolute-deviation",
    "your divisor is the mean absolute difference; it should be the root of the mean of the squares",
    LayerNorm="""
        - variance = centred.square().mean(dim=-1, keepdim=True)
        + variance = centred.abs().mean(dim=-1, keepdim=True).square()
    """,
)

mistake(
    "variance-in-one-pass",
    "your variance is E[x²] - E[x]², whose digits cancel far from zero; subtract the mean before you square",
    LayerNorm="""
        - variance = centred.square().mean(dim=-1, keepdim=True)
        + variance = x.square().mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True).square()
    """,
)

mistake(
    "eps-forgotten",
    "your root is taken of the variance without eps, so equal features are divided by zero; add eps under the root",
    LayerNorm="variance + self.eps -> variance",
)

mistake(
    "std-plus-eps",
    "your eps is added to the standard deviation; add it to the variance, inside the root",
    LayerNorm="torch.sqrt(variance + self.eps) -> (torch.sqrt(variance) + self.eps)",
)

mistake(
    "eps-fixed",
    "your eps is always 1e-5, whatever the argument says; it should be what the argument says",
    LayerNorm="""
        - self.eps = eps

        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + 1e-5) * self.weight + self.bias
    """,
)

mistake(
    "eps-default-other",
    "your default eps is 1e-6; it should be 1e-5",
    LayerNorm="eps: float = 1e-5 -> eps: float = 1e-6",
)

mistake(
    "eps-default-1e-12",
    "your default eps is 1e-12; it should be 1e-5",
    LayerNorm="eps: float = 1e-5 -> eps: float = 1e-12",
)

mistake(
    "root-twice",
    "your divisor is the root of a root; take only one root, as the deviation is the root of the variance already",
    LayerNorm="centred.square().mean(dim=-1, keepdim=True) -> x.std(dim=-1, correction=0, keepdim=True)",
)

mistake(
    "eps-as-floor",
    "your eps is the least that the variance may be; it should be added to every variance",
    LayerNorm="""
        - variance = centred.square().mean(dim=-1, keepdim=True)
        + variance = centred.square().mean(dim=-1, keepdim=True).clamp(min=self.eps)
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance) * self.weight + self.bias
    """,
)

mistake(
    "mean-of-squares",
    "your variance is the mean of x², which is right only around 0; it should be that of (x - mean)²",
    LayerNorm="centred.square().mean -> x.square().mean",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
