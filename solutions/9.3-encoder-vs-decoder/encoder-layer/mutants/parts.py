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


class parts_renamed:
    """your layer's parts go by other names: they are attention, feed_forward, norm1 and norm2

    Fails: test_parts, test_parameters
    Costs: no weights can be loaded into parts of other names, so no value can be compared
    """

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.norm_first = norm_first
            self.ln_1 = LayerNorm(d_model)
            self.attn = MultiHeadAttention(d_model, num_heads)
            self.ln_2 = LayerNorm(d_model)
            self.mlp = FeedForward(d_model, d_ff, activation, dropout)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attn(self.ln_1(x), mask))
                return x + self.dropout(self.mlp(self.ln_2(x)))
            x = self.ln_1(x + self.dropout(self.attn(x, mask)))
            return self.ln_2(x + self.dropout(self.mlp(x)))


class super_forgotten:
    """your layer assigns its parts before super().__init__() has made it a module

    Fails: test_layer_shapes
    Costs: no layer can be built, so nothing can be looked at
    """

    class EncoderLayer:
        __init__ = """
            - super().__init__()
        """


class attention_called_with_qkv:
    """your layer calls attention with query, key and value: it takes x and the mask, and projects x itself

    Fails: test_layer_shapes
    Costs: no call of a layer returns anything, so no value can be compared
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                h = self.norm1(x)
                x = x + self.dropout(self.attention(h, h, h, mask))
                x = x + self.dropout(self.feed_forward(self.norm2(x)))
            else:
                x = self.norm1(x + self.dropout(self.attention(x, x, x, mask)))
                x = self.norm2(x + self.dropout(self.feed_forward(x)))
            return x


class attention_indexed:
    """your layer takes [0] of attention's output: it is a tensor alone, and that is its first sequence

    Fails: test_attention_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            + x = x + self.dropout(self.attention(self.norm1(x), mask)[0])

            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            + x = self.norm1(x + self.dropout(self.attention(x, mask)[0]))
        """


class attention_unpacked:
    """your layer unpacks attention's output: it is a tensor alone, no pair with weights

    Fails: test_layer_shapes
    Costs: hardly a call of a layer returns anything
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            attended, _ = self.attention(self.norm1(x) if self.norm_first else x, mask)
            x = x + self.dropout(attended)
            if self.norm_first:
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x)
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class mask_to_feed_forward:
    """your layer gives the mask to the feed-forward network, too: only attention takes it

    Fails: test_layer_shapes
    Costs: no call of a layer returns anything, so no value can be compared
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = x + self.dropout(self.feed_forward(self.norm2(x), mask))

            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.norm2(x + self.dropout(self.feed_forward(x, mask)))
        """


class mask_as_float:
    """your layer turns the boolean mask into numbers, which are added to the scores: hand it on as it is

    Fails: test_masks, test_mask_shapes, test_causality, test_padding
    """

    class EncoderLayer:
        forward = """
            + mask = None if mask is None else mask.to(x.dtype)
              if self.norm_first:
        """


class mask_unsqueezed:
    """your layer gives every mask more axes: it may have four already, and is to be handed on as it is

    Fails: test_masks, test_mask_shapes
    """

    class EncoderLayer:
        forward = """
            + mask = None if mask is None else mask.unsqueeze(1).unsqueeze(1)
              if self.norm_first:
        """


class mask_required:
    """your layer cannot be called without a mask: give it the default None

    Fails: test_layer_shapes
    Costs: hardly a call of a layer returns anything
    """

    class EncoderLayer:
        def forward(self, x, mask):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask))
                x = x + self.dropout(self.feed_forward(self.norm2(x)))
            else:
                x = self.norm1(x + self.dropout(self.attention(x, mask)))
                x = self.norm2(x + self.dropout(self.feed_forward(x)))
            return x


class feed_forward_options_swapped:
    """your layer gives FeedForward its dropout in the place of the activation

    Fails: test_layer_shapes
    Costs: no layer can be built, so nothing can be looked at
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        """


class feed_forward_widths_swapped:
    """your layer gives FeedForward its widths in the wrong order: d_model first, then d_ff

    Fails: test_layer_shapes, test_parts
    Costs: no call of a layer returns anything, so no value can be compared
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_ff, d_model, activation, dropout)
        """


class d_ff_ignored:
    """your feed-forward network is four times as wide as the stream, whatever d_ff is

    Fails: test_parts
    Costs: no weights can be loaded into a network of another width, so no value can be compared
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, 4 * d_model, activation, dropout)
        """


class activation_fixed:
    """your feed-forward network always has gelu, whatever the activation asked for

    Fails: test_activations, test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, "gelu", dropout)
        """
