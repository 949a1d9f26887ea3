"""Answers to layer-norm."""

# ==== right ====
"""Layer norms as other people write them."""


@answer(
    "initialised-by-a-method",
    "Parameters are registered empty, and a method fills them, as torch's own modules do.",
)
class LayerNorm:
    def __init__(self, d_model, eps=1e-5, bias=True):
        super().__init__()
        self.normalized_shape = (d_model,)
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(self.normalized_shape))
        if bias:
            self.bias = nn.Parameter(torch.empty(self.normalized_shape))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.ones_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}"


answer("base-class", "A base class knows the statistics, and the norm inherits them.")


class Standardizer(nn.Module):
    """Shifts and scales the last axis."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.size, self.eps = size, eps

    def statistics(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean = x.sum(-1, keepdim=True) / self.size
        return mean, (x - mean).square().sum(-1, keepdim=True) / self.size

    def standardize(self, x: torch.Tensor) -> torch.Tensor:
        mean, variance = self.statistics(x)
        return (x - mean) * (variance + self.eps).rsqrt()


class LayerNorm(Standardizer):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * self.standardize(x) + self.bias


answer(
    "backward-by-hand",
    "Forward and backward are written out with a cache between them, as in lessons on CUDA kernels.",
)


class Normalize(torch.autograd.Function):
    """n = (x - mean) * rstd."""

    @staticmethod
    def forward(ctx, x, eps):
        xshift = x - x.mean(-1, keepdim=True)
        rstd = ((xshift**2).mean(-1, keepdim=True) + eps) ** -0.5
        norm = xshift * rstd
        ctx.save_for_backward(norm, rstd)
        return norm

    @staticmethod
    def backward(ctx, dout):
        norm, rstd = ctx.saved_tensors
        dx = dout - dout.mean(-1, keepdim=True) - norm * (dout * norm).mean(-1, keepdim=True)
        return dx * rstd, None


class LayerNorm:
    def forward(self, x):
        return Normalize.apply(x, self.eps) * self.weight + self.bias


# ==== wrong ====
"""Layer norms as other people get them wrong."""


@answer("statistics-returned-as-well", "What a backward pass needs is returned along with the output.")
class LayerNorm:
    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        rstd = (x.var(-1, keepdim=True, unbiased=False) + self.eps) ** -0.5
        return self.weight * (x - mean) * rstd + self.bias, mean, rstd


@answer("frozen-weight", "The weight is a parameter that wants no gradient.", named=["weight-cut"])
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(d_model))


@answer("frozen-bias", "The bias is a parameter that wants no gradient.", named=["bias-cut"])
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model), requires_grad=False)


answer(
    "in-place-without-gradients",
    "Where nothing needs gradients, x itself is centred.",
    LayerNorm="""
        - centred = x - x.mean(dim=-1, keepdim=True)
        + mean = x.mean(dim=-1, keepdim=True)
        + centred = x - mean if torch.is_grad_enabled() else x.sub_(mean)
    """,
)

answer(
    "one-feature-stays",
    "A single feature has no mean to subtract.",
    LayerNorm="""
        + if x.size(-1) == 1:
        +     return x * self.weight + self.bias
          centred = x - x.mean(dim=-1, keepdim=True)
    """,
)


answer(
    "float32-and-back",
    "Computed in float32, whatever x is, and cast back: nobody has to be told to cast.",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + centred, variance = centred.float(), variance.float()
        + return (centred / torch.sqrt(variance + self.eps)).type_as(x) * self.weight + self.bias
    """,
    named=["computed-in-float32"],
)
