"""How cross-attention looks at the wrong things.

Queries come from the stream, keys and values from the memory as it is; memory_mask says which of them may meet.
"""

mistake(
    "memory-not-used",
    "your cross-attention looks at x again; keys and values should come from the memory, its context",
    DecoderLayer=[
        "self.norm2(x), memory_mask, memory -> self.norm2(x), memory_mask",
        "x, memory_mask, memory -> x, memory_mask",
    ],
    costs="a model without its source is wrong wherever there is one",
)

mistake(
    "memory-asks",
    "your cross-attention has its roles exchanged; queries should come from x, keys and values from the memory",
    DecoderLayer=[
        "self.norm2(x), memory_mask, memory -> memory, memory_mask, self.norm2(x)",
        "x, memory_mask, memory -> memory, memory_mask, x",
    ],
    costs="the result has the length of the memory, so hardly anything can be added",
)

mistake(
    "memory-normalised",
    "your pre-norm layer normalises the memory too; use it as it is, as its encoder has already done so",
    DecoderLayer="self.norm2(x), memory_mask, memory -> self.norm2(x), memory_mask, self.norm2(memory)",
)


@mistake(
    "cross-before-self",
    "your cross-attention comes first; the order should be self-attention, cross-attention, feed-forward network",
    costs="a whole layer is what is compared, in values, masks and gradients",
)
class DecoderLayer:
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self.norm_first:
            x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            x = x + self.dropout(self.feed_forward(self.norm3(x)))
        else:
            x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            x = self.norm3(x + self.dropout(self.feed_forward(x)))
        return x


mistake(
    "one-attention-for-both",
    "your cross-attention is the self-attention under another name; each should have weights of its own",
    DecoderLayer="""
        - self.cross_attention = MultiHeadAttention(d_model, num_heads)
        + self.cross_attention = self.self_attention
    """,
)


mistake(
    "self-attention-in-both",
    "your layer looks at the memory with self_attention; use cross_attention for that",
    DecoderLayer=[
        "self.cross_attention(self.norm2 -> self.self_attention(self.norm2",
        "self.cross_attention(x -> self.self_attention(x",
    ],
    costs="a whole layer is what is compared, in values, masks and gradients",
)


@mistake(
    "side-by-side",
    "your two attentions read the same x; the second should read the sum with the first one's output",
    costs="a whole layer is what is compared, in values, masks and gradients",
)
class DecoderLayer:
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self.norm_first:
            own = self.dropout(self.self_attention(self.norm1(x), self_mask))
            x = x + own + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            x = x + self.dropout(self.feed_forward(self.norm3(x)))
        else:
            own = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            x = self.norm2(own + self.dropout(self.cross_attention(x, memory_mask, memory)))
            x = self.norm3(x + self.dropout(self.feed_forward(x)))
        return x


mistake(
    "memory-cut-off",
    "your memory is detached, so the encoder that made it learns nothing; let the gradient go through the memory",
    DecoderLayer="""
        + memory = memory.detach()
          if self.norm_first:
    """,
)

mistake(
    "memory-never-asked",
    "your layer has no cross-attention in its forward, so the memory is never read; apply it after self-attention",
    DecoderLayer="""
        - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))

        - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
    """,
    costs="a model without its source is wrong wherever there is one",
)

mistake(
    "memory-as-mask",
    "your cross-attention gets the memory where its mask belongs; pass the mask first, then the context",
    DecoderLayer=[
        "self.norm2(x), memory_mask, memory -> self.norm2(x), memory, memory_mask",
        "x, memory_mask, memory -> x, memory, memory_mask",
    ],
    costs="what is not a mask is refused, so hardly anything can be compared",
)

mistake(
    "stream-as-memory",
    "your decoder gives each layer's output to the next as memory; every layer should read the encoder's memory",
    Decoder="""
          x = layer(x, memory, self_mask, memory_mask)
        + memory = x
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
