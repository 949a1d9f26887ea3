"""What mean and variance get wrong.

They are taken over the last axis alone: each position has its own, whatever axes come first.
"""


class over_everything:
    """your mean and variance are those of the whole tensor: each position must use its own features

    Fails: test_centred, test_values, test_positions_are_independent
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean()
            variance = centred.square().mean()
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class over_first_axis:
    """your statistics run over the first axis: that is batch norm; each position must use its own features

    Fails: test_centred, test_values, test_positions_are_independent
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(dim=0, keepdim=True)
            variance = centred.square().mean(dim=0, keepdim=True)
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class over_sequence:
    """your statistics run over a whole sequence: each position must use its own features

    Fails: test_centred, test_values, test_positions_are_independent
    """

    class LayerNorm:
        def forward(self, x):
            axes = tuple(range(1, x.ndim)) if x.ndim > 1 else (0,)
            centred = x - x.mean(dim=axes, keepdim=True)
            variance = centred.square().mean(dim=axes, keepdim=True)
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class over_time:
    """your statistics run over time, the last axis but one: each position must use its own features

    Fails: test_centred, test_values, test_leading_axes
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(dim=-2, keepdim=True)
            variance = centred.square().mean(dim=-2, keepdim=True)
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class keepdim_forgotten:
    """your mean has lost the last axis (keepdim=True keeps it), so it does not line up with x

    Fails: test_shape
    Costs: forward raises for nearly every input, and what raises shows nothing
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(dim=-1)
            variance = centred.square().mean(dim=-1)
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class three_axes_only:
    """your forward needs exactly three axes: any number may come before the last, also none

    Fails: test_leading_axes
    """

    class LayerNorm:
        forward = """
            - centred = x - x.mean(dim=-1, keepdim=True)
            + B, T, D = x.shape
            + centred = x - x.sum(dim=-1).reshape(B, T, 1) / D
        """


class running_statistics:
    """your module keeps a running mean and variance as batch norm does: eval mode must not differ

    Fails: test_modes
    """

    class LayerNorm:
        __init__ = """
              self.bias = nn.Parameter(torch.zeros(d_model))
            + self.register_buffer("mean", torch.zeros(()))
            + self.register_buffer("var", torch.ones(()))
        """

        def forward(self, x):
            if not self.training:
                return (x - self.mean) / torch.sqrt(self.var + self.eps) * self.weight + self.bias
            centred = x - x.mean(dim=-1, keepdim=True)
            variance = centred.square().mean(dim=-1, keepdim=True)
            self.mean.mul_(0.9).add_(x.mean().detach(), alpha=0.1)
            self.var.mul_(0.9).add_(variance.mean().detach(), alpha=0.1)
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class over_all_positions:
    """your statistics run over all positions, feature by feature: each position must use its own features

    Fails: test_centred, test_values, test_positions_are_independent
    """

    class LayerNorm:
        def forward(self, x):
            axes = tuple(range(x.ndim - 1))
            centred = x - x.mean(dim=axes, keepdim=True) if axes else x * 0
            variance = centred.square().mean(dim=axes, keepdim=True) if axes else x * 0
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class variance_over_everything:
    """your mean is right, but your variance is that of the whole tensor: each position has its own

    Fails: test_values, test_positions_are_independent
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = centred.square().mean()
        """


class variance_keepdim_forgotten:
    """your variance has lost the last axis (keepdim=True keeps it), so it does not line up with x

    Fails: test_shape
    Costs: forward raises for nearly every input, and what raises shows nothing
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = centred.square().mean(dim=-1)
        """


class scaled_and_shifted_alone:
    """your module only scales and shifts: no mean is subtracted, and nothing is divided by a standard deviation

    Fails: test_values
    Idle: nothing is normalised
    """

    class LayerNorm:
        def forward(self, x):
            return x * self.weight + self.bias
