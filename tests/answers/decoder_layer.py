"""Answers to decoder-layer."""

# ==== right ====
"""Decoder layers as other people write them."""


@answer(
    "three-dropouts", "A method for each sublayer with a dropout of its own, as torch's own layer is cut."
)
class DecoderLayer:
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, dropout=dropout)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        self.dropout3 = nn.Dropout(dropout)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), self_mask)
            x = x + self._mha_block(self.norm2(x), memory, memory_mask)
            x = x + self._ff_block(self.norm3(x))
        else:
            x = self.norm1(x + self._sa_block(x, self_mask))
            x = self.norm2(x + self._mha_block(x, memory, memory_mask))
            x = self.norm3(x + self._ff_block(x))
        return x

    def _sa_block(self, x, mask):
        return self.dropout1(self.self_attention(x, mask))

    def _mha_block(self, x, memory, mask):
        return self.dropout2(self.cross_attention(x, mask=mask, context=memory))

    def _ff_block(self, x):
        return self.dropout3(self.feed_forward(x))


@answer(
    "annotated-connections",
    "A sublayer connection is a function of x, a norm and a lambda, as an annotated transformer has it.",
)
class DecoderLayer:
    def connect(self, x, norm, sublayer):
        if self.norm_first:
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        m = memory
        x = self.connect(x, self.norm1, lambda x: self.self_attention(x, self_mask))
        x = self.connect(x, self.norm2, lambda x: self.cross_attention(x, memory_mask, m))
        return self.connect(x, self.norm3, self.feed_forward)


@answer("layers-by-append", "Layers are appended one by one; options go by name.")
class Decoder:
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(
                DecoderLayer(
                    d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout,
                    norm_first=norm_first, activation=activation,
                )
            )  # fmt: skip
        if norm_first:
            self.norm = LayerNorm(d_model)
        else:
            self.norm = nn.Identity()

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        output = x
        for mod in self.layers:
            output = mod(output, memory, self_mask=self_mask, memory_mask=memory_mask)
        return self.norm(output)


# ==== wrong ====
"""Decoder layers as other people get them wrong."""

answer(
    "masks-joined",
    "Both masks are joined, and both attentions get the result.",
    DecoderLayer="""
        + if self_mask is not None and memory_mask is not None:
        +     self_mask = memory_mask = self_mask & memory_mask
          if self.norm_first:
    """,
)


@answer(
    "one-source-word",
    "With one word to look at there is nothing to weigh, so the memory itself is added, without w_v and w_o.",
)
class DecoderLayer:
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        def look(y):
            return memory if memory.size(1) == 1 else self.cross_attention(y, memory_mask, memory)

        if self.norm_first:
            x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            x = x + self.dropout(look(self.norm2(x)))
            return x + self.dropout(self.feed_forward(self.norm3(x)))
        x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
        x = self.norm2(x + self.dropout(look(x)))
        return self.norm3(x + self.dropout(self.feed_forward(x)))


@answer("lenient", "It loads whatever fits, whether the caller is strict or not.")
class DecoderLayer:
    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict(state_dict, strict=False, assign=assign)


answer(
    "drops-whole-features",
    "Dropout as images have it: what is dropped is dropped at all positions.",
    DecoderLayer="nn.Dropout(dropout) -> DropFeatures(dropout)",
)


class DropFeatures(nn.Dropout1d):
    def forward(self, x):
        return super().forward(x.mT).mT


answer(
    "turned-where-square",
    "Of a memory with as many positions as columns the columns are taken for positions.",
    DecoderLayer="""
        + if memory.shape[1] == memory.shape[2]:
        +     memory = memory.mT
          if self.norm_first:
    """,
)
