"""What the module around the heads gets wrong.

Queries come from x; keys and values from context where there is one. Four projections have the same names and biases in
every answer, so that weights can be loaded.
"""


class projections_fused:
    """your queries, keys and values come from one fused layer: w_q, w_k and w_v must exist by name

    Fails: test_parameters
    """

    class MultiHeadAttention:
        __init__ = """
            - self.w_q = nn.Linear(d_model, d_model, bias=bias)
            - self.w_k = nn.Linear(d_model, d_model, bias=bias)
            - self.w_v = nn.Linear(d_model, d_model, bias=bias)
            + self.w_qkv = nn.Linear(d_model, 3 * d_model, bias=bias)
        """

        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            q, (_, k, v) = self.w_qkv(x).chunk(3, dim=-1)[0], self.w_qkv(source).chunk(3, dim=-1)
            heads, _ = scaled_dot_product_attention(self._split(q), self._split(k), self._split(v), mask)
            return self.w_o(heads.transpose(1, 2).flatten(2))


class projections_swapped:
    """your keys come from w_v and your values from w_k

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
            - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + q, k, v = self._split(self.w_q(x)), self._split(self.w_v(source)), self._split(self.w_k(source))
        """


class bias_ignored:
    """your projections always have a bias, whatever the bias argument says

    Fails: test_without_bias
    """

    class MultiHeadAttention:
        def __init__(self, d_model, num_heads, bias=True):
            super().__init__()
            if d_model % num_heads:
                raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
            self.num_heads = num_heads
            self.w_q = nn.Linear(d_model, d_model)
            self.w_k = nn.Linear(d_model, d_model)
            self.w_v = nn.Linear(d_model, d_model)
            self.w_o = nn.Linear(d_model, d_model)


class output_bias_kept:
    """your w_o keeps its bias when bias is False

    Fails: test_without_bias
    """

    class MultiHeadAttention:
        __init__ = """
            - self.w_o = nn.Linear(d_model, d_model, bias=bias)
            + self.w_o = nn.Linear(d_model, d_model)
        """


class output_projection_forgotten:
    """your module returns the joined heads without w_o

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return heads.transpose(1, 2).flatten(2)
        """


class indivisible_assert:
    """your indivisible width is caught by assert: it raises AssertionError, and nothing under python -O

    Fails: test_indivisible
    """

    class MultiHeadAttention:
        __init__ = """
            - if d_model % num_heads:
            -     raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
            + assert d_model % num_heads == 0, "num_heads must divide d_model"
        """


class module_mask_dropped:
    """your module runs its attention without the mask

    Fails: test_module_masks, test_causality
    """

    class MultiHeadAttention:
        forward = """
            - heads, _ = scaled_dot_product_attention(q, k, v, mask)
            + heads, _ = scaled_dot_product_attention(q, k, v)
        """


class mask_cut_to_square:
    """your module cuts the mask to [T, T]: over a context it has as many columns as the context is long

    Fails: test_context_masks
    """

    class MultiHeadAttention:
        forward = """
              q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + if mask is not None:
            +     mask = mask[..., : x.size(1), : x.size(1)]
        """


class context_ignored:
    """your module ignores the context

    Fails: test_context
    """

    class MultiHeadAttention:
        forward = """
            - source = x if context is None else context
            + source = x
        """


class queries_from_context:
    """your queries come from the context too: they belong to x, which asks

    Fails: test_context
    """

    class MultiHeadAttention:
        forward = """
            - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + q, k, v = self._split(self.w_q(source)), self._split(self.w_k(source)), self._split(self.w_v(source))
        """


class values_from_x:
    """your keys come from the context, but your values still from x

    Fails: test_context
    """

    class MultiHeadAttention:
        forward = """
            - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(x))
        """


class dropout_added:
    """your module drops weights in train mode: this exercise has no dropout

    Fails: test_modes
    """

    class MultiHeadAttention:
        __init__ = """
              self.num_heads = num_heads
            + self.dropout = nn.Dropout(0.1)
        """

        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(self.dropout(heads.transpose(1, 2).flatten(2)))
        """


class other_names:
    """your projections have other names: they are to be called w_q, w_k, w_v and w_o

    Fails: test_parameters
    """

    class MultiHeadAttention:
        __init__ = """
            - self.w_q = nn.Linear(d_model, d_model, bias=bias)
            - self.w_k = nn.Linear(d_model, d_model, bias=bias)
            - self.w_v = nn.Linear(d_model, d_model, bias=bias)
            - self.w_o = nn.Linear(d_model, d_model, bias=bias)
            + self.q_proj = nn.Linear(d_model, d_model, bias=bias)
            + self.k_proj = nn.Linear(d_model, d_model, bias=bias)
            + self.v_proj = nn.Linear(d_model, d_model, bias=bias)
            + self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        """

        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q, k, v = self._split(self.q_proj(x)), self._split(self.k_proj(c)), self._split(self.v_proj(c))
            heads, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.out_proj(heads.transpose(1, 2).flatten(2))


class biases_missing:
    """your w_q, w_k and w_v have no bias: they have one unless bias is False

    Fails: test_parameters
    """

    class MultiHeadAttention:
        __init__ = """
            - self.w_q = nn.Linear(d_model, d_model, bias=bias)
            - self.w_k = nn.Linear(d_model, d_model, bias=bias)
            - self.w_v = nn.Linear(d_model, d_model, bias=bias)
            + self.w_q = nn.Linear(d_model, d_model, bias=False)
            + self.w_k = nn.Linear(d_model, d_model, bias=False)
            + self.w_v = nn.Linear(d_model, d_model, bias=False)
        """


class indivisible_unchecked:
    """your module is made without complaint whatever the heads: raise the ValueError in __init__

    Fails: test_indivisible
    """

    class MultiHeadAttention:
        __init__ = """
            - if d_model % num_heads:
            -     raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        """


class module_returns_pair:
    """your module returns a pair: the output alone is asked for

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
            - heads, _ = scaled_dot_product_attention(q, k, v, mask)
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + heads, weights = scaled_dot_product_attention(q, k, v, mask)
            + return self.w_o(heads.transpose(1, 2).flatten(2)), weights
        """


class module_mask_unsqueezed:
    """your module gives the mask another axis whatever its shape: it broadcasts as it is

    Fails: test_module_masks, test_causality
    """

    class MultiHeadAttention:
        forward = """
              source = x if context is None else context
            + mask = None if mask is None else mask.unsqueeze(1)
        """


class residual_added:
    """your module adds x to its result: that is the layer around it

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return x + self.w_o(heads.transpose(1, 2).flatten(2))
        """


class causal_always:
    """your module hides the future by itself: what is hidden is up to the mask that it is given

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
              source = x if context is None else context
            + if mask is None and context is None:
            +     mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()
        """


class context_asks:
    """your queries come from the context and look at x: x asks, and the context is looked at

    Fails: test_context
    """

    class MultiHeadAttention:
        forward = """
            - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + q, k, v = self._split(self.w_q(source)), self._split(self.w_k(x)), self._split(self.w_v(x))
        """


class context_length_of_x:
    """your keys and values are cut with the length of x: a context has a length of its own

    Fails: test_context
    """

    class MultiHeadAttention:
        forward = """
            - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + B, T, D = x.shape
            + parts = (self.w_q(x), self.w_k(source), self.w_v(source))
            + q, k, v = (y.view(B, T, self.num_heads, D // self.num_heads).transpose(1, 2) for y in parts)
        """


class truth_of_context:
    """your module asks whether the context is true: ask whether it is None

    Fails: test_context
    """

    class MultiHeadAttention:
        forward = """
            - source = x if context is None else context
            + source = context or x
        """
