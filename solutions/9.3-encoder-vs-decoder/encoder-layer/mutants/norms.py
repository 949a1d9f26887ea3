"""Where norms stand wrongly.

Pre-norm normalises what goes into a sublayer and leaves the stream alone; post-norm normalises each sum.
"""


class pre_norm_always:
    """your layer normalises before each sublayer even when norm_first is False

    Fails: test_post_norm
    """

    class EncoderLayer:
        __init__ = """
            - self.norm_first = norm_first
        """

        def forward(self, x, mask=None):
            x = x + self.dropout(self.attention(self.norm1(x), mask))
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
            return x


class post_norm_always:
    """your layer normalises after each sum even when norm_first is True

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm
    """

    class EncoderLayer:
        __init__ = """
            - self.norm_first = norm_first
        """

        def forward(self, x, mask=None):
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
            return x


class stream_normalised:
    """your pre-norm layer adds to the normalised x: only what goes into a sublayer is normalised

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = self.norm1(x)
            + x = x + self.dropout(self.attention(x, mask))
            + x = self.norm2(x)
            + x = x + self.dropout(self.feed_forward(x))
        """


class attention_stream_normalised:
    """your pre-norm layer adds attention to norm1(x): x itself is what it is added to

    Fails: test_attention_sublayer, test_pre_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            + x = self.norm1(x)
            + x = x + self.dropout(self.attention(x, mask))
        """


class norm_on_both_sides:
    """your post-norm layer still normalises what goes into its sublayers

    Fails: test_post_norm
    """

    class EncoderLayer:
        forward = """
            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.norm1(x + self.dropout(self.attention(self.norm1(x), mask)))
            + x = self.norm2(x + self.dropout(self.feed_forward(self.norm2(x))))
        """


class post_norm_inside:
    """your post-norm takes the sublayer alone and adds x afterwards: the sum is what it takes

    Fails: test_post_norm
    """

    class EncoderLayer:
        forward = """
            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = x + self.norm1(self.dropout(self.attention(x, mask)))
            + x = x + self.norm2(self.dropout(self.feed_forward(x)))
        """


class norms_swapped:
    """your norms are swapped: norm1 goes with attention, norm2 with the feed-forward network

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm2(x), mask))
                x = x + self.dropout(self.feed_forward(self.norm1(x)))
            else:
                x = self.norm2(x + self.dropout(self.attention(x, mask)))
                x = self.norm1(x + self.dropout(self.feed_forward(x)))
            return x


class norm1_twice:
    """your layer uses norm1 at both places

    Fails: test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = x + self.dropout(self.feed_forward(self.norm1(x)))

            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.norm1(x + self.dropout(self.feed_forward(x)))
        """


class one_norm:
    """your layer has a single norm for both places, norm1

    Fails: test_parts, test_parameters
    Costs: no weights can be loaded into a norm that is not there, so no value can be compared
    """

    class EncoderLayer:
        __init__ = """
            - self.norm2 = LayerNorm(d_model)
        """

        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = x + self.dropout(self.feed_forward(self.norm1(x)))

            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.norm1(x + self.dropout(self.feed_forward(x)))
        """


class norm_first_inverted:
    """your two orders are exchanged: norm_first=True means that the norm comes before each sublayer

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        forward = """
            - if self.norm_first:
            + if not self.norm_first:
        """


class keys_not_normalised:
    """your pre-norm layer normalises its queries alone: keys and values come from norm1(x), too

    Fails: test_attention_sublayer, test_pre_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            + x = x + self.dropout(self.attention(self.norm1(x), mask, context=x))
        """


class second_pre_norm_missing:
    """your pre-norm feed-forward network reads the stream as it is: norm2 comes before it

    Fails: test_feed_forward_sublayer, test_pre_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = x + self.dropout(self.feed_forward(x))
        """


class second_post_norm_missing:
    """your post-norm layer returns its second sum as it is: norm2 takes it

    Fails: test_post_norm
    """

    class EncoderLayer:
        forward = """
            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = x + self.dropout(self.feed_forward(x))
        """


class norm_first_not_kept:
    """your forward asks for self.norm_first, which __init__ has not kept: self.norm_first = norm_first

    Fails: test_layer_shapes
    Costs: no call of a layer returns anything, so no value can be compared
    """

    class EncoderLayer:
        __init__ = """
            - self.norm_first = norm_first
        """
