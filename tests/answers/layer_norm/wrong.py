"""Layer norms as other people get them wrong."""


class statistics_returned_as_well:
    """What a backward pass needs is returned along with the output."""

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            rstd = (x.var(-1, keepdim=True, unbiased=False) + self.eps) ** -0.5
            return self.weight * (x - mean) * rstd + self.bias, mean, rstd


class frozen_weight:
    """The weight is a parameter that wants no gradient.

    Named: weight_cut
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(d_model), requires_grad=False)
            self.bias = nn.Parameter(torch.zeros(d_model))


class frozen_bias:
    """The bias is a parameter that wants no gradient.

    Named: bias_cut
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model), requires_grad=False)
