"""Layer norms as other people write them."""


class bert_in_the_style_of_tensorflow:
    """Short names, the epsilon inside the root, and x bound anew, as early ports of BERT have it."""

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))
            self.variance_epsilon = eps

        def forward(self, x):
            u = x.mean(-1, keepdim=True)
            s = (x - u).pow(2).mean(-1, keepdim=True)
            x = (x - u) / torch.sqrt(s + self.variance_epsilon)
            return self.weight * x + self.bias


class var_without_correction:
    """torch's variance, told not to be unbiased."""

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(dim=-1, keepdim=True)
            var = x.var(dim=-1, keepdim=True, unbiased=False)
            x_hat = (x - mean) / (var + self.eps) ** 0.5
            return x_hat * self.weight + self.bias


class var_and_mean_at_once:
    """Both statistics come from one call, and the root is a reciprocal one."""

    class LayerNorm:
        def forward(self, x):
            var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
            return torch.addcmul(self.bias, (x - mean) * torch.rsqrt(var + self.eps), self.weight)


class upcast_and_back:
    """Statistics in float32, the product in the dtype of x, as in llama-like models."""

    class LayerNorm:
        def _norm(self, x):
            x = x - x.mean(-1, keepdim=True)
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

        def forward(self, x):
            output = self._norm(x.float()).type_as(x)
            return output * self.weight + self.bias


class promoted:
    """At least float32 inside, and what came in goes out."""

    class LayerNorm:
        def forward(self, hidden_states):
            input_dtype = hidden_states.dtype
            hidden_states = hidden_states.to(torch.promote_types(input_dtype, torch.float32))
            mean = hidden_states.mean(-1, keepdim=True)
            variance = (hidden_states - mean).square().mean(-1, keepdim=True)
            hidden_states = (hidden_states - mean) * torch.rsqrt(variance + self.eps)
            return (self.weight * hidden_states + self.bias).to(input_dtype)


class sums_by_einsum:
    """Sums over features are written as einsums."""

    class LayerNorm:
        def forward(self, x):
            d = x.shape[-1]
            mean = torch.einsum("...d->...", x)[..., None] / d
            centred = x - mean
            var = torch.einsum("...d,...d->...", centred, centred)[..., None] / d
            return torch.einsum("...d,d->...d", centred / torch.sqrt(var + self.eps), self.weight) + self.bias


class length_of_the_vector:
    """The deviation is the length of the centred vector, over √D."""

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
            return centred / torch.sqrt(length**2 / x.size(-1) + self.eps) * self.weight + self.bias


class rows_first:
    """Whatever comes before the last axis is folded into rows, and unfolded at the end."""

    class LayerNorm:
        def forward(self, x):
            shape = x.shape
            rows = x.reshape(-1, shape[-1])
            mu = rows.mean(dim=1, keepdim=True)
            sigma2 = ((rows - mu) ** 2).mean(dim=1, keepdim=True)
            out = (rows - mu) / torch.sqrt(sigma2 + self.eps)
            return (self.weight * out + self.bias).reshape(shape)


class initialised_by_a_method:
    """Parameters are registered empty, and a method fills them, as torch's own modules do."""

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


class epsilon_in_a_buffer:
    """The epsilon is a buffer, so that it moves with the module."""

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.register_buffer("eps", torch.tensor(float(eps)), persistent=False)
            self.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))
            self.register_parameter("bias", nn.Parameter(torch.full((d_model,), 0.0)))


class deviation_squared:
    """The deviation is asked of torch, and squared again for the epsilon."""

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            std = x.std(-1, keepdim=True, correction=0)
            return self.weight * (x - mean) / torch.sqrt(std**2 + self.eps) + self.bias


class functional_helper:
    """A function does the work, and has the name of what it stands in for."""

    def layer_norm(x, weight, bias, eps):
        mean = x.mean(dim=-1, keepdim=True)
        diff = x - mean
        var = diff.mul(diff).mean(dim=-1, keepdim=True)
        return diff.div(var.add(eps).sqrt()).mul(weight).add(bias)

    class LayerNorm:
        def forward(self, x):
            return layer_norm(x, self.weight, self.bias, self.eps)


class in_place_on_its_own:
    """What it made itself it changes in place, where autograd allows it."""

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(dim=-1, keepdim=True)
            scale = centred.square().mean(dim=-1, keepdim=True).add_(self.eps).rsqrt_()
            out = centred * scale * self.weight
            out += self.bias
            return out


class product_with_ones:
    """The mean is a product with a column of 1/D."""

    class LayerNorm:
        def forward(self, x):
            average = x.new_full((x.shape[-1], 1), 1.0 / x.shape[-1])
            centred = x - x @ average
            variance = (centred * centred) @ average
            return centred / (variance + self.eps).sqrt() * self.weight + self.bias


class axis_as_in_numpy:
    """Words of numpy: axis and keepdims."""

    class LayerNorm:
        def forward(self, x):
            mean = torch.mean(x, axis=-1, keepdims=True)
            var = torch.mean(torch.square(x - mean), axis=-1, keepdims=True)
            normalized = torch.divide(torch.subtract(x, mean), torch.sqrt(torch.add(var, self.eps)))
            return torch.add(torch.multiply(self.weight, normalized), self.bias)


class several_axes_possible:
    """Written for any normalized shape, of which there is one axis here."""

    class LayerNorm:
        def __init__(self, normalized_shape, eps=1e-5, *, elementwise_affine=True):
            super().__init__()
            if isinstance(normalized_shape, int):
                normalized_shape = (normalized_shape,)
            self.normalized_shape = torch.Size(normalized_shape)
            self.eps = eps
            self.elementwise_affine = elementwise_affine
            if self.elementwise_affine:
                self.weight = nn.Parameter(torch.ones(self.normalized_shape))
                self.bias = nn.Parameter(torch.zeros(self.normalized_shape))

        def forward(self, x):
            assert self.normalized_shape == x.shape[-len(self.normalized_shape) :]
            dims = [-(i + 1) for i in range(len(self.normalized_shape))]
            mean = x.mean(dim=dims, keepdim=True)
            var = ((x - mean) ** 2).mean(dim=dims, keepdim=True)
            x_norm = (x - mean) / torch.sqrt(var + self.eps)
            if self.elementwise_affine:
                x_norm = self.weight * x_norm + self.bias
            return x_norm


class mean_taken_twice:
    """The mean of the differences is subtracted as well, which far from zero is not quite 0."""

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            centred = centred - centred.mean(-1, keepdim=True)
            denominator = (centred.pow(2).mean(-1, keepdim=True) + self.eps).sqrt()
            return centred / denominator * self.weight + self.bias


class features_first:
    """Features are moved to the front, where positions line up behind them."""

    class LayerNorm:
        def forward(self, x):
            features = x.movedim(-1, 0)
            centred = features - features.mean(0)
            normal = centred / (centred.square().mean(0) + self.eps).sqrt()
            return normal.movedim(0, -1) * self.weight + self.bias


class base_class:
    """A base class knows the statistics, and the norm inherits them."""

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


class backward_by_hand:
    """Forward and backward are written out with a cache between them, as in lessons on CUDA kernels."""

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


class configured:
    """A dataclass holds the options."""

    from dataclasses import dataclass

    @dataclass(frozen=True)
    class NormConfig:
        """What a norm is made of."""

        width: int
        eps: float = 1e-5

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.config = NormConfig(d_model, eps)
            self.weight = nn.Parameter(torch.ones(self.config.width))
            self.bias = nn.Parameter(torch.zeros(self.config.width))

        def forward(self, x):
            mean = x.mean(-1, True)
            var = x.var(-1, correction=0, keepdim=True)
            return self.weight * ((x - mean) / torch.sqrt(var + self.config.eps)) + self.bias


class scale_and_shift_folded:
    """One factor and one offset for each entry: weight / σ, and bias - μ · weight / σ taken from the centred x."""

    class LayerNorm:
        def forward(self, x):
            centred = torch.sub(x, x.mean(dim=-1, keepdim=True))
            inverse = torch.reciprocal(torch.sqrt(centred.pow(2).mean(dim=-1, keepdim=True) + self.eps))
            factor = inverse * self.weight
            return torch.addcmul(self.bias.expand_as(x), centred, factor)


class padded_axes:
    """A single vector gets an axis first, which it loses at the end."""

    class LayerNorm:
        def forward(self, x):
            alone = x.dim() == 1
            x = x.unsqueeze(0) if alone else x
            mean = torch.mean(x, -1).unsqueeze(-1)
            second = torch.mean((x - mean) ** 2, -1).unsqueeze(-1)
            y = (x - mean) / torch.sqrt(second + self.eps) * self.weight + self.bias
            return y.squeeze(0) if alone else y


class shifted_by_a_feature:
    """Mean of squares less the square of the mean, once the first feature is taken off."""

    class LayerNorm:
        def forward(self, x):
            shifted = x.double() - x[..., :1].double()
            mean = shifted.mean(-1, keepdim=True)
            variance = (shifted * shifted).mean(-1, keepdim=True) - mean * mean
            normal = (shifted - mean) / torch.sqrt(variance.clamp(min=0) + self.eps)
            return normal.to(x.dtype) * self.weight + self.bias


class features_checked:
    """It looks at what it is given before it begins."""

    class LayerNorm:
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            if input.shape[-1] != self.weight.numel():
                raise ValueError(f"expected {self.weight.numel()} features, got {input.shape[-1]}")
            with torch.autocast(device_type=input.device.type, enabled=False):
                deviation = input - input.mean(dim=-1, keepdim=True)
                energy = deviation.square().mean(dim=-1, keepdim=True)
                return deviation / energy.add(self.eps).sqrt() * self.weight + self.bias
