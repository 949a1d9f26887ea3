"""What dropout gets wrong.

In train mode it takes each sublayer's output, before that is added: the stream itself is never dropped.
"""


class dropout_missing_after_attention:
    """your attention is added without dropout

    Fails: test_dropout_of_sublayers
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.attention(self.norm1(x), mask))
            + x = x + self.attention(self.norm1(x), mask)

            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            + x = self.norm1(x + self.attention(x, mask))
        """


class dropout_missing_after_feed_forward:
    """your feed-forward network is added without dropout: what FeedForward drops is inside it

    Fails: test_dropout_of_sublayers
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + x = x + self.feed_forward(self.norm2(x))

            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.norm2(x + self.feed_forward(x))
        """


class dropout_missing:
    """your sublayers are added without dropout, both of them: what FeedForward drops is inside it

    Fails: test_dropout_of_sublayers
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.attention(self.norm1(x), mask)
                x = x + self.feed_forward(self.norm2(x))
            else:
                x = self.norm1(x + self.attention(x, mask))
                x = self.norm2(x + self.feed_forward(x))
            return x


class dropout_on_inputs:
    """your dropout takes what goes into a sublayer, not what comes out of it

    Fails: test_dropout_of_sublayers
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.attention(self.dropout(self.norm1(x)), mask)
                x = x + self.feed_forward(self.dropout(self.norm2(x)))
            else:
                x = self.norm1(x + self.attention(self.dropout(x), mask))
                x = self.norm2(x + self.feed_forward(self.dropout(x)))
            return x


class dropout_after_add:
    """your dropout takes the sum: it has to take what is added, or x is lost with it

    Fails: test_dropout_of_sublayers
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = self.dropout(x + self.attention(self.norm1(x), mask))
                x = self.dropout(x + self.feed_forward(self.norm2(x)))
            else:
                x = self.norm1(self.dropout(x + self.attention(x, mask)))
                x = self.norm2(self.dropout(x + self.feed_forward(x)))
            return x


class dropout_unscaled:
    """your dropout does not scale up what it keeps: divide by 1 - dropout, or use nn.Dropout

    Fails: test_dropout_rate
    """

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.rate = dropout
        """

        def dropout(self, x):
            return x * (torch.rand_like(x) >= self.rate) if self.training else x


class dropout_always_on:
    """your dropout drops after eval() too: F.dropout needs training=self.training

    Fails: test_eval
    """

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.rate = dropout
        """

        def dropout(self, x):
            return nn.functional.dropout(x, self.rate)


class dropout_after_norm:
    """your post-norm drops the normalised sum: only what is added is dropped, before it is added

    Fails: test_dropout_of_sublayers
    """

    class EncoderLayer:
        forward = """
            - x = self.norm1(x + self.dropout(self.attention(x, mask)))
            - x = self.norm2(x + self.dropout(self.feed_forward(x)))
            + x = self.dropout(self.norm1(x + self.attention(x, mask)))
            + x = self.dropout(self.norm2(x + self.feed_forward(x)))
        """


class dropout_fixed:
    """your dropout has a share of its own: it is the layer's argument that says how much

    Fails: test_dropout_of_sublayers, test_eval
    Costs: a layer of no dropout drops all the same, so hardly a value can be compared
    """

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout(0.1)
        """


class dropout_default:
    """your dropout drops the half of what it takes: nn.Dropout() without the share that was asked for

    Fails: test_dropout_of_sublayers, test_eval
    Costs: a layer of no dropout drops all the same, so hardly a value can be compared
    """

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout()
        """
