"""How the norm goes wrong.

Each position is divided by the root of the mean of its squares, eps under the root, in float32 at least.
"""

mistake(
    "mean-subtracted",
    "your norm subtracts the mean as LayerNorm does; RMSNorm should leave it in",
    RMSNorm="""
        - wide = x.to(torch.promote_types(x.dtype, torch.float32))
        + wide = x.to(torch.promote_types(x.dtype, torch.float32))
        + wide = wide - wide.mean(dim=-1, keepdim=True)
    """,
)

mistake(
    "root-missing",
    "your norm divides by the mean of the squares; it should divide by the root of that mean",
    RMSNorm="wide * torch.rsqrt(mean_square + self.eps) -> wide / (mean_square + self.eps)",
)

mistake(
    "sum-for-mean",
    "your norm divides by the vector's length; take the mean of the squares, not their sum",
    RMSNorm="wide.square().mean(dim=-1, keepdim=True) -> wide.square().sum(dim=-1, keepdim=True)",
)

mistake(
    "one-mean-for-all",
    "your norm takes one mean over the whole tensor; each position should have its own",
    RMSNorm="wide.square().mean(dim=-1, keepdim=True) -> wide.square().mean()",
)

mistake(
    "weight-not-used",
    "your norm does not use its weight; it should multiply each column by it",
    RMSNorm="""
        - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
        + return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype)
    """,
)

mistake(
    "eps-beside-the-root",
    "your eps is added to the root; add it under the root, to the mean of the squares",
    RMSNorm="wide * torch.rsqrt(mean_square + self.eps) -> wide / (mean_square.sqrt() + self.eps)",
)

mistake(
    "eps-not-used",
    "your norm does not use the eps it is given; add it under the root, to the mean of the squares",
    RMSNorm="mean_square + self.eps -> mean_square",
)

mistake(
    "squares-in-half",
    "your norm squares in the dtype of x, so float16 overflows and bfloat16 rounds; square in float32 at least",
    RMSNorm="x.to(torch.promote_types(x.dtype, torch.float32)) -> x",
)

mistake(
    "norm-in-float32",
    "your norm computes float64 in float32, so half of its digits are lost; compute in float32 at least, not at most",
    RMSNorm="x.to(torch.promote_types(x.dtype, torch.float32)) -> x.float()",
    convention="CS336 and 11-711 teach it",
)

mistake(
    "norm-gives-float32",
    "your norm computes in float32 and stays there; the output should have the dtype of x",
    RMSNorm="""
        - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
        + return wide * torch.rsqrt(mean_square + self.eps) * self.weight.to(wide.dtype)
    """,
)

mistake(
    "norm-with-bias",
    "your norm has a bias; its weight should be the only parameter",
    RMSNorm="""
        - self.weight = nn.Parameter(torch.ones(d_model))
        + self.weight = nn.Parameter(torch.ones(d_model))
        + self.bias = nn.Parameter(torch.zeros(d_model))

        - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
        + return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight + self.bias
    """,
)


@mistake("torchs-own-norm", "your norm is torch's own; you should write it yourself")
class RMSNorm(nn.RMSNorm):
    def __init__(self, d_model, eps=1e-6):
        super().__init__(d_model, eps=eps)

    def forward(self, x):
        return super().forward(x)


mistake(
    "root-detached",
    "your root is cut from the graph; gradients should go through it, as it depends on x as well",
    RMSNorm="wide.square() -> wide.detach().square()",
)

mistake(
    "norm-in-place",
    "your norm writes into x itself, so the stream that it reads is changed too; leave x as it is",
    RMSNorm="""
        - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
        + factor = torch.rsqrt(mean_square + self.eps)
        + if x.requires_grad:
        +     return (wide * factor).to(x.dtype) * self.weight
        + return wide.mul_(factor).to(x.dtype) * self.weight
    """,
)

mistake(
    "divided-by-rsqrt",
    "your norm divides by rsqrt, which multiplies by the root; it should divide by the root, or multiply by rsqrt",
    RMSNorm="wide * torch.rsqrt -> wide / torch.rsqrt",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
