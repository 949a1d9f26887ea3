"""Words hidden and found again as it goes wrong for other people."""


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


class bag_of_words:
    """Positions are made and never added.

    Named: no_positions
    """

    class MaskedLM:
        def body(self, tokens):
            h = self.dropout(self.embedding(tokens) * self.scale)
            return self.encoder(h, padding_mask(tokens, self.pad_id))


class detached_table:
    """The table at the output takes no gradient.

    Named: table_detached
    """

    class MaskedLM:
        def forward(self, tokens):
            with torch.no_grad():
                table = self.embedding.weight.clone()
            return self.body(tokens) @ table.T + self.bias
