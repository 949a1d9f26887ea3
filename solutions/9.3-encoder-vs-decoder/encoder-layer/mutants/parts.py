"""What the parts of a layer get wrong.

attention, feed_forward, norm1 and norm2 are the given blocks, made from the layer's own arguments.
"""

mistake(
    "attention-renamed",
    "your attention goes by another name; the parts should be called attention, feed_forward, norm1 and norm2",
    EncoderLayer="""
        - self.attention = MultiHeadAttention(d_model, num_heads)
        + self.self_attn = MultiHeadAttention(d_model, num_heads)

        - x = x + self.dropout(self.attention(self.norm1(x), mask))
        + x = x + self.dropout(self.self_attn(self.norm1(x), mask))

        - x = self.norm1(x + self.dropout(self.attention(x, mask)))
        + x = self.norm1(x + self.dropout(self.self_attn(x, mask)))
    """,
    costs="no weights can be loaded into a part of another name, so no value can be compared",
)

mistake(
    "attention-without-bias",
    "your attention has no biases; it should have the default, bias=True",
    EncoderLayer="d_model, num_heads -> d_model, num_heads, bias=False",
)

mistake(
    "activation-ignored",
    "your layer makes its feed-forward network without the activation, so it is always relu; pass activation to it",
    EncoderLayer="activation, dropout -> dropout=dropout",
)

mistake(
    "dropout-not-handed-on",
    "your FeedForward gets no dropout; it should get the dropout of the layer",
    EncoderLayer="activation, dropout -> activation",
)


@mistake(
    "torch-layer",
    "your layer is one of torch's own Transformer layers in disguise; build it from the parts in blocks",
    EncoderLayer="""
        - super().__init__()
        - self.norm_first = norm_first
        + super().__init__(d_model, num_heads, d_ff, dropout, norm_first=norm_first, batch_first=True)
        + for name in [name for name, _ in self.named_children()]:
        +     delattr(self, name)
    """,
    costs="all of it rests on what the kata excludes",
)
class EncoderLayer(nn.TransformerEncoderLayer):
    pass


mistake(
    "mask-dropped",
    "your layer runs its attention without the mask; it should pass the mask to its attention",
    EncoderLayer=[
        "self.norm1(x), mask -> self.norm1(x)",
        "self.attention(x, mask) -> self.attention(x)",
    ],
)

mistake(
    "mask-dropped-post-norm",
    "your post-norm branch forgets the mask; it should pass it to attention, as the pre-norm branch does",
    EncoderLayer="self.attention(x, mask) -> self.attention(x)",
)

mistake(
    "mask-inverted",
    "your layer inverts the mask; True should mean that the query may look",
    EncoderLayer="""
        + mask = None if mask is None else ~mask
          if self.norm_first:
    """,
)


@mistake(
    "parts-renamed",
    "your layer's parts go by other names; they should be called attention, feed_forward, norm1 and norm2",
    costs="no weights can be loaded into parts of other names, so no value can be compared",
)
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


mistake(
    "super-forgotten",
    "your layer assigns its parts before super().__init__() has made it a module; call super().__init__() first",
    EncoderLayer="- super().__init__()",
    costs="no layer can be built, so nothing can be looked at",
)


@mistake(
    "attention-called-with-qkv",
    "your layer calls attention with query, key and value; give it x and the mask, as it projects x itself",
    costs="no call of a layer returns anything, so no value can be compared",
)
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


mistake(
    "attention-indexed",
    "your layer takes [0] of attention's output, which is its first sequence; use the tensor as it is",
    EncoderLayer=[
        "self.attention(self.norm1(x), mask) -> self.attention(self.norm1(x), mask)[0]",
        "self.attention(x, mask) -> self.attention(x, mask)[0]",
    ],
)


@mistake(
    "attention-unpacked",
    "your layer unpacks attention's output, which is one tensor, not a pair with weights; use it as it is",
    costs="hardly a call of a layer returns anything",
)
class EncoderLayer:
    def forward(self, x, mask=None):
        attended, _ = self.attention(self.norm1(x) if self.norm_first else x, mask)
        x = x + self.dropout(attended)
        if self.norm_first:
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        x = self.norm1(x)
        return self.norm2(x + self.dropout(self.feed_forward(x)))


mistake(
    "mask-to-feed-forward",
    "your layer gives the mask to the feed-forward network, too; only attention should get it",
    EncoderLayer=[
        "self.norm2(x) -> self.norm2(x), mask",
        "self.feed_forward(x) -> self.feed_forward(x, mask)",
    ],
    costs="no call of a layer returns anything, so no value can be compared",
)

mistake(
    "mask-as-float",
    "your layer turns the boolean mask into numbers, which are added to the scores; pass it on as it is",
    EncoderLayer="""
        + mask = None if mask is None else mask.to(x.dtype)
          if self.norm_first:
    """,
)

mistake(
    "mask-unsqueezed",
    "your layer gives every mask more axes, though it may have four already; pass it on as it is",
    EncoderLayer="""
        + mask = None if mask is None else mask.unsqueeze(1).unsqueeze(1)
          if self.norm_first:
    """,
)


@mistake(
    "mask-required",
    "your layer cannot be called without a mask; give it the default None",
    costs="hardly a call of a layer returns anything",
)
class EncoderLayer:
    def forward(self, x, mask):
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm1(x), mask))
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
        return x


mistake(
    "feed-forward-options-swapped",
    "your layer gives FeedForward dropout in the place of activation; pass each to the argument of its name",
    EncoderLayer="activation, dropout -> dropout, activation",
    costs="no layer can be built, so nothing can be looked at",
)

mistake(
    "feed-forward-widths-swapped",
    "your layer gives FeedForward its widths in the wrong order; pass d_model first, then d_ff",
    EncoderLayer="d_model, d_ff -> d_ff, d_model",
    costs="no call of a layer returns anything, so no value can be compared",
)

mistake(
    "d-ff-ignored",
    "your feed-forward network is four times as wide as the stream, whatever d_ff is; it should be d_ff wide inside",
    EncoderLayer="d_model, d_ff -> d_model, 4 * d_model",
    costs="no weights can be loaded into a network of another width, so no value can be compared",
)

mistake(
    "activation-fixed",
    "your feed-forward network always has gelu, whatever activation says; use the one that activation names",
    EncoderLayer='d_ff, activation -> d_ff, "gelu"',
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
