"""What the residual connections get wrong.

Attention first, then the feed-forward network, and each adds its result to the stream x that goes by.
"""

mistake(
    "attention-not-added",
    "your attention replaces x; it should be added to x",
    EncoderLayer="""
        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        + x = self.dropout(self.attention(self.norm1(x), mask))

        - x = self.norm1(x + self.dropout(self.attention(x, mask)))
        + x = self.norm1(self.dropout(self.attention(x, mask)))
    """,
)

mistake(
    "feed-forward-not-added",
    "your feed-forward network replaces x; it should be added to x",
    EncoderLayer="""
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + x = self.dropout(self.feed_forward(self.norm2(x)))

        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = self.norm2(self.dropout(self.feed_forward(x)))
    """,
)


@mistake("feed-forward-first", "your feed-forward network runs before attention; it should run after attention")
class EncoderLayer:
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
            x = x + self.dropout(self.attention(self.norm1(x), mask))
        else:
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return x


@mistake(
    "residual-from-input",
    "your second residual adds the layer's input, so what attention added is lost; "
    "add the result of the first residual",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        if self.norm_first:
            y = x + self.dropout(self.attention(self.norm1(x), mask))
            return x + self.dropout(self.feed_forward(self.norm2(y)))
        y = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.feed_forward(y)))


mistake(
    "sublayers-parallel",
    "your feed-forward network reads the x that came in; it should read the sum with attention's output",
    EncoderLayer="""
        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + attended = self.dropout(self.attention(self.norm1(x), mask))
        + x = x + attended + self.dropout(self.feed_forward(self.norm2(x)))
    """,
)

mistake(
    "added-in-place",
    "your layer writes into the x that it was given, by x += y; make a new tensor with x = x + y",
    EncoderLayer="""
        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + x += self.dropout(self.attention(self.norm1(x), mask))
        + x += self.dropout(self.feed_forward(self.norm2(x)))
    """,
)

mistake(
    "stream-detached",
    "your residual is detached, so gradients have only the way through the sublayers; let them go through x as well",
    EncoderLayer="""
        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + x = x.detach() + self.dropout(self.attention(self.norm1(x), mask))
        + x = x.detach() + self.dropout(self.feed_forward(self.norm2(x)))
    """,
)

mistake(
    "post-norm-detached",
    "your post-norm branch detaches x before it adds it; gradients should go through x as well as through attention",
    EncoderLayer="""
        - x = self.norm1(x + self.dropout(self.attention(x, mask)))
        + x = self.norm1(x.detach() + self.dropout(self.attention(x, mask)))
    """,
)

mistake(
    "learned-scale",
    "your residual has a learned scale; a layer should have the parameters of its parts and no others",
    EncoderLayer="""
          self.dropout = nn.Dropout(dropout)
        + self.scale = nn.Parameter(torch.ones(()))

        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + x = x + self.scale * self.dropout(self.attention(self.norm1(x), mask))
        + x = x + self.scale * self.dropout(self.feed_forward(self.norm2(x)))

        - x = self.norm1(x + self.dropout(self.attention(x, mask)))
        - x = self.norm2(x + self.dropout(self.feed_forward(x)))
        + x = self.norm1(x + self.scale * self.dropout(self.attention(x, mask)))
        + x = self.norm2(x + self.scale * self.dropout(self.feed_forward(x)))
    """,
)

mistake(
    "output-float32",
    "your layer returns float32 whatever the dtype of x is; it should keep the dtype of x",
    EncoderLayer="return x -> return x.float()",
)

mistake(
    "tuple-returned",
    "your layer returns a tuple; it should return only its output",
    EncoderLayer="return x -> return x, mask",
    Encoder="x = layer(x, mask) -> x, _ = layer(x, mask)",
    costs="no call of a layer returns a tensor, so no value can be compared",
)


@mistake("no-residuals", "your sublayers both replace x; add their outputs to it")
class EncoderLayer:
    def forward(self, x, mask=None):
        if self.norm_first:
            x = self.dropout(self.attention(self.norm1(x), mask))
            x = self.dropout(self.feed_forward(self.norm2(x)))
        else:
            x = self.norm1(self.dropout(self.attention(x, mask)))
            x = self.norm2(self.dropout(self.feed_forward(x)))
        return x


@mistake(
    "residual-twice",
    "your residual is added twice; add only the sublayer's output to x, not its input once more",
)
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


mistake(
    "nothing-returned",
    "your layer's forward ends without a return, so it gives None; return what the last step computed",
    EncoderLayer="- return x",
    costs="no call of a layer returns a tensor, so no value can be compared",
)

mistake(
    "post-norm-returns-nothing",
    "your layer's post-norm branch ends without a return, so it gives None; return the result of both branches",
    EncoderLayer="""
        - x = x + self.dropout(self.feed_forward(self.norm2(x)))
        + return x + self.dropout(self.feed_forward(self.norm2(x)))

        - return x
    """,
    costs="no value comes out of a post-norm layer, which most checks build",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
