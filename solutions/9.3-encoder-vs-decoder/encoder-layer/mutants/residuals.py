"""What the residual connections get wrong.

Attention first, then the feed-forward network, and each adds its result to the stream x that goes by.
"""


class attention_not_added:
    """your attention replaces x instead of being added to it

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            + x = self.dropout(self.attention(self.norm1(x), mask))

            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            + x = self.norm1(self.dropout(self.attention(x, mask)))
        """


class feed_forward_not_added:
    """your feed-forward network replaces x instead of being added to it

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = self.dropout(self.feed_forward(self.norm2(x)))

            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.norm2(self.dropout(self.feed_forward(x)))
        """


class feed_forward_first:
    """your feed-forward network runs before attention

    Fails: test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.feed_forward(self.norm2(x)))
                x = x + self.dropout(self.attention(self.norm1(x), mask))
            else:
                x = self.norm2(x + self.dropout(self.feed_forward(x)))
                x = self.norm1(x + self.dropout(self.attention(x, mask)))
            return x


class residual_from_input:
    """your second residual adds the x that came in: what attention had added is lost

    Fails: test_attention_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                y = x + self.dropout(self.attention(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(y)))
            y = self.norm1(x + self.dropout(self.attention(x, mask)))
            return self.norm2(x + self.dropout(self.feed_forward(y)))


class sublayers_parallel:
    """your feed-forward network reads the x that came in, not what attention made of it

    Fails: test_pre_norm
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + attended = self.dropout(self.attention(self.norm1(x), mask))
            + x = x + attended + self.dropout(self.feed_forward(self.norm2(x)))
        """


class added_in_place:
    """your layer adds into the x that it was given: x += y writes into it, x = x + y does not

    Fails: test_layer_promises, test_pre_norm_gradients
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x += self.dropout(self.attention(self.norm1(x), mask))
            + x += self.dropout(self.feed_forward(self.norm2(x)))
        """


class stream_detached:
    """your residual is detached: no gradient goes past the sublayers

    Fails: test_pre_norm_gradients
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = x.detach() + self.dropout(self.attention(self.norm1(x), mask))
            + x = x.detach() + self.dropout(self.feed_forward(self.norm2(x)))
        """


class post_norm_detached:
    """your post-norm branch detaches x before it adds it: the gradient has only the way through attention

    Fails: test_post_norm_gradients
    """

    class EncoderLayer:
        forward = """
            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            + x = self.norm1(x.detach() + self.dropout(self.attention(x, mask)))
        """


class learned_scale:
    """your residual has a learned scale: a layer has the parameters of its parts and no others

    Fails: test_parameters
    """

    class EncoderLayer:
        __init__ = """
              self.dropout = nn.Dropout(dropout)
            + self.scale = nn.Parameter(torch.ones(()))
        """

        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = x + self.scale * self.dropout(self.attention(self.norm1(x), mask))
            + x = x + self.scale * self.dropout(self.feed_forward(self.norm2(x)))

            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.norm1(x + self.scale * self.dropout(self.attention(x, mask)))
            + x = self.norm2(x + self.scale * self.dropout(self.feed_forward(x)))
        """


class output_float32:
    """your layer returns float32 whatever the dtype of x is

    Fails: test_layer_promises
    """

    class EncoderLayer:
        forward = """
            - return x
            + return x.float()
        """


class tuple_returned:
    """your layer returns a tuple: its output alone is asked for

    Fails: test_layer_shapes
    Costs: no call of a layer returns a tensor, so no value can be compared
    """

    class EncoderLayer:
        forward = """
            - return x
            + return x, mask
        """

    class Encoder:
        forward = """
            - x = layer(x, mask)
            + x, _ = layer(x, mask)
        """


class no_residuals:
    """your sublayers replace x, both of them: each has to be added to it

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = self.dropout(self.attention(self.norm1(x), mask))
                x = self.dropout(self.feed_forward(self.norm2(x)))
            else:
                x = self.norm1(self.dropout(self.attention(x, mask)))
                x = self.norm2(self.dropout(self.feed_forward(x)))
            return x


class residual_twice:
    """your residual is added twice: what a sublayer reads is added to its output once more

    Fails: test_attention_sublayer, test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                h = self.norm1(x)
                x = x + h + self.dropout(self.attention(h, mask))
                h = self.norm2(x)
                x = x + h + self.dropout(self.feed_forward(h))
            else:
                x = self.norm1(x + x + self.dropout(self.attention(x, mask)))
                x = self.norm2(x + x + self.dropout(self.feed_forward(x)))
            return x


class nothing_returned:
    """your layer's forward ends without a return, so it gives None

    Fails: test_layer_shapes
    Costs: no call of a layer returns a tensor, so no value can be compared
    """

    class EncoderLayer:
        forward = """
            - return x
        """


class post_norm_returns_nothing:
    """your layer's post-norm branch ends without a return, so it gives None

    Fails: test_layer_shapes, test_post_norm
    Costs: no value comes out of a post-norm layer, which most checks build
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + return x + self.dropout(self.feed_forward(self.norm2(x)))

            - return x
        """
