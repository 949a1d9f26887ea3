"""What the parts of a layer get wrong.

attention, feed_forward, norm1 and norm2 are the given blocks, made from the layer's own arguments.
"""


class attention_renamed:
    """your attention goes by another name: the parts are attention, feed_forward, norm1 and norm2

    Fails: test_parts, test_parameters
    Costs: no weights can be loaded into a part of another name, so no value can be compared
    """

    class EncoderLayer:
        __init__ = """
            - self.attention = MultiHeadAttention(d_model, num_heads)
            + self.self_attn = MultiHeadAttention(d_model, num_heads)
        """

        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            + x = x + self.dropout(self.self_attn(self.norm1(x), mask))

            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            + x = self.norm1(x + self.dropout(self.self_attn(x, mask)))
        """


class attention_without_bias:
    """your attention has no biases: bias is True unless asked otherwise

    Fails: test_parameters
    """

    class EncoderLayer:
        __init__ = """
            - self.attention = MultiHeadAttention(d_model, num_heads)
            + self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        """


class activation_ignored:
    """your layer makes its feed-forward network without the activation: it is always relu

    Fails: test_activations
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        """


class dropout_not_handed_on:
    """your FeedForward gets no dropout

    Fails: test_dropout_in_feed_forward
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, activation)
        """


class torch_layer:
    """your layer is one of torch's own Transformer layers in disguise

    Fails: test_from_scratch
    Costs: all of it rests on what the kata excludes
    """

    class EncoderLayer(nn.TransformerEncoderLayer):
        __init__ = """
            - super().__init__()
            - self.norm_first = norm_first
            + super().__init__(d_model, num_heads, d_ff, dropout, norm_first=norm_first, batch_first=True)
            + for name in [name for name, _ in self.named_children()]:
            +     delattr(self, name)
        """


class mask_dropped:
    """your layer runs its attention without the mask

    Fails: test_masks, test_mask_shapes, test_causality, test_padding
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            + x = x + self.dropout(self.attention(self.norm1(x)))

            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            + x = self.norm1(x + self.dropout(self.attention(x)))
        """


class mask_dropped_post_norm:
    """your post-norm branch forgets the mask, which only the pre-norm branch hands on

    Fails: test_masks
    """

    class EncoderLayer:
        forward = """
            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            + x = self.norm1(x + self.dropout(self.attention(x)))
        """


class mask_inverted:
    """your layer inverts the mask: True means that the query may look

    Fails: test_masks, test_mask_shapes, test_causality
    """

    class EncoderLayer:
        forward = """
            + mask = None if mask is None else ~mask
              if self.norm_first:
        """
