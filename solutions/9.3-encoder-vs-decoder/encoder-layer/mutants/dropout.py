"""What dropout gets wrong.

In train mode it takes each sublayer's output, before that is added: the stream itself is never dropped.
"""

mistake(
    "dropout-missing-after-attention",
    "your attention is added without dropout; its output should go through dropout before it is added",
    EncoderLayer=[
        "self.dropout(self.attention(self.norm1(x), mask)) -> self.attention(self.norm1(x), mask)",
        "self.dropout(self.attention(x, mask)) -> self.attention(x, mask)",
    ],
)

mistake(
    "dropout-missing-after-feed-forward",
    "your feed-forward network is added without dropout; drop its output, too, not only inside FeedForward",
    EncoderLayer=[
        "self.dropout(self.feed_forward(self.norm2(x))) -> self.feed_forward(self.norm2(x))",
        "self.dropout(self.feed_forward(x)) -> self.feed_forward(x)",
    ],
)


@mistake(
    "dropout-missing",
    "your sublayers are both added without dropout; drop their outputs, too, not only inside FeedForward",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attention(self.norm1(x), mask)
            x = x + self.feed_forward(self.norm2(x))
        else:
            x = self.norm1(x + self.attention(x, mask))
            x = self.norm2(x + self.feed_forward(x))
        return x


@mistake(
    "dropout-on-inputs",
    "your dropout acts on the input of a sublayer; it should act on the sublayer's output, before that is added",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attention(self.dropout(self.norm1(x)), mask)
            x = x + self.feed_forward(self.dropout(self.norm2(x)))
        else:
            x = self.norm1(x + self.attention(self.dropout(x), mask))
            x = self.norm2(x + self.feed_forward(self.dropout(x)))
        return x


@mistake(
    "dropout-after-add",
    "your dropout acts on the sum, so x is lost with it; it should act only on what is added",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        if self.norm_first:
            x = self.dropout(x + self.attention(self.norm1(x), mask))
            x = self.dropout(x + self.feed_forward(self.norm2(x)))
        else:
            x = self.norm1(self.dropout(x + self.attention(x, mask)))
            x = self.norm2(self.dropout(x + self.feed_forward(x)))
        return x


@mistake(
    "dropout-unscaled",
    "your dropout does not scale up the numbers that it keeps; divide by 1 - dropout, or use nn.Dropout",
    EncoderLayer="self.dropout = nn.Dropout(dropout) -> self.rate = dropout",
)
class EncoderLayer:
    def dropout(self, x):
        return x * (torch.rand_like(x) >= self.rate) if self.training else x


@mistake(
    "dropout-always-on",
    "your dropout drops after eval() too; pass F.dropout training=self.training",
    EncoderLayer="self.dropout = nn.Dropout(dropout) -> self.rate = dropout",
)
class EncoderLayer:
    def dropout(self, x):
        return nn.functional.dropout(x, self.rate)


mistake(
    "dropout-after-norm",
    "your post-norm drops the normalised sum; drop only the sublayer's output, before it is added",
    EncoderLayer="""
        - x = self.norm1(x + self.dropout(self.attention(x, mask)))
        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = self.dropout(self.norm1(x + self.attention(x, mask)))
        + x = self.dropout(self.norm2(x + self.feed_forward(x)))
    """,
)

mistake(
    "dropout-fixed",
    "your dropout has a share of its own; it should use the layer's argument",
    EncoderLayer="nn.Dropout(dropout) -> nn.Dropout(0.1)",
    costs="a layer of no dropout drops all the same, so hardly a value can be compared",
)

mistake(
    "dropout-default",
    "your dropout drops half of its input, as nn.Dropout() does by default; pass it the layer's dropout",
    EncoderLayer="nn.Dropout(dropout) -> nn.Dropout()",
    costs="a layer of no dropout drops all the same, so hardly a value can be compared",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
