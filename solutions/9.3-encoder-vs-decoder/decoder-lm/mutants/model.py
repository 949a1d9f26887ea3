"""What the model around the mask gets wrong.

Token and position vectors, blocks of their own, a norm, a head: a score for every token at every position.
"""

mistake(
    "positions-missing",
    "your model adds no positions, or the same to each token; add a vector that is different at each position",
    DecoderLM="self.position(positions) -> 0 * self.position(positions)",
)

mistake(
    "positions-from-one",
    "your positions start at 1, so the last of max_len has no vector; start at 0",
    DecoderLM="start, start + tokens.size(1) -> start + 1, start + 1 + tokens.size(1)",
)

mistake(
    "positions-float32",
    "your positions stay in float32 when the model has another dtype; they should have the dtype of the model",
    DecoderLM="""
        - self.position = nn.Embedding(max_len, d_model)
        + self.table = [sinusoidal_positions(max_len, d_model)]

        - for embedding in (self.token, self.position):
        -     nn.init.normal_(embedding.weight, std=0.02)
        + nn.init.normal_(self.token.weight, std=0.02)

        - x = self.dropout(self.token(tokens) + self.position(positions))
        + x = self.dropout(self.token(tokens) + self.table[0].to(tokens.device)[positions])
    """,
)

from blocks import sinusoidal_positions

mistake(
    "last-position-only",
    "your model gives logits for the last position only; each position should predict its next token",
    DecoderLM="self.head(self.norm(x)) -> self.head(self.norm(x))[:, -1:]",
    costs="causality, the loss and training speak of positions that are not there",
)

mistake(
    "logits-alone",
    "your forward returns only the logits, without a cache; it should return the pair (logits, cache)",
    DecoderLM="self.head(self.norm(x)), new -> self.head(self.norm(x))",
)

mistake(
    "probabilities",
    "your model applies the softmax itself; it should return logits, the scores before it",
    DecoderLM="self.head(self.norm(x)) -> self.head(self.norm(x)).softmax(dim=-1)",
)

mistake(
    "log-probabilities",
    "your model applies a log-softmax itself; it should return logits, the scores before it",
    DecoderLM="self.head(self.norm(x)) -> self.head(self.norm(x)).log_softmax(dim=-1)",
)

mistake(
    "layers-in-a-list",
    "your layers are in a plain list, which no parameters() and no to() looks into; use nn.ModuleList",
    DecoderLM="""
        - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        + self.blocks = [Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]
    """,
)

mistake(
    "layers-shared",
    "your layers are one layer, several times, as [layer] * n repeats the same object; make a new one each time",
    DecoderLM="""
        - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        + self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout)] * num_layers)
    """,
)

mistake(
    "dropout-ignored",
    "your model is given dropout and drops nothing; it should drop that share of activations in train mode",
    DecoderLM="""
          super().__init__()
        + dropout = 0.0
    """,
)

mistake(
    "dropout-always",
    "your dropout is on in eval mode too; it should act in train mode only",
    Block="self.dropout(attended) -> F.dropout(attended, self.dropout.p, training=True)",
)

mistake(
    "tokens-shifted-in-place",
    "your model writes into the tokens it was given; it should leave them as they are",
    DecoderLM="""
        + tokens += 0
          pasts = cache if cache is not None else [None] * len(self.blocks)
    """,
)

mistake(
    "torch-encoder",
    "your layers are torch's own transformer layers; build them from the given blocks",
    Block="""
        - self.norm1 = LayerNorm(d_model)
        + self.norm1 = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout).norm1
    """,
    costs="what is not built from scratch is not an answer to this kata",
)

mistake(
    "d-ff-ignored",
    "your feed-forward networks have a width of their own, whatever d_ff is; they should be d_ff wide inside",
    DecoderLM="Block(d_model, num_heads, d_ff, dropout) -> Block(d_model, num_heads, 4 * d_model, dropout)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
