"""Answers to masked-lm."""

# ==== right ====
"""Words hidden and found again as other people write it."""


@answer("word-by-word", "A loop over all tokens, slow and right.")
def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
    ordinary = [word for word in range(vocab_size) if word not in special_ids]
    inputs, targets = [], []
    for row in tokens.tolist():
        read, asked = [], []
        for word in row:
            first, second = torch.rand(2, generator=generator).tolist()
            if word in special_ids or first >= rate:
                read.append(word)
                asked.append(-100)
                continue
            asked.append(word)
            if second < 0.8:
                read.append(mask_id)
            elif second < 0.9:
                read.append(ordinary[int(torch.randint(len(ordinary), (1,), generator=generator))])
            else:
                read.append(word)
        inputs.append(read)
        targets.append(asked)
    return torch.tensor(inputs, device=tokens.device), torch.tensor(targets, device=tokens.device)


@answer("tied-linear", "An output layer of torch's whose weight is the embedding's parameter.")
class MaskedLM(nn.Module):
    def __init__(
        self,
        vocab_size,
        d_model=64,
        num_heads=4,
        d_ff=128,
        num_layers=2,
        max_len=128,
        pad_id=0,
        dropout=0.0,
    ):
        super().__init__()
        self.pad_id = pad_id
        self.tok = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.tok.weight, mean=0.0, std=0.02)
        self.pos = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.pos.weight, std=0.02)
        self.body_ = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = nn.Linear(d_model, vocab_size, bias=False)
        self.decoder.weight = self.tok.weight

    def body(self, tokens):
        places = torch.arange(tokens.size(1), device=tokens.device)
        h = self.tok(tokens) + self.pos(places)
        return self.body_(h, padding_mask(tokens, self.pad_id))

    def forward(self, tokens):
        return self.decoder(self.body(tokens))


@answer("functional-output", "F.linear with the table, and a bias that starts at the words' even chance.")
class MaskedLM:
    def forward(self, tokens):
        return nn.functional.linear(self.body(tokens), self.embedding.weight, self.bias)


# ==== wrong ====
"""Words hidden and found again as it goes wrong for other people."""


@answer(
    "exact-count",
    "Exactly 15% of the places of each row, by topk of random numbers, and the mask for all of them.",
    named=["all-masked", "chosen-by-count"],
)
def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
    numbers = torch.rand(tokens.shape, generator=generator)
    count = max(1, int(rate * tokens.shape[1]))
    chosen = torch.zeros(tokens.shape, dtype=torch.bool)
    chosen = chosen.scatter(1, numbers.topk(count, dim=1).indices, True).to(tokens.device)
    for special in special_ids:
        chosen &= tokens != special
    inputs = tokens.masked_fill(chosen, mask_id)
    return inputs, tokens.masked_fill(~chosen, -100)


@answer("bag-of-words", "Positions are made and never added.", named=["no-positions"])
class MaskedLM:
    def body(self, tokens):
        h = self.dropout(self.embedding(tokens) * self.scale)
        return self.encoder(h, padding_mask(tokens, self.pad_id))


@answer("detached-table", "The table at the output takes no gradient.", named=["table-detached"])
class MaskedLM:
    def forward(self, tokens):
        with torch.no_grad():
            table = self.embedding.weight.clone()
        return self.body(tokens) @ table.T + self.bias


@answer(
    "only-the-end-is-padding",
    "Everything before the last word is read, padding in front and between words as well.",
)
class MaskedLM:
    def body(self, tokens):
        real = (tokens != self.pad_id).flip(1).int().cummax(1).values.flip(1).bool()
        x = self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]]
        return self.encoder(self.dropout(x), real[:, None, None, :])


answer(
    "the-mask-is-never-drawn",
    "A random word is never the mask, although no special token is.",
    hide="""
        - ordinary = (~special).nonzero().squeeze(1)
        + ordinary = (~special & (torch.arange(vocab_size, device=tokens.device) != mask_id)).nonzero().squeeze(1)
    """,
)

answer(
    "row-0-is-padding",
    "Row 0 of the table learns at the output alone, whichever token is padding.",
    MaskedLM="nn.Embedding(vocab_size, d_model) -> nn.Embedding(vocab_size, d_model, padding_idx=0)",
)

answer(
    "something-to-learn",
    "Where nothing was chosen, everything is.",
    hide="""
        - chosen = (draw[0] < rate) & ~special[tokens]
        + chosen = (draw[0] < rate) & ~special[tokens]
        + if not chosen.any():
        +     chosen = ~special[tokens]
    """,
)

answer(
    "drops-whole-features",
    "Dropout as images have it: what is dropped is dropped at all positions.",
    MaskedLM="nn.Dropout(dropout) -> DropFeatures(dropout)",
)


class DropFeatures(nn.Dropout1d):
    def forward(self, x):
        return super().forward(x.mT).mT
