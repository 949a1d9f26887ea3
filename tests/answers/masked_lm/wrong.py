"""Words hidden and found again as it goes wrong for other people."""


class collator_with_ten_tenths:
    """The random words are drawn with a chance of 0.1 among those that were not masked.

    Named: tenth_of_the_rest
    """

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
        some = torch.bernoulli(torch.full(tokens.shape, 0.1), generator=generator).bool().to(tokens.device)
        random = some & masked & ~replaced
        allowed = torch.tensor(
            [i for i in range(vocab_size) if i not in set(special_ids)], device=tokens.device
        )
        words = allowed[torch.randint(len(allowed), tokens.shape, generator=generator).to(tokens.device)]
        inputs[random] = words[random]
        return inputs, targets


class from_the_whole_vocabulary:
    """Random words from randint(vocab_size).

    Named: special_put_in
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        special = torch.isin(
            tokens, torch.tensor(list(special_ids), dtype=tokens.dtype, device=tokens.device)
        )
        chosen = (torch.rand(tokens.shape, generator=generator).to(tokens.device) < rate) & ~special
        fate = torch.rand(tokens.shape, generator=generator).to(tokens.device)
        words = torch.randint(vocab_size, tokens.shape, generator=generator).to(tokens.device)
        inputs = torch.where(chosen & (fate < 0.8), torch.full_like(tokens, mask_id), tokens)
        inputs = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs)
        return inputs, torch.where(chosen, tokens, torch.full_like(tokens, -100))


class first_special_only:
    """Only padding is spared: special_ids[0], the others are chosen like words.

    Named: special_chosen
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        special = tokens == special_ids[0] if len(special_ids) else torch.zeros_like(tokens, dtype=torch.bool)
        ordinary = torch.tensor(
            [w for w in range(vocab_size) if w not in set(special_ids)], device=tokens.device
        )
        chosen = (torch.rand(tokens.shape, generator=generator).to(tokens.device) < rate) & ~special
        fate = torch.rand(tokens.shape, generator=generator).to(tokens.device)
        words = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator).to(tokens.device)]
        inputs = torch.where(chosen & (fate < 0.8), torch.full_like(tokens, mask_id), tokens)
        inputs = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs)
        return inputs, tokens.masked_fill(~chosen, -100)


class exact_count:
    """Exactly 15% of the places of each row, by topk of random numbers, and the mask for all of them.

    Named: all_masked, chosen_by_count
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        numbers = torch.rand(tokens.shape, generator=generator)
        count = max(1, int(rate * tokens.shape[1]))
        chosen = torch.zeros(tokens.shape, dtype=torch.bool)
        chosen = chosen.scatter(1, numbers.topk(count, dim=1).indices, True).to(tokens.device)
        for special in special_ids:
            chosen &= tokens != special
        inputs = tokens.masked_fill(chosen, mask_id)
        return inputs, tokens.masked_fill(~chosen, -100)


class mask_only:
    """Everything that is chosen becomes the mask.

    Named: all_masked
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        chosen = torch.rand(tokens.shape, generator=generator).to(tokens.device) < rate
        for special in special_ids:
            chosen = chosen & (tokens != special)
        return tokens.masked_fill(chosen, mask_id), tokens.masked_fill(~chosen, -100)


class unchosen_is_padding:
    """Targets are 0 where nothing was chosen.

    Named: ignored_as_zero
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        special = torch.isin(
            tokens, torch.tensor(list(special_ids), dtype=tokens.dtype, device=tokens.device)
        )
        chosen = (torch.rand(tokens.shape, generator=generator).to(tokens.device) < rate) & ~special
        ordinary = torch.tensor(
            [w for w in range(vocab_size) if w not in set(special_ids)], device=tokens.device
        )
        fate = torch.rand(tokens.shape, generator=generator).to(tokens.device)
        words = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator).to(tokens.device)]
        inputs = torch.where(chosen & (fate < 0.8), torch.full_like(tokens, mask_id), tokens)
        inputs = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs)
        return inputs, tokens * chosen


class in_place:
    """The batch itself is written into.

    Named: changed_in_place
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        targets = tokens.clone()
        special = torch.isin(
            tokens, torch.tensor(list(special_ids), dtype=tokens.dtype, device=tokens.device)
        )
        chosen = (torch.rand(tokens.shape, generator=generator).to(tokens.device) < rate) & ~special
        ordinary = torch.tensor(
            [w for w in range(vocab_size) if w not in set(special_ids)], device=tokens.device
        )
        fate = torch.rand(tokens.shape, generator=generator).to(tokens.device)
        words = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator).to(tokens.device)]
        targets[~chosen] = -100
        tokens[chosen & (fate < 0.8)] = mask_id
        swapped = chosen & (fate >= 0.8) & (fate < 0.9)
        tokens[swapped] = words[swapped]
        return tokens, targets


class numpy_draws:
    """numpy's global generator draws: the generator that was handed in does nothing.

    Named: generator_forgotten, generator_not_used
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        import numpy as np

        special = np.isin(tokens.cpu().numpy(), list(special_ids))
        chosen = torch.from_numpy((np.random.rand(*tokens.shape) < rate) & ~special).to(tokens.device)
        fate = torch.from_numpy(np.random.rand(*tokens.shape)).to(tokens.device)
        ordinary = np.setdiff1d(np.arange(vocab_size), list(special_ids))
        words = torch.from_numpy(np.random.choice(ordinary, tuple(tokens.shape))).to(tokens.device)
        inputs = torch.where(chosen & (fate < 0.8), torch.full_like(tokens, mask_id), tokens)
        inputs = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs)
        return inputs, tokens.masked_fill(~chosen, -100)


class bert_names_untied:
    """A linear head beside the table, not tied.

    Named: untied
    """

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
            self.register_buffer("pos", sinusoidal_positions(max_len, d_model))
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            self.head = nn.Linear(d_model, vocab_size)

        def body(self, tokens):
            x = self.tok(tokens) + self.pos[: tokens.size(1)]
            return self.encoder(x, padding_mask(tokens, self.pad_id))

        def forward(self, tokens):
            return self.head(self.body(tokens))


class tied_through_data:
    """The head's weight.data is the table's, cloned: two parameters that begin alike.

    Named: tied_by_copying
    """

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
            nn.init.normal_(self.tok.weight, std=d_model**-0.5)
            self.register_buffer("pos", sinusoidal_positions(max_len, d_model))
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            self.head = nn.Linear(d_model, vocab_size, bias=False)
            self.head.weight.data = self.tok.weight.data.clone()

        def body(self, tokens):
            x = self.tok(tokens) * self.tok.embedding_dim**0.5 + self.pos[: tokens.size(1)]
            return self.encoder(x, padding_mask(tokens, self.pad_id))

        def forward(self, tokens):
            return self.head(self.body(tokens))


class no_mask_at_all:
    """The encoder is called without a mask.

    Named: padding_read
    """

    class MaskedLM:
        def body(self, tokens):
            h = self.embedding(tokens) * self.scale
            h = h + self.positions[: tokens.shape[1]]
            return self.encoder(self.dropout(h))


class zero_is_padding:
    """Padding is found by tokens > 0.

    Named: pad_id_zero
    """

    class MaskedLM:
        def body(self, tokens):
            h = self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]]
            return self.encoder(self.dropout(h), (tokens > 0)[:, None, None, :])


class causal_too:
    """The mask of a language model that says the next word.

    Named: causal
    """

    class MaskedLM:
        def body(self, tokens):
            T = tokens.shape[1]
            h = self.embedding(tokens) * self.scale + self.positions[:T]
            mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=tokens.device))
            return self.encoder(self.dropout(h), mask & padding_mask(tokens, self.pad_id))


class log_probabilities:
    """log_softmax at the end: the loss takes it once more, and the logits are no products.

    Named: log_probabilities
    """

    class MaskedLM:
        def forward(self, tokens):
            scores = self.body(tokens) @ self.embedding.weight.T + self.bias
            return scores.log_softmax(-1)


class bag_of_words:
    """Positions are made and never added.

    Named: no_positions
    """

    class MaskedLM:
        def body(self, tokens):
            h = self.dropout(self.embedding(tokens) * self.scale)
            return self.encoder(h, padding_mask(tokens, self.pad_id))


class tuple_of_both:
    """forward returns logits and body.

    Named: body_returned_too
    """

    class MaskedLM:
        def forward(self, tokens):
            hidden = self.body(tokens)
            return hidden @ self.embedding.weight.T + self.bias, hidden


class detached_table:
    """The table at the output takes no gradient.

    Named: table_detached
    """

    class MaskedLM:
        def forward(self, tokens):
            with torch.no_grad():
                table = self.embedding.weight.clone()
            return self.body(tokens) @ table.T + self.bias


class chosen_returned_as_bool:
    """The mask of the chosen is returned for the targets.

    Named: mask_returned
    """

    def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
        special = torch.isin(
            tokens, torch.tensor(list(special_ids), dtype=tokens.dtype, device=tokens.device)
        )
        chosen = (torch.rand(tokens.shape, generator=generator).to(tokens.device) < rate) & ~special
        ordinary = torch.tensor(
            [w for w in range(vocab_size) if w not in set(special_ids)], device=tokens.device
        )
        fate = torch.rand(tokens.shape, generator=generator).to(tokens.device)
        words = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator).to(tokens.device)]
        inputs = torch.where(chosen & (fate < 0.8), torch.full_like(tokens, mask_id), tokens)
        inputs = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs)
        return inputs, chosen
