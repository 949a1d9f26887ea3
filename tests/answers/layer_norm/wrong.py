"""Layer norms as other people get them wrong."""


class annotated:
    """The tutorial's norm to the letter: names, unbiased deviation, epsilon beside the root.

    Named: a_2_and_b_2, unbiased_variance, std_plus_eps, eps_default_other
    """

    class LayerNorm:
        def __init__(self, features, eps=1e-6):
            super().__init__()
            self.a_2 = nn.Parameter(torch.ones(features))
            self.b_2 = nn.Parameter(torch.zeros(features))
            self.eps = eps

        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            std = x.std(-1, keepdim=True)
            return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


class annotated_but_for_names:
    """The tutorial's formula, with the names that are asked for.

    Named: unbiased_variance, std_plus_eps, eps_default_other
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-6):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))
            self.eps = eps

        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            std = x.std(-1, keepdim=True)
            return self.weight * (x - mean) / (std + self.eps) + self.bias


class names_of_the_tutorial:
    """Right but for the names a_2 and b_2.

    Named: a_2_and_b_2
    """

    class LayerNorm:
        def __init__(self, features, eps=1e-5):
            super().__init__()
            self.a_2 = nn.Parameter(torch.ones(features))
            self.b_2 = nn.Parameter(torch.zeros(features))
            self.eps = eps

        def forward(self, x):
            var, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
            return self.a_2 * (x - mean) * torch.rsqrt(var + self.eps) + self.b_2


class greek_names:
    """Right but for the names gamma and beta.

    Named: gamma_and_beta
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.gamma = nn.Parameter(torch.ones(d_model))
            self.beta = nn.Parameter(torch.zeros(d_model))

        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, unbiased=False, keepdim=True)
            return self.gamma * (x - mean) / torch.sqrt(var + self.eps) + self.beta


class squares_less_square:
    """Mean of squares less square of the mean, as an annotated implementation computes it.

    Named: variance_in_one_pass
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(dim=[-1], keepdim=True)
            mean_x2 = (x**2).mean(dim=[-1], keepdim=True)
            var = mean_x2 - mean**2
            x_norm = (x - mean) / torch.sqrt(var + self.eps)
            return self.weight * x_norm + self.bias


class var_as_torch_gives_it:
    """torch's variance, which divides by D - 1.

    Named: unbiased_variance
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True)
            return self.weight * (x - mean) * torch.rsqrt(var + self.eps) + self.bias


class divided_by_one_less:
    """The sum of squares is divided by D - 1 by hand.

    Named: unbiased_variance
    """

    class LayerNorm:
        def forward(self, x):
            d = x.shape[-1]
            mean = x.sum(-1, keepdim=True) / d
            centred = x - mean
            variance = torch.einsum("...d,...d->...", centred, centred)[..., None] / (d - 1)
            return self.weight * centred / torch.sqrt(variance + self.eps) + self.bias


class deviation_and_epsilon:
    """The biased deviation, with epsilon added to it.

    Named: std_plus_eps
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            std = x.std(-1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / (std + self.eps) + self.bias


class root_of_the_deviation:
    """What is called var is a deviation already, and the root is taken of it.

    Named: root_twice
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.std(-1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class rms_norm:
    """The norm of llama, with a bias.

    Named: mean_kept
    """

    class LayerNorm:
        def _norm(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

        def forward(self, x):
            return self._norm(x.float()).type_as(x) * self.weight + self.bias


class last_two_axes:
    """Everything but the batch is averaged, as for images.

    Named: over_sequence
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(dim=(-2, -1), keepdim=True)
            var = x.var(dim=(-2, -1), keepdim=True, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class axis_one:
    """The axis is counted from the front, where features would be in a table of two axes.

    Named: over_time
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(1, keepdim=True)
            var = x.var(1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class batch_norm:
    """The statistics of a batch.

    Named: over_first_axis
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(0)
            var = ((x - mean) ** 2).mean(0)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class batch_and_time:
    """The statistics of each feature, over all positions of the batch.

    Named: over_all_positions
    """

    class LayerNorm:
        def forward(self, x):
            rows = x.reshape(-1, x.shape[-1])
            mean, var = rows.mean(0), rows.var(0, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class no_axis_at_all:
    """mean() and var() of the whole tensor.

    Named: over_everything
    """

    class LayerNorm:
        def forward(self, x):
            var, mean = torch.var_mean(x, correction=0)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class variance_of_the_whole:
    """The mean is each position's own, the variance everybody's.

    Named: variance_over_everything
    """

    class LayerNorm:
        def forward(self, x):
            diff = x - x.mean(-1, keepdim=True)
            var = (diff**2).mean()
            return diff / torch.sqrt(var + self.eps) * self.weight + self.bias


class axes_lost:
    """Neither statistic keeps its axis.

    Named: keepdim_forgotten
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1)
            var = x.var(-1, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class variance_without_its_axis:
    """The mean keeps its axis, the variance does not.

    Named: variance_keepdim_forgotten
    """

    class LayerNorm:
        def forward(self, x):
            x = x - x.mean(-1, keepdim=True)
            var = x.pow(2).mean(-1)
            return self.weight * x / torch.sqrt(var + self.eps) + self.bias


class no_epsilon:
    """Epsilon is stored and never used.

    Named: eps_forgotten
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            std = torch.sqrt(torch.mean((x - mean) ** 2, -1, keepdim=True))
            return self.weight * ((x - mean) / std) + self.bias


class epsilon_of_bert:
    """The default of BERT's configuration.

    Named: eps_default_1e_12
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-12):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))
            self.eps = eps


class epsilon_of_keras:
    """The default of another library, 1e-3.

    Named: eps_default_other
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-3):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
            self.variance_epsilon = eps

        def forward(self, x):
            u = x.mean(-1, keepdim=True)
            s = (x - u).pow(2).mean(-1, keepdim=True)
            return self.weight * ((x - u) / torch.sqrt(s + self.variance_epsilon)) + self.bias


class epsilon_written_twice:
    """The number stands in forward, whatever was given.

    Named: eps_fixed
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


class epsilon_as_a_floor:
    """Epsilon is the least that the variance may be.

    Named: eps_as_floor
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            var = centred.pow(2).mean(-1, keepdim=True).clamp(min=self.eps)
            return self.weight * centred / var.sqrt() + self.bias


class divided_by_the_variance:
    """The root is missing.

    Named: root_forgotten
    """

    class LayerNorm:
        def forward(self, x):
            mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / (var + self.eps) + self.bias


class unit_length:
    """The centred vector is given length 1.

    Named: sum_of_squares
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            length = torch.sqrt((centred**2).sum(-1, keepdim=True) + self.eps)
            return self.weight * centred / length + self.bias


class numerator_as_it_came:
    """The mean goes into the variance and not into the numerator.

    Named: mean_kept_above
    """

    class LayerNorm:
        def forward(self, x):
            var = x.var(-1, keepdim=True, unbiased=False)
            return self.weight * x / torch.sqrt(var + self.eps) + self.bias


class random_weight:
    """Parameters begin as a linear layer's would.

    Named: weight_random
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.randn(d_model))
            self.bias = nn.Parameter(torch.randn(d_model))


class zeros_for_both:
    """Both parameters begin as zeros.

    Named: weight_zeros
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.zeros(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))


class one_plus_weight:
    """The weight is what is added to 1, as in Gemma: it begins as zeros.

    Named: weight_zeros, weight_plus_one
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.zeros(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))

        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            normal = centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + self.eps)
            return normal * (1.0 + self.weight) + self.bias


class weight_and_bias_exchanged:
    """The factor is added, and the offset multiplied.

    Named: weight_and_bias_swapped
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True, unbiased=False)
            return self.bias * (x - mean) / torch.sqrt(var + self.eps) + self.weight


class tensors_and_no_parameters:
    """Weight and bias are tensors that want a gradient.

    Named: no_parameters
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = torch.ones(d_model, requires_grad=True)
            self.bias = torch.zeros(d_model, requires_grad=True)


class registered_as_buffers:
    """Weight and bias are buffers.

    Named: no_parameters, parameters_as_buffers
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.register_buffer("weight", torch.ones(d_model))
            self.register_buffer("bias", torch.zeros(d_model))


class axes_for_broadcasting:
    """Parameters have axes for batch and time, as those of a batch norm for images.

    Named: parameters_with_axes
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(1, 1, d_model))
            self.bias = nn.Parameter(torch.zeros(1, 1, d_model))


class scalars:
    """One factor and one offset serve all features.

    Named: one_weight_for_all
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(1))
            self.bias = nn.Parameter(torch.zeros(1))

        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class only_a_weight:
    """The bias is left out, as some models do.

    Named: no_bias
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(d_model))

        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps)


class bias_not_added:
    """The bias exists and is never used.

    Named: bias_forgotten
    """

    class LayerNorm:
        def forward(self, x):
            var, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
            return torch.mul((x - mean) * torch.rsqrt(var + self.eps), self.weight)


class plain_normalisation:
    """The parameters exist and are never used.

    Named: affine_forgotten
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True, unbiased=False)
            return (x - mean) / torch.sqrt(var + self.eps)


class brackets_around_the_sum:
    """The weight multiplies the bias as well.

    Named: bias_scaled_too
    """

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            std = (x.var(-1, keepdim=True, unbiased=False) + self.eps).sqrt()
            return self.weight * ((x - mean) / std + self.bias)


class statistics_without_grad:
    """Mean and variance are computed under no_grad.

    Named: statistics_detached
    """

    class LayerNorm:
        def forward(self, x):
            with torch.no_grad():
                mean = x.mean(-1, keepdim=True)
                var = x.var(-1, keepdim=True, unbiased=False)
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class by_way_of_numpy:
    """The normalisation is numpy's, and the graph ends there.

    Named: graph_cut
    """

    class LayerNorm:
        def forward(self, x):
            data = x.detach().cpu().numpy()
            mean = data.mean(-1, keepdims=True)
            var = data.var(-1, keepdims=True)
            normal = torch.from_numpy((data - mean) / (var + self.eps) ** 0.5).to(x)
            return self.weight * normal + self.bias


class memory_saved:
    """The mean is subtracted in place to save memory.

    Named: in_place
    """

    class LayerNorm:
        def forward(self, x):
            x.sub_(x.mean(-1, keepdim=True))
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight + self.bias


class rows_by_view:
    """The leading axes are folded with view.

    Named: contiguous_alone
    """

    class LayerNorm:
        def forward(self, x):
            rows = x.view(-1, x.size(-1))
            mean = rows.mean(1, keepdim=True)
            var = rows.var(1, keepdim=True, unbiased=False)
            rows = (rows - mean) / torch.sqrt(var + self.eps)
            return (rows * self.weight + self.bias).view(x.shape)


class three_axes_unpacked:
    """The shape is unpacked into three.

    Named: three_axes_only
    """

    class LayerNorm:
        def forward(self, x):
            batch_size, seq_len, d_model = x.size()
            mean = x.mean(-1).view(batch_size, seq_len, 1)
            var = ((x - mean) ** 2).sum(-1).view(batch_size, seq_len, 1) / d_model
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class moving_averages:
    """Training keeps moving averages, and eval uses them.

    Named: running_statistics
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5, momentum=0.1):
            super().__init__()
            self.eps, self.momentum = eps, momentum
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))
            self.register_buffer("running_mean", torch.zeros(1))
            self.register_buffer("running_var", torch.ones(1))

        def forward(self, x):
            if self.training:
                mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
                with torch.no_grad():
                    self.running_mean += self.momentum * (mean.mean() - self.running_mean)
                    self.running_var += self.momentum * (var.mean() - self.running_var)
            else:
                mean, var = self.running_mean, self.running_var
            return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class upcast_and_left:
    """Everything is computed in float32, and stays there.

    Named: float32_result
    """

    class LayerNorm:
        def forward(self, x):
            x = x.float()
            var, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
            return (x - mean) * torch.rsqrt(var + self.eps) * self.weight + self.bias


class torchs_own:
    """The functional form of torch's own.

    Named: torch_layer_norm
    """

    class LayerNorm:
        def forward(self, x):
            import torch.nn.functional as F

            return F.layer_norm(x, (x.size(-1),), self.weight, self.bias, self.eps)


class torchs_own_inside:
    """torch's module without its parameters, and one's own around it.

    Named: torch_layer_norm
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))
            self.norm = nn.LayerNorm(d_model, eps=eps, elementwise_affine=False)

        def forward(self, x):
            return self.norm(x) * self.weight + self.bias


class statistics_returned_as_well:
    """What a backward pass needs is returned along with the output."""

    class LayerNorm:
        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            rstd = (x.var(-1, keepdim=True, unbiased=False) + self.eps) ** -0.5
            return self.weight * (x - mean) * rstd + self.bias, mean, rstd


class super_not_called:
    """nn.Module is not initialised.

    Named: super_forgotten
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))


class result_of_the_first_weights:
    """The parameters are copied when the module is first used.

    Named: weight_kept
    """

    class LayerNorm:
        def forward(self, x):
            if not hasattr(self, "scale"):
                self.scale, self.shift = self.weight.data.clone(), self.bias.data.clone()
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True, unbiased=False)
            return self.scale * (x - mean) / torch.sqrt(var + self.eps) + self.shift


class epsilon_of_the_class:
    """Epsilon belongs to the class, so that the newest module's is everybody's."""

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            type(self).eps = eps
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))


class smallest_and_largest:
    """Features are squeezed between 0 and 1."""

    class LayerNorm:
        def forward(self, x):
            low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
            return self.weight * (x - low) / (high - low + self.eps) + self.bias


class forward_unwritten:
    """The parameters stand, forward is still the stub's."""

    class LayerNorm:
        def forward(self, x):
            raise NotImplementedError("LayerNorm.forward")


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
