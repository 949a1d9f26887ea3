"""What goes wrong in the three parts."""


class bias_of_ones:
    """your bias starts as ones: at first nothing is to be shifted

    Fails: test_norm_parameters, test_norm_values, test_norm_eps
    """

    class LayerNorm:
        __init__ = """
            - self.bias = nn.Parameter(torch.zeros(d_model))
            + self.bias = nn.Parameter(torch.ones(d_model))
        """


class eps_ignored:
    """your eps is always 1e-5, whatever was given

    Fails: test_norm_eps
    """

    class LayerNorm:
        __init__ = """
            - self.eps = eps
            + self.eps = 1e-5
        """


class mask_ignored:
    """your attention ignores the mask

    Fails: test_attention_mask
    """

    attention = """
        - if mask is not None:
        -     scores = scores.masked_fill(~mask, -math.inf)
    """


class mask_of_numbers:
    """your mask holds numbers: it is to be boolean

    Fails: test_mask_shape, test_mask_values, test_mask_single
    """

    causal_mask = """
        - return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()
        + return torch.ones(seq_len, seq_len).tril()
    """


class mask_without_itself:
    """your mask hides each position from itself

    Fails: test_mask_values, test_mask_single
    """

    causal_mask = """
        - return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()
        + return torch.ones(seq_len, seq_len, dtype=torch.bool).tril(-1)
    """


class scores_not_scaled:
    """your scores are not divided by the root of the width

    Fails: test_attention_values
    """

    attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        + scores = query @ key.transpose(-2, -1)
    """


class softmax_over_queries:
    """your softmax runs over the queries instead of the keys

    Fails: test_attention_values, test_attention_sums
    """

    attention = """
        - weights = scores.softmax(dim=-1)
        + weights = scores.softmax(dim=-2)
    """


class softmax_overflows:
    """your softmax takes exp of large scores, and they overflow

    Fails: test_attention_large
    """

    attention = """
        - weights = scores.softmax(dim=-1)
        + powers = scores.exp()
        + weights = powers / powers.sum(dim=-1, keepdim=True)
    """


class unbiased_variance:
    """your variance divides by D - 1: layer norm takes the biased one

    Fails: test_norm_values, test_norm_eps, test_norm_gradient
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = x.var(dim=-1, keepdim=True)
        """


class variance_detached:
    """your variance is cut from the graph: the gradient treats it as a constant

    Fails: test_norm_gradient
    """

    class LayerNorm:
        forward = """
            - variance = centred.square().mean(dim=-1, keepdim=True)
            + variance = centred.detach().square().mean(dim=-1, keepdim=True)
        """
