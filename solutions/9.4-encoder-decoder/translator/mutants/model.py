"""How the two halves are put together wrongly: what reads what, under which mask, and where it stands.

The encoder reads both ways and passes over padding; the decoder looks left, and at all of the memory that is real.
"""

mistake(
    "decoder-sees-ahead",
    "your decoder sees words that follow; use a causal mask, before a softmax over keys, and no norm over positions",
    Translator="causal_mask(target.shape[1], device=target.device) -> None",
)

mistake(
    "encoder-causal",
    "your encoder reads under a causal mask; it should read the source in both directions",
    Translator="""
        - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
        + mask = padding_mask(source, self.pad_id) & causal_mask(source.shape[1], device=source.device)
        + return self.encoder(self.dropout(x), mask)
    """,
)

mistake(
    "memory-causal",
    "your decoder looks at the memory under a causal mask; every target word should see the whole source",
    Translator="""
        - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
        + T, S = target.shape[1], source.shape[1]
        + look = torch.ones(T, S, dtype=torch.bool, device=target.device).tril()
        + return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id) & look))
    """,
)

mistake(
    "padding-read",
    "your encoder reads the padding; give its attention the padding mask of the source",
    Translator="self.dropout(x), padding_mask(source, self.pad_id) -> self.dropout(x)",
)

mistake(
    "padding-looked-at",
    "your decoder looks at the memory's padding; give its cross-attention the padding mask of the source",
    Translator="causal, padding_mask(source, self.pad_id) -> causal",
)

mistake(
    "padding-is-zero",
    "your masks always treat token 0 as padding; they should treat the token pad_id as padding",
    Translator=[
        "self.dropout(x), padding_mask(source, self.pad_id) -> self.dropout(x), padding_mask(source)",
        "causal, padding_mask(source, self.pad_id) -> causal, padding_mask(source)",
    ],
)

mistake(
    "source-without-positions",
    "your source has no positions, so the encoder reads a bag of words; add positions to the source's embeddings",
    Translator="self.source_words(source) + self.positions[: source.shape[1]] -> self.source_words(source)",
)

mistake(
    "target-without-positions",
    "your target has no positions, so the order of its words is lost; add positions to the target's embeddings",
    Translator="self.target_words(target) + self.positions[: target.shape[1]] -> self.target_words(target)",
)

mistake(
    "vocabularies-exchanged",
    "your two vocabularies are exchanged; source_vocab should be for the source, target_vocab for the target",
    Translator=[
        "nn.Embedding(source_vocab, d_model) -> nn.Embedding(target_vocab, d_model)",
        "nn.Embedding(target_vocab, d_model) -> nn.Embedding(source_vocab, d_model)",
    ],
    costs="words beyond the table cannot be looked up, so hardly any model can be tried",
)

mistake(
    "head-of-the-source",
    "your head scores the words of the source's vocabulary; it should score those of the target's",
    Translator="nn.Linear(d_model, target_vocab) -> nn.Linear(d_model, source_vocab)",
    costs="logits of another width cannot be compared with anything",
)

mistake(
    "memory-detached",
    "your memory is detached, so the encoder learns nothing; let the gradient go through the memory",
    Translator="self.encode(source) -> self.encode(source).detach()",
)

mistake(
    "memory-of-words",
    "your decoder looks at the encoder's input; the memory should be the encoder's output",
    Translator="""
        - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
        + self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
        + return self.dropout(x)
    """,
)

mistake(
    "memory-is-its-mean",
    "your memory is averaged to one vector; each target word should choose among all of its positions",
    Translator="""
        + memory = memory.mean(dim=1, keepdim=True).expand_as(memory)
          causal = causal_mask(target.shape[1], device=target.device)
    """,
)

mistake(
    "logits-softmaxed",
    "your logits are probabilities; leave the softmax to the loss and the search",
    Translator="""
        - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
        + hidden = self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id))
        + return self.head(hidden).softmax(dim=-1)
    """,
)

mistake(
    "dropout-not-handed-on",
    "your dropout acts on nothing; pass it on to the encoder and to the decoder",
    Translator="""
        - self.dropout = nn.Dropout(dropout)
        - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        - self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        + self.dropout = nn.Identity()
        + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        + self.decoder = Decoder(num_layers, d_model, num_heads, d_ff)
    """,
)

mistake(
    "one-layer-only",
    "your decoder always has one layer; it should have num_layers layers",
    Translator="""
        - self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        + self.decoder = Decoder(1, d_model, num_heads, d_ff, dropout)
    """,
)

mistake(
    "positions-in-float32",
    "your positions stay float32 when the model does not; register them as a buffer, or cast them to the vectors' "
    "dtype",
    Translator="""
        - self.register_buffer("positions", sinusoidal_positions(max_len, d_model))
        + self.positions = sinusoidal_positions(max_len, d_model)
    """,
)

mistake(
    "torchs-own-transformer",
    "your model makes a torch Transformer layer; build it from the given blocks",
    Translator="""
        + nn.TransformerDecoderLayer(4, 1, 4, batch_first=True)
          return self.decode(target, self.encode(source), source)
    """,
    costs="what rests on excluded code earns nothing",
)

mistake(
    "encoder-of-one-layer",
    "your encoder always has one layer; it should have num_layers layers",
    Translator="""
        - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        + self.encoder = Encoder(1, d_model, num_heads, d_ff, dropout)
    """,
)

mistake(
    "mask-upside-down",
    "your causal mask is the upper triangle; True should mark the positions that may be attended to, 0 to t",
    Translator="""
        - causal = causal_mask(target.shape[1], device=target.device)
        + causal = causal_mask(target.shape[1], device=target.device).T
    """,
)

mistake(
    "target-shifted-in-decode",
    "your decode shifts the target by one; it should use it as it is, as the caller has shifted it already",
    Translator="""
        + target = torch.cat((target[:, :1], target[:, :-1]), dim=1)
          x = self.target_words(target) + self.positions[: target.shape[1]]
    """,
)

mistake(
    "no-padding-mask",
    "your masks forget padding, in the encoder and with the memory; both should hide it",
    Translator=[
        "self.dropout(x), padding_mask(source, self.pad_id) -> self.dropout(x)",
        "causal, padding_mask(source, self.pad_id) -> causal",
    ],
)

mistake(
    "own-words-for-memory",
    "your decoder is given its own words as memory; cross-attention should read the encoder's output",
    Translator="memory, causal, padding_mask(source, self.pad_id) -> x, causal, causal",
)

mistake(
    "source-not-handed-on",
    "your forward does not pass the source on to decode, which then attends to padding; pass the source as it is",
    Translator="self.encode(source), source -> self.encode(source), torch.full_like(source, self.pad_id + 1)",
)

mistake(
    "batch-second",
    "your encoder is given [S, B, D], so words attend to other sentences instead of their own; give it [B, S, D]",
    Translator="""
        - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
        + return self.encoder(self.dropout(x).transpose(0, 1)).transpose(0, 1)
    """,
)

mistake(
    "tokens-viewed",
    "your encode calls view on the tokens, which need not be contiguous in memory; use reshape, or do not flatten "
    "at all",
    Translator="self.source_words(source) -> self.source_words(source.view(-1)).view(*source.shape, -1)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
