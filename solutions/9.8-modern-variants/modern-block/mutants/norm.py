"""How the norm goes wrong.

Each position is divided by the root of the mean of its squares, eps under the root, in float32 at least.
"""


class mean_subtracted:
    """your norm subtracts the mean as LayerNorm does: RMSNorm leaves it in

    Fails: test_norm_values
    """

    class RMSNorm:
        forward = """
            - wide = x.to(torch.promote_types(x.dtype, torch.float32))
            + wide = x.to(torch.promote_types(x.dtype, torch.float32))
            + wide = wide - wide.mean(dim=-1, keepdim=True)
        """


class root_missing:
    """your norm divides by the mean of the squares, without the root

    Fails: test_norm_values
    """

    class RMSNorm:
        forward = """
            - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
            + return (wide / (mean_square + self.eps)).to(x.dtype) * self.weight
        """


class sum_for_mean:
    """your norm divides by the vector's length: the mean of the squares is wanted, not their sum

    Fails: test_norm_values
    """

    class RMSNorm:
        forward = """
            - mean_square = wide.square().mean(dim=-1, keepdim=True)
            + mean_square = wide.square().sum(dim=-1, keepdim=True)
        """


class one_mean_for_all:
    """your norm takes one mean over the whole tensor: each position has its own

    Fails: test_norm_values
    """

    class RMSNorm:
        forward = """
            - mean_square = wide.square().mean(dim=-1, keepdim=True)
            + mean_square = wide.square().mean()
        """


class weight_not_used:
    """your norm does not multiply by its weight

    Fails: test_norm_values
    """

    class RMSNorm:
        forward = """
            - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
            + return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype)
        """


class eps_beside_the_root:
    """your eps is added to the root: it belongs under it, to the mean of the squares

    Fails: test_norm_eps
    """

    class RMSNorm:
        forward = """
            - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
            + return (wide / (mean_square.sqrt() + self.eps)).to(x.dtype) * self.weight
        """


class eps_not_used:
    """your norm does not use the eps it is given: it belongs under the root, to the mean of the squares

    Fails: test_norm_eps
    """

    class RMSNorm:
        forward = """
            - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
            + return (wide * torch.rsqrt(mean_square)).to(x.dtype) * self.weight
        """


class squares_in_half:
    """your norm squares in the dtype of x: in float16 that overflows, in bfloat16 it rounds away

    Fails: test_norm_half
    """

    class RMSNorm:
        forward = """
            - wide = x.to(torch.promote_types(x.dtype, torch.float32))
            + wide = x
        """


class norm_gives_float32:
    """your norm computes in float32 and stays there: the output has the dtype of x

    Fails: test_norm_half
    """

    class RMSNorm:
        forward = """
            - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
            + return wide * torch.rsqrt(mean_square + self.eps) * self.weight.to(wide.dtype)
        """


class norm_with_bias:
    """your norm has a bias: its weight is the only parameter

    Fails: test_norm_parameter
    """

    class RMSNorm:
        __init__ = """
            - self.weight = nn.Parameter(torch.ones(d_model))
            + self.weight = nn.Parameter(torch.ones(d_model))
            + self.bias = nn.Parameter(torch.zeros(d_model))
        """

        forward = """
            - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
            + return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight + self.bias
        """


class torchs_own_norm:
    """your norm is torch's own: it is what you are to write

    Fails: test_from_scratch
    """

    class RMSNorm(nn.RMSNorm):
        def __init__(self, d_model, eps=1e-6):
            super().__init__(d_model, eps=eps)

        def forward(self, x):
            return super().forward(x)


class root_detached:
    """your root is cut from the graph: it depends on x as well, and gradients go through it

    Fails: test_norm_gradients
    """

    class RMSNorm:
        forward = """
            - mean_square = wide.square().mean(dim=-1, keepdim=True)
            + mean_square = wide.detach().square().mean(dim=-1, keepdim=True)
        """


class norm_in_place:
    """your norm writes into x itself: the stream that it reads is changed too

    Fails: test_norm_promises
    """

    class RMSNorm:
        forward = """
            - return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight
            + factor = torch.rsqrt(mean_square + self.eps)
            + if x.requires_grad:
            +     return (wide * factor).to(x.dtype) * self.weight
            + return wide.mul_(factor).to(x.dtype) * self.weight
        """
