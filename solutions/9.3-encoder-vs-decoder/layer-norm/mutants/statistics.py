"""What mean and variance get wrong.

They are taken over the last axis alone: each position has its own, whatever axes come first.
"""


@mistake(
    "over-everything",
    "your mean and variance are those of the whole tensor; each position must use its own features",
)
class LayerNorm:
    def forward(self, x):
        centred = x - x.mean()
        variance = centred.square().mean()
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


@mistake(
    "over-first-axis",
    "your statistics run over the first axis, as in batch norm; each position must use its own features",
)
class LayerNorm:
    def forward(self, x):
        centred = x - x.mean(dim=0, keepdim=True)
        variance = centred.square().mean(dim=0, keepdim=True)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


@mistake(
    "over-sequence",
    "your statistics run over a whole sequence; each position must use its own features",
)
class LayerNorm:
    def forward(self, x):
        axes = tuple(range(1, x.ndim)) if x.ndim > 1 else (0,)
        centred = x - x.mean(dim=axes, keepdim=True)
        variance = centred.square().mean(dim=axes, keepdim=True)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


@mistake(
    "over-time",
    "your statistics run over time, the last axis but one; each position must use its own features",
)
class LayerNorm:
    def forward(self, x):
        centred = x - x.mean(dim=-2, keepdim=True)
        variance = centred.square().mean(dim=-2, keepdim=True)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


@mistake(
    "keepdim-forgotten",
    "your mean does not line up with x; keepdim=True should keep its last axis, with size 1",
    costs="forward raises for nearly every input, and what raises shows nothing",
)
class LayerNorm:
    def forward(self, x):
        centred = x - x.mean(dim=-1)
        variance = centred.square().mean(dim=-1)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


mistake(
    "three-axes-only",
    "your forward needs exactly three axes; it should take any number of axes before the last, also none",
    LayerNorm="""
        - centred = x - x.mean(dim=-1, keepdim=True)
        + B, T, D = x.shape
        + centred = x - x.sum(dim=-1).reshape(B, T, 1) / D
    """,
)


@mistake(
    "running-statistics",
    "your module has a running mean and variance as batch norm does; eval mode must not differ",
    LayerNorm="""
          self.bias = nn.Parameter(torch.zeros(d_model))
        + self.register_buffer("mean", torch.zeros(()))
        + self.register_buffer("var", torch.ones(()))
    """,
)
class LayerNorm:
    def forward(self, x):
        if not self.training:
            return (x - self.mean) / torch.sqrt(self.var + self.eps) * self.weight + self.bias
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        self.mean.mul_(0.9).add_(x.mean().detach(), alpha=0.1)
        self.var.mul_(0.9).add_(variance.mean().detach(), alpha=0.1)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


@mistake(
    "over-all-positions",
    "your statistics run over all positions, feature by feature; each position must use its own features",
)
class LayerNorm:
    def forward(self, x):
        axes = tuple(range(x.ndim - 1))
        centred = x - x.mean(dim=axes, keepdim=True) if axes else x * 0
        variance = centred.square().mean(dim=axes, keepdim=True) if axes else x * 0
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


mistake(
    "variance-over-everything",
    "your mean is right, but your variance is that of the whole tensor; each position should have its own",
    LayerNorm="centred.square().mean(dim=-1, keepdim=True) -> centred.square().mean()",
)

mistake(
    "variance-keepdim-forgotten",
    "your variance does not line up with x; keepdim=True should keep its last axis, with size 1",
    LayerNorm="centred.square().mean(dim=-1, keepdim=True) -> centred.square().mean(dim=-1)",
    costs="forward raises for nearly every input, and what raises shows nothing",
)


@mistake(
    "scaled-and-shifted-alone",
    "your module only scales and shifts; it should first subtract the mean and divide by the standard deviation",
    idle="nothing is normalised",
)
class LayerNorm:
    def forward(self, x):
        return x * self.weight + self.bias
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
