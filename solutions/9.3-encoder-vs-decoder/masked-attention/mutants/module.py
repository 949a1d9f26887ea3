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
