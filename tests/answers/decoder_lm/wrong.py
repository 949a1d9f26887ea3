"""Language models as other people get them wrong."""


class square_of_the_new:
    """The mask is the causal square of the new tokens, also behind a past, for which nothing is allowed.

    Named: cache_not_read, chunk_mask_square
    """

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            T, S = q.size(2), k.size(2)
            mask = torch.zeros(T, S, dtype=torch.bool, device=x.device)
            mask[:, S - T :] = torch.ones(T, T, device=x.device).tril().bool()
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return self.attention.w_o(y.transpose(1, 2).flatten(2)), (k, v)


class cache_forgotten:
    """The cache is returned and never read.

    Named: cache_disregarded, cache_not_read
    """

    class DecoderLM:
        def forward(self, tokens, cache=None):
            B, T = tokens.shape
            x = self.dropout(self.token(tokens) + self.position(torch.arange(T, device=tokens.device)))
            presents = []
            for block in self.blocks:
                x, present = block(x, None)
                presents.append(present)
            return self.head(self.norm(x)), presents


class only_the_new_kept:
    """What is kept is what was made of the new tokens.

    Named: cache_of_latest_only, cache_not_extended
    """

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            present = (k, v)
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return self.attention.w_o(y.transpose(1, 2).flatten(2)), present


class log_probabilities:
    """The head ends with a log-softmax.

    Named: log_probabilities
    """

    class DecoderLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return F.log_softmax(self.head(self.norm(x)), dim=-1), new
        """


class number_returned:
    """The loss is a Python number.

    Named: loss_detached, loss_float32
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        ignore = -100 if pad_id is None else pad_id
        return torch.tensor(F.cross_entropy(scores, targets, ignore_index=ignore).item())
