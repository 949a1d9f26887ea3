"""Where norms stand wrongly.

Pre-norm normalises what goes into a sublayer and leaves the stream alone; post-norm normalises each sum.
"""


@mistake(
    "pre-norm-always",
    "your layer normalises before each sublayer even when norm_first is False; it should then normalise each sum",
    EncoderLayer="- self.norm_first = norm_first",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.norm1(x), mask))
        x = x + self.dropout(self.feed_forward(self.norm2(x)))
        return x


@mistake(
    "post-norm-always",
    "your layer normalises after each sum even when norm_first is True; it should then normalise before each sublayer",
    EncoderLayer="- self.norm_first = norm_first",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        x = self.norm2(x + self.dropout(self.feed_forward(x)))
        return x


mistake(
    "stream-normalised",
    "your pre-norm layer adds a sublayer's output to the normalised x; it should add it to x as it was before the norm",
    EncoderLayer="""
        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + x = self.norm1(x)
        + x = x + self.dropout(self.attention(x, mask))
        + x = self.norm2(x)
        + x = x + self.dropout(self.feed_forward(x))
    """,
)

mistake(
    "attention-stream-normalised",
    "your pre-norm layer adds attention to norm1(x); it should add it to x itself",
    EncoderLayer="""
        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        + x = self.norm1(x)
        + x = x + self.dropout(self.attention(x, mask))
    """,
)

mistake(
    "norm-on-both-sides",
    "your post-norm layer still normalises the inputs of its sublayers; it should normalise only the sums",
    EncoderLayer=[
        "self.attention(x, mask) -> self.attention(self.norm1(x), mask)",
        "self.feed_forward(x) -> self.feed_forward(self.norm2(x))",
    ],
)

mistake(
    "post-norm-inside",
    "your post-norm takes only the sublayer's output and adds x afterwards; it should take the sum",
    EncoderLayer="""
        - x = self.norm1(x + self.dropout(self.attention(x, mask)))
        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = x + self.norm1(self.dropout(self.attention(x, mask)))
        + x = x + self.norm2(self.dropout(self.feed_forward(x)))
    """,
)


@mistake(
    "norms-swapped",
    "your norms are swapped; norm1 should go with attention, norm2 with the feed-forward network",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm2(x), mask))
            x = x + self.dropout(self.feed_forward(self.norm1(x)))
        else:
            x = self.norm2(x + self.dropout(self.attention(x, mask)))
            x = self.norm1(x + self.dropout(self.feed_forward(x)))
        return x


mistake(
    "norm1-twice",
    "your layer uses norm1 at both places; it should use norm2 for the feed-forward network",
    EncoderLayer="""
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + x = x + self.dropout(self.feed_forward(self.norm1(x)))

        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = self.norm1(x + self.dropout(self.feed_forward(x)))
    """,
)

mistake(
    "norm1-for-both-sums",
    "your post-norm layer uses norm1 for both sums, so norm2 does nothing; it should use norm2 for the second sum",
    EncoderLayer="""
        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = self.norm1(x + self.dropout(self.feed_forward(x)))
    """,
)

mistake(
    "one-norm",
    "your layer has a single norm for both places, norm1; it should have norm2 for the feed-forward network",
    EncoderLayer="""
        - self.norm2 = LayerNorm(d_model)

        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + x = x + self.dropout(self.feed_forward(self.norm1(x)))

        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = self.norm1(x + self.dropout(self.feed_forward(x)))
    """,
    costs="no weights can be loaded into a norm that is not there, so no value can be compared",
)

mistake(
    "norm-first-inverted",
    "your layer is post-norm with norm_first=True, and pre-norm with False; exchange the two branches",
    EncoderLayer="if self.norm_first: -> if not self.norm_first:",
)

mistake(
    "keys-not-normalised",
    "your pre-norm layer normalises only its queries; keys and values should come from norm1(x), too",
    EncoderLayer="self.attention(self.norm1(x), mask) -> self.attention(self.norm1(x), mask, context=x)",
)

mistake(
    "second-pre-norm-missing",
    "your pre-norm feed-forward network reads the stream as it is; it should read norm2(x)",
    EncoderLayer="self.norm2(x) -> x",
)

mistake(
    "second-post-norm-missing",
    "your post-norm layer returns its second sum as it is; it should pass it through norm2",
    EncoderLayer="""
        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = x + self.dropout(self.feed_forward(x))
    """,
)

mistake(
    "norm-first-not-kept",
    "your forward reads self.norm_first, which __init__ has not set; write self.norm_first = norm_first there",
    EncoderLayer="- self.norm_first = norm_first",
    costs="no call of a layer returns anything, so no value can be compared",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
