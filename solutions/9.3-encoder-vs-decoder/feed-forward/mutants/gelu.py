"""What gelu gets wrong.

gelu(x) = x · Φ(x), where Φ(x) = (1 + erf(x / √2)) / 2 is the probability that a normal number lies below x.
"""


class gelu_cdf_only:
    """your gelu returns Φ(x): multiply it by x

    Fails: test_gelu_values
    """

    def gelu(x):
        return 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


class gelu_density:
    """your gelu multiplies x by the density φ(x), not by Φ(x), the probability below x

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * torch.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


class gelu_half_forgotten:
    """your gelu is twice too large: Φ(x) is *half* of 1 + erf(x / √2)

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * (1.0 + torch.erf(x / math.sqrt(2.0)))


class gelu_root_forgotten:
    """your gelu takes erf(x): Φ(x) is (1 + erf(x / √2)) / 2

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * 0.5 * (1.0 + torch.erf(x))


class gelu_root_multiplied:
    """your gelu takes erf(x · √2): divide by the root

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * 0.5 * (1.0 + torch.erf(x * math.sqrt(2.0)))


class gelu_tanh:
    """your gelu is the approximation with tanh: the exact one takes torch.erf

    Fails: test_gelu_exact, test_gelu_gradient
    """

    def gelu(x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


class gelu_sigmoid:
    """your gelu is x · sigmoid(1.702 x), a coarse approximation: the exact one takes torch.erf

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * torch.sigmoid(1.702 * x)


class gelu_is_silu:
    """your gelu is x · sigmoid(x): that is silu

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * torch.sigmoid(x)


class gelu_detached:
    """your Φ(x) is cut from the graph: the gradient of gelu is Φ(x) only, and lacks x · φ(x)

    Fails: test_gelu_gradient
    """

    def gelu(x):
        return x * 0.5 * (1.0 + torch.erf(x.detach() / math.sqrt(2.0)))


class gelu_float32:
    """your gelu computes in float32 and does not return to the dtype of x

    Fails: test_gelu_promises
    """

    def gelu(x):
        x = x.float()
        return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


class gelu_in_place:
    """your gelu writes its result into x, the tensor of the caller

    Fails: test_gelu_promises
    """

    def gelu(x):
        return x.mul_(0.5 * (1.0 + torch.erf(x / math.sqrt(2.0))))

    class FeedForward:
        forward = """
            - h = gelu(h)
            + h = gelu(h.clone())
        """


class torch_gelu:
    """your gelu calls torch's GELU, which is what you are building here

    Fails: test_gelu_from_scratch
    """

    def gelu(x):
        return F.gelu(x)


class gelu_half_width:
    """your gelu takes erf(x / 2): it is the root of 2 that x is divided by

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * 0.5 * (1.0 + torch.erf(x / 2.0))


class gelu_one_forgotten:
    """your gelu takes erf alone: Φ(x) is half of 1 + erf(x / √2)

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * 0.5 * torch.erf(x / math.sqrt(2.0))


class gelu_brackets_forgotten:
    """your gelu multiplies x by the 1 alone: 1 + erf(x / √2) needs brackets

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * 0.5 * 1.0 + torch.erf(x / math.sqrt(2.0))


class gelu_complement:
    """your gelu takes the probability above x: Φ(x) is the one below, (1 + erf(x / √2)) / 2

    Fails: test_gelu_values
    """

    def gelu(x):
        return x * 0.5 * (1.0 - torch.erf(x / math.sqrt(2.0)))


class gelu_number_by_number:
    """your gelu leaves torch: what is made of plain numbers has no gradient

    Fails: test_gelu_gradient
    """

    def gelu(x):
        numbers = [v * 0.5 * (1.0 + math.erf(v / math.sqrt(2.0))) for v in x.flatten().tolist()]
        return torch.tensor(numbers, dtype=x.dtype).view(x.shape)


class gelu_math_erf:
    """your gelu gives a tensor to math.erf, which takes one number: torch.erf takes all of them

    Fails: test_gelu_values
    Costs: no call of gelu ends with a value, and most checks of the layer try all three activations
    """

    def gelu(x):
        return x * 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


class gelu_nothing_returned:
    """your gelu returns nothing: end it with return

    Fails: test_gelu_values
    Costs: no call of gelu ends with a value, and most checks of the layer try all three activations
    """

    def gelu(x):
        x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))
