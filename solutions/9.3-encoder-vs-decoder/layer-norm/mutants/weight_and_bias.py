"""What scale and shift get wrong.

Each feature has a weight, which starts at one, and a bias, which starts at zero: a new module only normalizes.
"""


class affine_forgotten:
    """your output is the plain normalization: weight and bias are not used

    Fails: test_weight_and_bias, test_gradient_of_parameters
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps)
        """


class bias_forgotten:
    """your bias is never added

    Fails: test_weight_and_bias, test_equal_features
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.weight
        """


class bias_scaled_too:
    """your bias is added before the weight multiplies: it comes last, and is not scaled

    Fails: test_weight_and_bias
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return (centred / torch.sqrt(variance + self.eps) + self.bias) * self.weight
        """


class weight_before_statistics:
    """your x is scaled and shifted before it is normalized: the learned scale is divided away again

    Fails: test_weight_and_bias
    """

    class LayerNorm:
        def forward(self, x):
            x = x * self.weight + self.bias
            centred = x - x.mean(dim=-1, keepdim=True)
            variance = centred.square().mean(dim=-1, keepdim=True)
            return centred / torch.sqrt(variance + self.eps)


class no_bias:
    """your module has no bias

    Fails: test_parameters
    """

    class LayerNorm:
        __init__ = """
            - self.bias = nn.Parameter(torch.zeros(d_model))
        """

        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.weight
        """


class one_weight_for_all:
    """your weight and bias are single numbers: each feature has its own

    Fails: test_parameters
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(1))
            self.bias = nn.Parameter(torch.zeros(1))


class no_parameters:
    """your weight and bias are plain tensors or buffers: only an nn.Parameter is learned

    Fails: test_parameters
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = torch.ones(d_model)
            self.bias = torch.zeros(d_model)


class gamma_and_beta:
    """your parameters are called gamma and beta: here they are weight and bias

    Fails: test_parameters
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.gamma = nn.Parameter(torch.ones(d_model))
            self.beta = nn.Parameter(torch.zeros(d_model))

        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.gamma + self.beta
        """


class weight_zeros:
    """your weight starts as zeros: it has to start as ones

    Fails: test_initial_values, test_values
    """

    class LayerNorm:
        __init__ = """
            - self.weight = nn.Parameter(torch.ones(d_model))
            + self.weight = nn.Parameter(torch.zeros(d_model))
        """


class weight_random:
    """your weight starts as random numbers, not as ones

    Fails: test_initial_values, test_values
    """

    class LayerNorm:
        __init__ = """
            - self.weight = nn.Parameter(torch.ones(d_model))
            + self.weight = nn.Parameter(torch.randn(d_model))
        """


class bias_ones:
    """your bias starts as ones, not as zeros

    Fails: test_initial_values, test_centred
    """

    class LayerNorm:
        __init__ = """
            - self.bias = nn.Parameter(torch.zeros(d_model))
            + self.bias = nn.Parameter(torch.ones(d_model))
        """


class weight_plus_one:
    """your output is multiplied by 1 + weight: it is the weight itself that multiplies, and it starts as ones

    Fails: test_initial_values, test_weight_and_bias
    """

    class LayerNorm:
        __init__ = """
            - self.weight = nn.Parameter(torch.ones(d_model))
            + self.weight = nn.Parameter(torch.zeros(d_model))
        """

        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * (1 + self.weight) + self.bias
        """


class weight_and_bias_swapped:
    """your bias multiplies and your weight is added: it is the other way round

    Fails: test_weight_and_bias, test_values
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.bias + self.weight
        """


class a_2_and_b_2:
    """your parameters are called a_2 and b_2: here they are weight and bias

    Fails: test_parameters
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.a_2 = nn.Parameter(torch.ones(d_model))
            self.b_2 = nn.Parameter(torch.zeros(d_model))

        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.a_2 + self.b_2
        """


class parameters_with_axes:
    """your weight and bias have axes for batch and time: they are [D], and broadcast without

    Fails: test_parameters
    Costs: [1, 1, D] takes no state of [D], and makes an output of three axes of any x
    """

    class LayerNorm:
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(1, 1, d_model))
            self.bias = nn.Parameter(torch.zeros(1, 1, d_model))


class super_forgotten:
    """your __init__ never calls super().__init__(), without which a module can hold no parameter

    Fails: test_parameters
    Costs: no module can be made
    """

    class LayerNorm:
        __init__ = """
            - super().__init__()
        """
