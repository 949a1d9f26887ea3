"""Where norms, sums and dropout stand wrongly.

Pre-norm normalises what goes into a sublayer, post-norm each sum; every sublayer's output is dropped from, then added.
"""

mistake(
    "pre-norm-always",
    "your layer normalises before each sublayer even when norm_first is False; it should then normalise each sum",
    DecoderLayer="if self.norm_first: -> if True:",
)

mistake(
    "norm-first-inverted",
    "your layer is post-norm with norm_first=True, and pre-norm with False; exchange the two branches",
    DecoderLayer="if self.norm_first: -> if not self.norm_first:",
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "norm2-twice",
    "your feed-forward network uses the norm of the cross-attention; it should use its own, norm3",
    DecoderLayer="""
        - x = x + self.dropout(self.feed_forward(self.norm3(x)))
        + x = x + self.dropout(self.feed_forward(self.norm2(x)))

        - x = self.norm3(x + self.dropout(self.feed_forward(x)))
        + x = self.norm2(x + self.dropout(self.feed_forward(x)))
    """,
)

mistake(
    "norm1-twice",
    "your cross-attention uses the norm of the self-attention; it should use its own, norm2",
    DecoderLayer="""
        - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
        + x = x + self.dropout(self.cross_attention(self.norm1(x), memory_mask, memory))

        - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        + x = self.norm1(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
    """,
)

mistake(
    "norm1-everywhere",
    "your three sublayers all use norm1; each should have a norm of its own, norm2 and norm3 for the others",
    DecoderLayer="""
        - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
        - x = x + self.dropout(self.feed_forward(self.norm3(x)))
        + x = x + self.dropout(self.cross_attention(self.norm1(x), memory_mask, memory))
        + x = x + self.dropout(self.feed_forward(self.norm1(x)))

        - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        - x = self.norm3(x + self.dropout(self.feed_forward(x)))
        + x = self.norm1(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        + x = self.norm1(x + self.dropout(self.feed_forward(x)))
    """,
)

mistake(
    "norm1-for-all-sums",
    "your post-norm layer uses norm1 for all three sums; it should use norm2 for the second and norm3 for the third",
    DecoderLayer="""
        - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        - x = self.norm3(x + self.dropout(self.feed_forward(x)))
        + x = self.norm1(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        + x = self.norm1(x + self.dropout(self.feed_forward(x)))
    """,
)

mistake(
    "cross-norm-missing",
    "your pre-norm cross-attention makes its queries from the stream as it is; they should come from norm2(x)",
    DecoderLayer="self.norm2(x) -> x",
)

mistake(
    "stream-normalised",
    "your pre-norm layer adds a sublayer's output to the normalised x; it should add it to x as it was before the norm",
    DecoderLayer="""
        - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
        - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
        - x = x + self.dropout(self.feed_forward(self.norm3(x)))
        + x = self.norm1(x)
        + x = x + self.dropout(self.self_attention(x, self_mask))
        + x = self.norm2(x)
        + x = x + self.dropout(self.cross_attention(x, memory_mask, memory))
        + x = self.norm3(x)
        + x = x + self.dropout(self.feed_forward(x))
    """,
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "cross-not-added",
    "your cross-attention replaces the stream; add its output to x",
    DecoderLayer="""
        - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
        + x = self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))

        - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        + x = self.norm2(self.dropout(self.cross_attention(x, memory_mask, memory)))
    """,
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "self-not-added",
    "your self-attention replaces the stream; add its output to x",
    DecoderLayer="""
        - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
        + x = self.dropout(self.self_attention(self.norm1(x), self_mask))

        - x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
        + x = self.norm1(self.dropout(self.self_attention(x, self_mask)))
    """,
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "network-not-added",
    "your feed-forward network replaces the stream; add its output to x",
    DecoderLayer="""
        - x = x + self.dropout(self.feed_forward(self.norm3(x)))
        + x = self.dropout(self.feed_forward(self.norm3(x)))

        - x = self.norm3(x + self.dropout(self.feed_forward(x)))
        + x = self.norm3(self.dropout(self.feed_forward(x)))
    """,
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "dropout-missing-after-cross",
    "your cross-attention is added without dropout; its output should go through dropout before it is added",
    DecoderLayer="""
        - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
        + x = x + self.cross_attention(self.norm2(x), memory_mask, memory)

        - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        + x = self.norm2(x + self.cross_attention(x, memory_mask, memory))
    """,
)

mistake(
    "dropout-not-handed-on",
    "your FeedForward gets no dropout; pass it on as its fourth argument",
    DecoderLayer="activation, dropout -> activation",
)

mistake(
    "activation-not-handed-on",
    "your FeedForward gets no activation, so it always uses relu; pass the layer's activation on to it",
    DecoderLayer="activation, dropout -> dropout=dropout",
)

mistake(
    "drops-after-eval",
    "your dropout ignores eval(), as F.dropout does by default; pass it training=self.training",
    DecoderLayer="nn.Dropout(dropout) -> lambda y: nn.functional.dropout(y, dropout)",
)

mistake(
    "x-changed-in-place",
    "your layer writes its sums into the caller's x; make a new tensor with x = x + y, not x += y",
    DecoderLayer="""
        - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
        + y = self.dropout(self.self_attention(self.norm1(x), self_mask))
        + if x.requires_grad:
        +     x = x + y
        + else:
        +     x.data.add_(y.detach())
    """,
)

mistake(
    "last-norm-missing",
    "your pre-norm decoder ends without a norm; normalise the stream once after the last layer",
    Decoder="self.norm(x) -> x",
)

mistake(
    "last-norm-always",
    "your post-norm decoder has a last LayerNorm too; its norm should be nn.Identity",
    Decoder="LayerNorm(d_model) if norm_first else nn.Identity() -> LayerNorm(d_model)",
)

mistake(
    "layers-shared",
    "your layers are one layer, num_layers times, as [layer] * n makes no copies; make a new one each time",
    Decoder="""
        - DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
        + [DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)] * num_layers
    """,
)

mistake(
    "decoder-activation-dropped",
    "your decoder does not pass activation on, so its layers always use relu; give activation to each layer",
    Decoder="norm_first, activation -> norm_first",
)

mistake(
    "decoder-dropout-dropped",
    "your decoder does not pass dropout on, so its layers drop nothing; give dropout to each layer",
    Decoder="d_ff, dropout -> d_ff, 0.0",
)

mistake(
    "decoder-norm-first-dropped",
    "your decoder does not pass norm_first on, so its layers are always pre-norm; give norm_first to each layer",
    Decoder="dropout, norm_first -> dropout, True",
)

mistake(
    "bias-free",
    "your attentions have no biases; MultiHeadAttention(d_model, num_heads) should have its default ones",
    DecoderLayer="""
        - self.self_attention = MultiHeadAttention(d_model, num_heads)
        - self.cross_attention = MultiHeadAttention(d_model, num_heads)
        + self.self_attention = MultiHeadAttention(d_model, num_heads, bias=False)
        + self.cross_attention = MultiHeadAttention(d_model, num_heads, bias=False)
    """,
)

mistake(
    "post-norm-always",
    "your layer normalises each sum even when norm_first is True; it should then normalise what goes into a sublayer",
    DecoderLayer="if self.norm_first: -> if False:",
    costs="a whole layer is what is compared, in values, masks and gradients",
)


@mistake(
    "norms-on-both-sides",
    "your layer normalises a sublayer's input and its sum as well; it should do only what norm_first says",
    costs="a whole layer is what is compared, in values, masks and gradients",
)
class DecoderLayer:
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(x + self.dropout(self.self_attention(self.norm1(x), self_mask)))
        x = self.norm2(x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory)))
        return self.norm3(x + self.dropout(self.feed_forward(self.norm3(x))))


@mistake(
    "sums-from-the-beginning",
    "your sublayers are all added to the layer's input; each should be added to the sum that the one before has made",
    costs="a whole layer is what is compared, in values, masks and gradients",
)
class DecoderLayer:
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self.norm_first:
            y = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            y = x + self.dropout(self.cross_attention(self.norm2(y), memory_mask, memory))
            y = x + self.dropout(self.feed_forward(self.norm3(y)))
        else:
            y = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            y = self.norm2(x + self.dropout(self.cross_attention(y, memory_mask, memory)))
            y = self.norm3(x + self.dropout(self.feed_forward(y)))
        return y


mistake(
    "network-missing",
    "your layer has no feed-forward network in its forward; it should come third, with a norm of its own",
    DecoderLayer="""
        - x = x + self.dropout(self.feed_forward(self.norm3(x)))

        - x = self.norm3(x + self.dropout(self.feed_forward(x)))
    """,
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "norm3-after-the-cross-attention",
    "your third norm acts after the cross-attention; it should act before the feed-forward network",
    DecoderLayer="""
        - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
        - x = x + self.dropout(self.feed_forward(self.norm3(x)))
        + x = self.norm3(x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory)))
        + x = x + self.dropout(self.feed_forward(x))
    """,
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "dropout-missing-after-network",
    "your network is added without dropout; drop its output, too, not only inside FeedForward",
    DecoderLayer=[
        "self.dropout(self.feed_forward(self.norm3(x))) -> self.feed_forward(self.norm3(x))",
        "self.dropout(self.feed_forward(x)) -> self.feed_forward(x)",
    ],
)

mistake(
    "dropout-missing-after-self",
    "your self-attention is added without dropout; its output should go through dropout before it is added",
    DecoderLayer="""
        - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
        + x = x + self.self_attention(self.norm1(x), self_mask)

        - x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
        + x = self.norm1(x + self.self_attention(x, self_mask))
    """,
)


@mistake(
    "dropout-of-the-sums",
    "your dropout acts on the sums, and so on the stream; it should act only on a sublayer's output",
)
class DecoderLayer:
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self.norm_first:
            x = self.dropout(x + self.self_attention(self.norm1(x), self_mask))
            x = self.dropout(x + self.cross_attention(self.norm2(x), memory_mask, memory))
            x = self.dropout(x + self.feed_forward(self.norm3(x)))
        else:
            x = self.norm1(self.dropout(x + self.self_attention(x, self_mask)))
            x = self.norm2(self.dropout(x + self.cross_attention(x, memory_mask, memory)))
            x = self.norm3(self.dropout(x + self.feed_forward(x)))
        return x


mistake(
    "layers-in-a-plain-list",
    "your layers are in a plain list; use nn.ModuleList, which makes their parameters known",
    Decoder="""
        - self.layers = nn.ModuleList(
        -     DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
        - )
        + self.layers = [
        +     DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
        + ]
    """,
)

mistake(
    "norm-after-every-layer",
    "your decoder's norm acts after every layer; it should act once, after the last",
    Decoder=[
        "layer(x, memory, self_mask, memory_mask) -> self.norm(layer(x, memory, self_mask, memory_mask))",
        "self.norm(x) -> x",
    ],
)

mistake(
    "dropout-after-norm",
    "your post-norm drops the normalised sum; drop only the sublayer's output, before it is added",
    DecoderLayer="""
        - x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
        - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        - x = self.norm3(x + self.dropout(self.feed_forward(x)))
        + x = self.dropout(self.norm1(x + self.self_attention(x, self_mask)))
        + x = self.dropout(self.norm2(x + self.cross_attention(x, memory_mask, memory)))
        + x = self.dropout(self.norm3(x + self.feed_forward(x)))
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
