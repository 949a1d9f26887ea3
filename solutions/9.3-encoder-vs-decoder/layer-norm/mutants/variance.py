"""What the divisor gets wrong.

It is the root of variance plus eps: the variance is the mean of the squared differences from the mean, and eps is added
inside the root.
"""


class mean_kept:
    """your mean is never subtracted, only the size of x is divided out: that is RMSNorm

    Fails: test_centred, test_values
    """

    class LayerNorm:
        def forward(self, x):
            variance = x.square().mean(dim=-1, keepdim=True)
            return x / torch.sqrt(variance + self.eps) * self.weight + self.bias


class mean_kept_above:
    """your variance is right, but it is x that you divide by the root, not x minus its mean

    Fails: test_centred, test_values
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return x / torch.sqrt(variance + self.eps) * self.weight + self.bias
        """


class scaled_only_by_mean:
    """your output has its mean subtracted, and is not divided by the deviation

    Fails: test_values, test_eps_given
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(dim=-1, keepdim=True)
            return centred * self.weight + self.bias


class root_forgotten:
    """your divisor is the variance, not its root

    Fails: test_values, test_eps_given
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / (variance + self.eps) * self.weight + self.bias
        """


class sum_of_squares:
    """your variance is the sum of the squares: divide it by D

    Fails: test_values, test_eps_given
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = centred.square().sum(dim=-1, keepdim=True)
        """


class unbiased_variance:
    """your variance divides by D - 1: layer norm takes the biased one, which divides by D

    Fails: test_values, test_eps_given, test_gradient_of_x
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = x.var(dim=-1, keepdim=True)
        """


class mean_absolute_deviation:
    """your divisor is the mean absolute difference: the variance is the mean of the squares

    Fails: test_values
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = centred.abs().mean(dim=-1, keepdim=True).square()
        """


class variance_in_one_pass:
    """your variance is E[x²] - E[x]²: far from zero two huge numbers cancel, and all digits with them

    Fails: test_far_from_zero
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = x.square().mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True).square()
        """


class eps_forgotten:
    """your root is taken of the variance alone, without eps: equal features are divided by zero

    Fails: test_equal_features, test_eps_inside_root, test_eps_given
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance) * self.weight + self.bias
        """


class std_plus_eps:
    """your eps is added to the standard deviation: it belongs to the variance, inside the root

    Fails: test_eps_inside_root, test_eps_given
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / (torch.sqrt(variance) + self.eps) * self.weight + self.bias
        """


class eps_fixed:
    """your eps is always 1e-5, whatever was given

    Fails: test_eps_given
    """

    class LayerNorm:
        __init__ = """
            - self.eps = eps
        """

        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + 1e-5) * self.weight + self.bias
        """


class eps_default_other:
    """your default eps is 1e-6, not 1e-5

    Fails: test_eps_inside_root
    """

    class LayerNorm:
        __init__ = """
            - def __init__(self, d_model: int, eps: float = 1e-5) -> None:
            + def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        """


class eps_default_1e_12:
    """your default eps is 1e-12, not 1e-5

    Fails: test_eps_inside_root
    """

    class LayerNorm:
        __init__ = """
            - def __init__(self, d_model: int, eps: float = 1e-5) -> None:
            + def __init__(self, d_model: int, eps: float = 1e-12) -> None:
        """


class root_twice:
    """your divisor is the root of a root: the deviation is the root of the variance already

    Fails: test_values, test_eps_given
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = x.std(dim=-1, correction=0, keepdim=True)
        """


class eps_as_floor:
    """your eps is the least that the variance may be: it is added to every variance

    Fails: test_eps_inside_root, test_eps_given
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = centred.square().mean(dim=-1, keepdim=True).clamp(min=self.eps)
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance) * self.weight + self.bias
        """
