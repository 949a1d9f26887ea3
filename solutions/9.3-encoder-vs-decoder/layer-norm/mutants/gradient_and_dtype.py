"""What the arithmetic around it gets wrong.

Mean and variance depend on x, so the gradient goes through both; x itself and its dtype stay what they were.
"""


class statistics_detached:
    """your mean and variance are cut from the graph: the gradient treats them as constants

    Fails: test_gradient_of_x
    """

    class LayerNorm:
        def forward(self, x):
            centred = x - x.mean(dim=-1, keepdim=True).detach()
            variance = centred.square().mean(dim=-1, keepdim=True).detach()
            return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class variance_detached:
    """your variance is cut from the graph: the gradient treats it as a constant

    Fails: test_gradient_of_x
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = centred.detach().square().mean(dim=-1, keepdim=True)
        """


class weight_cut:
    """your weight is cut from the graph: with .detach(), .data or requires_grad=False it learns nothing

    Fails: test_gradient_of_parameters
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.weight.detach() + self.bias
        """


class bias_cut:
    """your bias is cut from the graph: with .detach(), .data or requires_grad=False it learns nothing

    Fails: test_gradient_of_parameters
    """

    class LayerNorm:
        forward = """
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias.detach()
        """


class in_place:
    """your mean is subtracted from the x that you were given: x -= ... changes the caller's tensor

    Fails: test_promises
    """

    class LayerNorm:
        forward = """
            - centred = x - x.mean(dim=-1, keepdim=True)
            + x -= x.mean(dim=-1, keepdim=True)
            + centred = x
        """


class float32_result:
    """your result is float32 whatever x is: cast it back to the dtype of x

    Fails: test_promises
    """

    class LayerNorm:
        forward = """
            - centred = x - x.mean(dim=-1, keepdim=True)
            + centred = x.float() - x.float().mean(dim=-1, keepdim=True)
        """


class torch_layer_norm:
    """your output comes from torch's layer norm, which is what you are building here

    Fails: test_from_scratch
    Costs: all of it rests on what the kata excludes
    """

    class LayerNorm:
        def forward(self, x):
            return nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class contiguous_alone:
    """your norm takes a view of x, which only a tensor that is contiguous in memory gives: reshape copies where it must

    Fails: test_promises
    """

    class LayerNorm:
        forward = """
            + shape = x.shape
            + x = x.view(-1, shape[-1])
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return (centred / torch.sqrt(variance + self.eps) * self.weight + self.bias).view(shape)
        """


class graph_cut:
    """your normalization is cut from the graph: no gradient reaches x

    Fails: test_gradient_of_x
    """

    class LayerNorm:
        forward = """
            + x = x.detach()
              centred = x - x.mean(dim=-1, keepdim=True)
        """
