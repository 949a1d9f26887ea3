"""What the classifier gets wrong.

Tokens become vectors with positions, every real token sees every real token, and one pooled vector becomes logits.
"""

mistake(
    "positions-missing",
    "your classifier reads a bag of words; add to each token's vector one of its position",
    EncoderClassifier="self.embedding(tokens) + self.positions[: tokens.shape[1]] -> self.embedding(tokens)",
)

mistake(
    "positions-keep-float32",
    "your positions stay float32 when the model changes its dtype; they should change with the model",
    EncoderClassifier="""
        - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
        + self.d_model = d_model

        - x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
        + positions = sinusoidal_positions(tokens.shape[1], self.d_model, device=tokens.device)
        + x = self.dropout(self.embedding(tokens) + positions)
    """,
)

mistake(
    "attention-sees-padding",
    "your encoder lets tokens attend to padding; give it a mask [B, 1, 1, T] that is True where the token is real",
    EncoderClassifier="x, real[:, None, None, :] -> x",
)

mistake(
    "mask-inverted",
    "your mask is upside down, so attention sees only padding; it should be True where the token is real",
    EncoderClassifier="real[:, None, None, :] -> ~real[:, None, None, :]",
)

mistake(
    "causal-encoder",
    "your encoder hides from cls all that follows it, as a causal one does; each position should see all real tokens",
    EncoderClassifier="""
        - hidden = self.encoder(x, real[:, None, None, :])
        + T = tokens.shape[1]
        + past = torch.ones(T, T, dtype=torch.bool, device=tokens.device).tril()
        + hidden = self.encoder(x, past & real[:, None, None, :])
    """,
)

mistake(
    "pad-id-ignored",
    "your classifier treats 0 as padding, whatever pad_id is; it should treat pad_id as padding",
    EncoderClassifier="tokens != self.pad_id -> tokens != 0",
)

mistake(
    "padding-pooled",
    "your classifier masks attention, but pools over padding as well; it should pool real positions only",
    EncoderClassifier="pool(hidden, real, self.pooling) -> pool(hidden, torch.ones_like(real), self.pooling)",
)

mistake(
    "pooling-ignored",
    "your classifier always pools by cls; it should use the strategy that pooling names",
    EncoderClassifier='pool(hidden, real, self.pooling) -> pool(hidden, real, "cls")',
)

mistake(
    "logits-for-every-position",
    "your classifier gives logits for every position; pool before the head",
    EncoderClassifier="pool(hidden, real, self.pooling) -> hidden",
    costs="no logits of a text are there to be compared, and no loss to be trained by",
)

mistake(
    "softmax-in-the-model",
    "your classifier returns probabilities, so cross-entropy applies softmax a second time; return the logits",
    EncoderClassifier="""
        - return self.head(pool(hidden, real, self.pooling))
        + return self.head(pool(hidden, real, self.pooling)).softmax(dim=-1)
    """,
)

mistake(
    "encoder-detached",
    "your encoder is cut off from the gradient, so only the last layer learns; gradients should reach the encoder",
    EncoderClassifier="pool(hidden, real, self.pooling) -> pool(hidden.detach(), real, self.pooling)",
)

mistake(
    "torch-encoder",
    "your classifier is built on torch's transformer; it should be built on the Encoder that is given",
    EncoderClassifier="""
        - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        + layer = nn.TransformerEncoderLayer(
        +     d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True
        + )
        + self.encoder = nn.TransformerEncoder(
        +     layer, num_layers, nn.LayerNorm(d_model), enable_nested_tensor=False
        + )

        - hidden = self.encoder(x, real[:, None, None, :])
        + hidden = self.encoder(x, src_key_padding_mask=~real)
    """,
    costs="what is not built on the given Encoder is not an answer to this kata",
)

mistake(
    "mask-not-broadcast",
    "your encoder gets the mask as [B, T], which it reads as [T, T]; it should get it as [B, 1, 1, T]",
    EncoderClassifier="real[:, None, None, :] -> real",
    costs="the encoder cannot attend with it, so no call of the classifier ends with logits",
)

mistake(
    "pooling-fixed",
    "your classifier pools by the mean, whatever pooling is; it should use the strategy that pooling names",
    EncoderClassifier='pool(hidden, real, self.pooling) -> pool(hidden, real, "mean")',
)

mistake(
    "log-softmax-in-the-model",
    "your classifier returns logarithms of probabilities; it should return logits, the numbers before the softmax",
    EncoderClassifier="""
        - return self.head(pool(hidden, real, self.pooling))
        + return self.head(pool(hidden, real, self.pooling)).log_softmax(dim=-1)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
