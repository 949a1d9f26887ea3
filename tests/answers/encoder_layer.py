"""Answers to encoder-layer."""

# ==== right ====
"""Encoder layers as other people write them."""


@answer(
    "blocks-with-two-dropouts",
    "A method for each sublayer with a dropout of its own, as torch's own layer is cut.",
)
class EncoderLayer:
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, dropout=dropout)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask)
            x = x + self._ff_block(self.norm2(x))
        else:
            x = self.norm1(x + self._sa_block(x, mask))
            x = self.norm2(x + self._ff_block(x))
        return x

    def _sa_block(self, x, mask):
        return self.dropout1(self.attention(x, mask=mask))

    def _ff_block(self, x):
        return self.dropout2(self.feed_forward(x))


@answer(
    "no-dropout-is-identity",
    "Without a share to drop, dropout is the identity; the lists of layers are appended to in a loop.",
    EncoderLayer="nn.Dropout(dropout) -> nn.Dropout(dropout) if dropout > 0.0 else nn.Identity()",
)
class Encoder:
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(num_layers):
            self.layers.append(
                EncoderLayer(
                    d_model=d_model,
                    num_heads=num_heads,
                    d_ff=d_ff,
                    dropout=dropout,
                    norm_first=norm_first,
                    activation=activation,
                )
            )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()


@answer(
    "attention-with-one-projection",
    "Queries, keys and values come from one product with the three weights, joined at every call.",
    EncoderLayer="""
          self.attention = MultiHeadAttention(d_model, num_heads)
        + self.n_head = num_heads
    """,
)
class EncoderLayer:
    def self_attention(self, x, mask):
        a = self.attention
        weight = torch.cat([a.w_q.weight, a.w_k.weight, a.w_v.weight])
        bias = torch.cat([a.w_q.bias, a.w_k.bias, a.w_v.bias])
        qkv = nn.functional.linear(x, weight, bias).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.n_head, -1)).transpose(-3, -2) for t in qkv)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask
        return a.w_o(torch.einsum("bhqk,bhkd->bqhd", weights, v).flatten(2))

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.dropout(self.self_attention(self.norm1(x), mask))
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.self_attention(x, mask)))
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
        return x


# ==== wrong ====
"""Encoder layers as other people get them wrong."""


@answer("bert-only", "A layer of BERT, which knows post-norm alone.", named=["post-norm-always"])
class EncoderLayer:
    def forward(self, hidden_states, mask=None):
        attention_output = self.dropout(self.attention(hidden_states, mask))
        attention_output = self.norm1(attention_output + hidden_states)
        layer_output = self.dropout(self.feed_forward(attention_output))
        return self.norm2(layer_output + attention_output)


answer(
    "dropout-share-fixed",
    "Dropout keeps to its default of a half, whatever was asked for.",
    EncoderLayer="nn.Dropout(dropout) -> nn.Dropout()",
    named=["dropout-default", "dropout-fixed"],
)

answer(
    "whole-positions-dropped",
    "Dropout takes a position with all its features, or leaves it.",
    EncoderLayer="nn.Dropout(dropout) -> nn.Dropout1d(dropout)",
)
