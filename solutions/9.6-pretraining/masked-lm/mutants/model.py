"""How the model reads or answers wrongly.

It reads from both sides, passes over padding, knows the order, and answers with the table it reads with.
"""

mistake(
    "padding-read",
    "your body lets real tokens look at padding; a mask should hide the padding from them",
    MaskedLM="self.dropout(x), padding_mask(tokens, self.pad_id) -> self.dropout(x)",
)

mistake(
    "pad-id-zero",
    "your padding is always 0; it should be the token that pad_id names",
    MaskedLM="padding_mask(tokens, self.pad_id) -> padding_mask(tokens, 0)",
)

mistake(
    "mask-inverted",
    "your padding mask is the wrong way round; it should be True where a token is real and may be looked at",
    MaskedLM="padding_mask(tokens, self.pad_id) -> ~padding_mask(tokens, self.pad_id)",
)

mistake(
    "no-positions",
    "your body does not know the order of the words; it should add positions to the embeddings",
    MaskedLM="""
        - x = self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]]
        + x = self.embedding(tokens) * self.scale
    """,
)

mistake(
    "causal",
    "your body looks only at the words before a gap; it should read both sides",
    MaskedLM="""
        - return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
        + mask = padding_mask(tokens, self.pad_id)
        + seen = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool, device=tokens.device).tril()
        + return self.encoder(self.dropout(x), mask & seen)
    """,
)

mistake(
    "untied",
    "your output layer has a weight of its own; it should use the token embedding's",
    MaskedLM="""
          self.bias = nn.Parameter(torch.zeros(vocab_size))
        + self.output = nn.Linear(d_model, vocab_size)

        - return self.body(tokens) @ self.embedding.weight.T + self.bias
        + return self.output(self.body(tokens)) + self.bias
    """,
)

mistake(
    "tied-by-copying",
    "your output layer copies the table; it should use the same parameter, so that both ends learn",
    MaskedLM="""
          self.bias = nn.Parameter(torch.zeros(vocab_size))
        + self.output = nn.Parameter(self.embedding.weight.detach().clone())

        - return self.body(tokens) @ self.embedding.weight.T + self.bias
        + return self.body(tokens) @ self.output.T + self.bias
    """,
)

mistake(
    "table-detached",
    "your output layer uses the table without its gradient; the table should learn at both ends",
    MaskedLM="self.embedding.weight.T -> self.embedding.weight.detach().T",
)

mistake(
    "logits-softmaxed",
    "your logits are probabilities; leave the softmax to the loss",
    MaskedLM="""
        - return self.body(tokens) @ self.embedding.weight.T + self.bias
        + return (self.body(tokens) @ self.embedding.weight.T + self.bias).softmax(dim=-1)
    """,
)

mistake(
    "log-probabilities",
    "your logits are logarithms of probabilities; leave log_softmax to the loss",
    MaskedLM="""
        - return self.body(tokens) @ self.embedding.weight.T + self.bias
        + return (self.body(tokens) @ self.embedding.weight.T + self.bias).log_softmax(dim=-1)
    """,
)

mistake(
    "body-returned-too",
    "your forward returns the body too; it should return only the logits",
    MaskedLM="""
        - return self.body(tokens) @ self.embedding.weight.T + self.bias
        + body = self.body(tokens)
        + return body @ self.embedding.weight.T + self.bias, body
    """,
    costs="what is not a tensor cannot be compared with anything",
)

mistake(
    "logits-divided",
    "your logits are divided; they should be the products with the table, as they are",
    MaskedLM="""
        - return self.body(tokens) @ self.embedding.weight.T + self.bias
        + return self.body(tokens) @ self.embedding.weight.T / self.scale + self.bias
    """,
)

mistake(
    "only-the-first-scored",
    "your forward scores only the first position; it should score every position",
    MaskedLM="self.body(tokens) -> self.body(tokens)[:, 0]",
    costs="logits of another shape cannot be compared with anything",
)

mistake(
    "dropout-not-handed-on",
    "your dropout acts on nothing; pass it on to the encoder",
    MaskedLM=[
        "nn.Dropout(dropout) -> nn.Identity()",
        "d_ff, dropout -> d_ff",
    ],
)

mistake(
    "heads-fixed",
    "your encoder has a fixed number of heads; it should have num_heads heads",
    MaskedLM="num_heads, d_ff -> 1, d_ff",
)

mistake(
    "layers-fixed",
    "your encoder has a fixed number of layers; it should have num_layers layers",
    MaskedLM="num_layers, d_model -> 2, d_model",
)

mistake(
    "hidden-width-fixed",
    "your encoder's networks have a fixed width inside; that width should be d_ff",
    MaskedLM="d_ff, dropout -> 128, dropout",
)

mistake(
    "rows-too-long",
    "your table begins with rows that are too long, which makes the logits too large; begin with smaller numbers",
    MaskedLM="- nn.init.normal_(self.embedding.weight, std=d_model**-0.5)",
)

mistake(
    "max-len-fixed",
    "your positions end at 12; there should be max_len of them",
    MaskedLM="sinusoidal_positions(max_len, d_model) -> sinusoidal_positions(12, d_model)",
)

mistake(
    "other-default-sizes",
    "your model's default sizes are not those of the stub; they should be the same",
    MaskedLM="num_layers: int = 2 -> num_layers: int = 3",
)

mistake(
    "body-of-embeddings",
    "your body returns the embeddings; it should return the output of the encoder",
    MaskedLM="""
        - return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
        + self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
        + return self.dropout(x)
    """,
)

mistake(
    "torchs-own-encoder",
    "your model makes a torch Transformer layer; build it from the given blocks",
    MaskedLM="""
        + nn.TransformerEncoderLayer(4, 1, 4, batch_first=True)
          x = self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]]
    """,
    costs="what rests on excluded code earns nothing",
)

mistake(
    "positions-in-float32",
    "your positions stay float32 when the model does not; register them as a buffer, or cast them to the vectors' "
    "dtype",
    MaskedLM="""
        - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
        + self.positions = sinusoidal_positions(max_len, d_model)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
