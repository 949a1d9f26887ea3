"""Words hidden and found again as other people write it."""


class two_bernoullis:
    """A probability matrix and torch.bernoulli, three times, as a well-known data collator does it."""

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        inputs, targets = tokens.clone(), tokens.clone()
        probability = torch.full(tokens.shape, rate)
        for special in special_ids:
            probability[(tokens == special).cpu()] = 0.0
        masked = torch.bernoulli(probability, generator=generator).bool().to(tokens.device)
        targets[~masked] = -100
        replaced = (
            torch.bernoulli(torch.full(tokens.shape, 0.8), generator=generator).bool().to(tokens.device)
            & masked
        )
        inputs[replaced] = mask_id
        half = torch.bernoulli(torch.full(tokens.shape, 0.5), generator=generator).bool().to(tokens.device)
        random = half & masked & ~replaced
        allowed = torch.tensor(
            [i for i in range(vocab_size) if i not in set(special_ids)], device=tokens.device
        )
        words = allowed[torch.randint(len(allowed), tokens.shape, generator=generator).to(tokens.device)]
        inputs[random] = words[random]
        return inputs, targets


class one_draw_for_both:
    """One uniform number decides whether a token is chosen and what becomes of it."""

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        special = torch.isin(
            tokens, torch.tensor(list(special_ids), dtype=tokens.dtype, device=tokens.device)
        )
        number = torch.rand(tokens.shape, generator=generator).to(tokens.device).masked_fill(special, 2.0)
        allowed = torch.tensor(sorted(set(range(vocab_size)) - set(special_ids)), device=tokens.device)
        inputs = tokens.clone()
        inputs[number < 0.8 * rate] = mask_id
        swapped = (number >= 0.8 * rate) & (number < 0.9 * rate)
        picked = torch.randint(len(allowed), (int(swapped.sum()),), generator=generator)
        inputs[swapped] = allowed[picked.to(tokens.device)]
        targets = torch.where(number < rate, tokens, torch.full_like(tokens, -100))
        return inputs, targets


class weights_for_multinomial:
    """Random words by torch.multinomial over the ordinary ones."""

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        weight = torch.ones(vocab_size)
        weight[list(special_ids)] = 0
        chosen = (torch.rand(tokens.shape, generator=generator) < rate).to(tokens.device)
        chosen &= weight.to(tokens.device)[tokens] > 0
        words = torch.multinomial(weight, tokens.numel(), replacement=True, generator=generator)
        words = words.view(tokens.shape).to(tokens.device)
        fate = torch.rand(tokens.shape, generator=generator).to(tokens.device)
        inputs = torch.where(
            fate < 0.8, torch.full_like(tokens, mask_id), torch.where(fate < 0.9, words, tokens)
        )
        return torch.where(chosen, inputs, tokens), tokens.masked_fill(~chosen, -100)


class word_by_word:
    """A loop over all tokens, slow and right."""

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


class tied_linear:
    """An output layer of torch's whose weight is the embedding's parameter."""

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


class mask_by_hand:
    """The mask made from the tokens, positions as a parameter, logits by einsum, a layer norm in front."""

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
            self.table = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)
            self.places = nn.Parameter(torch.randn(max_len, d_model) * 0.1)
            self.norm = nn.LayerNorm(d_model)
            self.drop = nn.Dropout(dropout)
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)

        def body(self, tokens):
            x = self.drop(self.norm(self.table[tokens] + self.places[: tokens.size(1)]))
            return self.encoder(x, (tokens != self.pad_id)[:, None, None, :])

        def forward(self, tokens):
            return torch.einsum("btd,vd->btv", self.body(tokens), self.table)


class functional_output:
    """F.linear with the table, and a bias that starts at the words' even chance."""

    class MaskedLM:
        def forward(self, tokens):
            return nn.functional.linear(self.body(tokens), self.embedding.weight, self.bias)


class transformed_before_the_head:
    """A further position table inside, embeddings of unit variance scaled down on the way."""

    class MaskedLM:
        def body(self, tokens):
            B, T = tokens.shape
            words = nn.functional.embedding(tokens, self.embedding.weight) * self.scale
            x = self.dropout(words + self.positions[:T].unsqueeze(0).expand(B, T, -1))
            return self.encoder(x, padding_mask(tokens, self.pad_id))


class padding_idx:
    """A table whose row of padding is zero and stays so."""

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
            self.words = nn.Embedding(vocab_size, d_model, padding_idx=pad_id)
            with torch.no_grad():
                self.words.weight.mul_(d_model**-0.5)
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model))
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout=dropout)
            self.out_bias = nn.Parameter(torch.zeros(vocab_size))

        def body(self, tokens):
            x = self.words(tokens) * self.words.embedding_dim**0.5 + self.pe[: tokens.shape[-1]]
            return self.encoder(x, padding_mask(tokens, self.pad_id))

        def forward(self, tokens):
            return self.body(tokens).matmul(self.words.weight.t()) + self.out_bias


class chosen_by_place:
    """Places of the chosen by nonzero, then three lots of them."""

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        device = tokens.device
        forbidden = torch.zeros(vocab_size, dtype=torch.bool)
        for special in special_ids:
            forbidden[special] = True
        draw = torch.rand(tokens.shape, generator=generator)
        places = ((draw < rate) & ~forbidden[tokens.cpu()]).nonzero(as_tuple=True)
        fate = torch.rand(len(places[0]), generator=generator)
        pool = (~forbidden).nonzero().flatten()
        lots = pool[torch.randint(0, len(pool), (len(places[0]),), generator=generator)]
        old = tokens.cpu()[places]
        new = torch.where(fate < 0.8, torch.tensor(mask_id), torch.where(fate < 0.9, lots, old))
        inputs, targets = tokens.clone(), torch.full_like(tokens, -100)
        at = tuple(axis.to(device) for axis in places)
        inputs[at], targets[at] = new.to(device), old.to(device)
        return inputs, targets
