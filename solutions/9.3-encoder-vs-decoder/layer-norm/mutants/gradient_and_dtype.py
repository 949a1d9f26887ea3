"""What the arithmetic around it gets wrong.

Mean and variance depend on x, so the gradient goes through both; x itself and its dtype stay what they were.
"""


@mistake(
    "statistics-detached",
    "your mean and variance are cut from the graph, so the gradient treats them as constants; keep them in the graph",
)
class LayerNorm:
    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True).detach()
        variance = centred.square().mean(dim=-1, keepdim=True).detach()
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


mistake(
    "variance-detached",
    "your variance is cut from the graph, so the gradient treats it as a constant; keep it in the graph",
    LayerNorm="centred.square() -> centred.detach().square()",
)

mistake(
    "weight-cut",
    "your weight is cut from the graph by .detach(), .data or requires_grad=False; it should get a gradient",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.weight.detach() + self.bias
    """,
)

mistake(
    "bias-cut",
    "your bias is cut from the graph by .detach(), .data or requires_grad=False; it should get a gradient",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias.detach()
    """,
)

mistake(
    "in-place",
    "your mean is subtracted in place, x -= ..., so the caller's tensor changes; leave x as it is",
    LayerNorm="""
        - centred = x - x.mean(dim=-1, keepdim=True)
        + x -= x.mean(dim=-1, keepdim=True)
        + centred = x
    """,
)

mistake(
    "computed-in-float32",
    "your norm is computed in float32 whatever x is, so float64 loses half of its digits; compute float64 in float64",
    LayerNorm="x - x.mean(dim=-1, keepdim=True) -> x.float() - x.float().mean(dim=-1, keepdim=True)",
)


@mistake(
    "torch-layer-norm",
    "your output comes from torch's layer norm, which you are building here; compute it from means and a root",
    costs="all of it rests on what the kata excludes",
)
class LayerNorm:
    def forward(self, x):
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


mistake(
    "contiguous-alone",
    "your norm takes a view of x, which must be contiguous in memory for that; use reshape, which copies where it "
    "must",
    LayerNorm="""
        + shape = x.shape
        + x = x.view(-1, shape[-1])
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return (centred / torch.sqrt(variance + self.eps) * self.weight + self.bias).view(shape)
    """,
)

mistake(
    "graph-cut",
    "your normalisation is cut from the graph, so no gradient reaches x; let the gradient go through to x",
    LayerNorm="""
        + x = x.detach()
          centred = x - x.mean(dim=-1, keepdim=True)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
