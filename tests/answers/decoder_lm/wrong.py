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


class is_causal_with_a_past:
    """The fused operator is told is_causal, which counts from the first key on.

    Named: mask_top_rows
    """

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.attention.w_o(y.transpose(1, 2).flatten(2)), (k, v)


class causal_without_a_past_only:
    """The fused operator is causal only where there is no cache.

    Named: chunk_not_causal
    """

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            first = past is None
            if not first:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=first)
            return self.attention.w_o(y.transpose(1, 2).flatten(2)), (k, v)


class no_mask_at_all:
    """The given module is called without a mask, its cache being the layer's inputs.

    Named: mask_missing
    """

    class Block:
        def forward(self, x, past):
            h = self.norm1(x)
            seen = h if past is None else torch.cat((past, h), dim=1)
            x = x + self.dropout(self.attention(h, context=seen))
            return x + self.dropout(self.feed_forward(self.norm2(x))), seen

        del _heads, _attend

    class DecoderLM:
        def forward(self, tokens, cache=None):
            start = 0 if cache is None else cache[0].size(1)
            positions = torch.arange(start, start + tokens.size(1), device=tokens.device)
            x = self.dropout(self.token(tokens) + self.position(positions))
            new = []
            for i, block in enumerate(self.blocks):
                x, past = block(x, None if cache is None else cache[i])
                new.append(past)
            return self.head(self.norm(x)), new


class triu_where_tril:
    """Scores above and on the diagonal are kept: the triangle is the wrong one.

    Named: mask_reversed
    """

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            w = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
            T, S = w.shape[-2:]
            mask = torch.triu(torch.ones(T, S, device=x.device), diagonal=S - T) == 1
            w = w.masked_fill(~mask, float("-inf")).softmax(-1)
            return self.attention.w_o((w @ v).transpose(1, 2).flatten(2)), (k, v)


class diagonal_one_late:
    """What is hidden begins two places behind the diagonal.

    Named: mask_shifted_late
    """

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            w = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
            T, S = w.shape[-2:]
            hidden = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(2 + S - T)
            w = w.masked_fill(hidden, float("-inf")).softmax(-1)
            return self.attention.w_o((w @ v).transpose(1, 2).flatten(2)), (k, v)


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


class positions_begin_again:
    """Positions are those of the new tokens alone, by a sliced weight.

    Named: offset_missing
    """

    class DecoderLM:
        def forward(self, tokens, cache=None):
            x = self.dropout(self.token(tokens) + self.position.weight[: tokens.size(1)])
            new = []
            for i, block in enumerate(self.blocks):
                x, past = block(x, cache[i] if cache is not None else None)
                new.append(past)
            return self.head(self.norm(x)), new


class offset_of_the_heads:
    """The length of the past is read off the axis of the heads.

    Named: offset_by_wrong_axis
    """

    class DecoderLM:
        forward = """
            - start = 0 if cache is None else cache[0][0].size(2)
            + start = 0 if cache is None else cache[0][0].size(1)
        """


class cache_joined_along_the_heads:
    """Keys and values are joined along the axis of the heads.

    Named: cache_wrong_axis
    """

    class Block:
        _attend = """
            - k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            + k, v = torch.cat((past[0], k), dim=1), torch.cat((past[1], v), dim=1)
        """


class cache_in_wrong_order:
    """The new keys and values are put before the old ones.

    Named: cache_wrong_order
    """

    class Block:
        _attend = """
            - k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            + k, v = torch.cat((k, past[0]), dim=2), torch.cat((v, past[1]), dim=2)
        """


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


class cache_detached:
    """Keys and values are detached, and then attended to.

    Named: keys_detached
    """

    class Block:
        _attend = """
              q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
            + k, v = k.detach(), v.detach()
        """


class kept_in_self:
    """The model keeps its past itself, and the cache that it returns says only that there is one.

    Named: past_kept_in_layer
    """

    class DecoderLM:
        def forward(self, tokens, cache=None):
            pasts = self.pasts if cache else [None] * len(self.blocks)
            start = self.pasts[0][0].size(2) if cache else 0
            positions = torch.arange(start, start + tokens.size(1), device=tokens.device)
            x = self.dropout(self.token(tokens) + self.position(positions))
            self.pasts = []
            for block, past in zip(self.blocks, pasts):
                x, past = block(x, past)
                self.pasts.append(past)
            return self.head(self.norm(x)), True


class logits_only:
    """forward gives the logits and no cache, as a small GPT's first version.

    Named: logits_alone
    """

    class DecoderLM:
        def forward(self, tokens, cache=None):
            positions = torch.arange(tokens.size(1), device=tokens.device)
            x = self.dropout(self.token(tokens) + self.position(positions))
            for block in self.blocks:
                x, _ = block(x, None)
            return self.head(self.norm(x))


class last_logits_for_speed:
    """In eval mode the head is applied to the last position alone, as a small GPT does for writing.

    Named: last_position_only
    """

    class DecoderLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x)[:, [-1], :]), new
        """


class log_probabilities:
    """The head ends with a log-softmax.

    Named: log_probabilities
    """

    class DecoderLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return F.log_softmax(self.head(self.norm(x)), dim=-1), new
        """


class no_positions:
    """Tokens are embedded without positions.

    Named: positions_missing
    """

    class DecoderLM:
        def forward(self, tokens, cache=None):
            x, new = self.dropout(self.token(tokens)), []
            for i, block in enumerate(self.blocks):
                x, past = block(x, cache[i] if cache is not None else None)
                new.append(past)
            return self.head(self.norm(x)), new


class python_list_of_blocks:
    """The blocks stand in a Python list.

    Named: layers_in_a_list
    """

    class DecoderLM:
        __init__ = """
            - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            + self.blocks = [Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]
        """


class block_repeated:
    """One block is repeated.

    Named: layers_shared
    """

    class DecoderLM:
        __init__ = """
            - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            + block = Block(d_model, num_heads, d_ff, dropout)
            + self.blocks = nn.ModuleList([block for _ in range(num_layers)])
        """


class four_times_as_wide:
    """The network is four times as wide as the stream.

    Named: d_ff_ignored
    """

    class DecoderLM:
        __init__ = """
            - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            + self.blocks = nn.ModuleList([Block(d_model, num_heads, 4 * d_model, dropout) for _ in range(num_layers)])
        """


class dropout_never_made:
    """Dropout is taken and not used.

    Named: dropout_ignored
    """

    class DecoderLM:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout(0.0)
            - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            + self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, 0.0) for _ in range(num_layers)])
        """


class shift_forgotten:
    """Logits and tokens are compared as they stand.

    Named: loss_not_shifted
    """

    def next_token_loss(logits, tokens, pad_id=None):
        B, T, C = logits.shape
        return F.cross_entropy(
            logits.reshape(B * T, C), tokens.reshape(B * T), ignore_index=-1 if pad_id is None else pad_id
        )


class shifted_the_other_way:
    """The first logits and the last tokens are cut off.

    Named: loss_shifted_back
    """

    def next_token_loss(logits, tokens, pad_id=None):
        logp = torch.log_softmax(logits[:, 1:], dim=-1)
        target = tokens[:, :-1]
        nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        keep = torch.ones_like(target, dtype=torch.bool) if pad_id is None else target != pad_id
        return (nll * keep).sum() / keep.sum()


class rolled_targets:
    """The targets are the tokens rolled by one.

    Named: loss_rolled
    """

    def next_token_loss(logits, tokens, pad_id=None):
        targets = tokens.roll(-1, dims=1)
        ignore = -100 if pad_id is None else pad_id
        return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=ignore)


class view_of_a_slice:
    """A slice is viewed flat, which its memory does not allow.

    Named: loss_view_of_slice
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1], tokens[:, 1:]
        return F.cross_entropy(
            scores.view(-1, scores.size(-1)),
            targets.view(-1),
            ignore_index=-100 if pad_id is None else pad_id,
        )


class classes_in_the_last_axis:
    """cross_entropy gets [B, T, V] and [B, T], where it wants the classes second.

    Named: loss_axes_not_flattened
    """

    def next_token_loss(logits, tokens, pad_id=None):
        return F.cross_entropy(logits[:, :-1], tokens[:, 1:], ignore_index=-100 if pad_id is None else pad_id)


class summed_up:
    """The losses are added up.

    Named: loss_summed
    """

    def next_token_loss(logits, tokens, pad_id=None):
        losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
        if pad_id is not None:
            losses = losses[tokens[:, 1:] != pad_id]
        return losses.sum()


class softmax_then_loss:
    """cross_entropy gets probabilities.

    Named: loss_softmax_twice
    """

    def next_token_loss(logits, tokens, pad_id=None):
        probs = logits[:, :-1].softmax(dim=-1).reshape(-1, logits.size(-1))
        return F.cross_entropy(
            probs, tokens[:, 1:].reshape(-1), ignore_index=-100 if pad_id is None else pad_id
        )


class log_after_softmax:
    """The logarithm is taken of the chosen probability.

    Named: loss_log_of_softmax
    """

    def next_token_loss(logits, tokens, pad_id=None):
        p = logits[:, :-1].softmax(dim=-1)
        target = tokens[:, 1:]
        nll = -p.gather(-1, target.unsqueeze(-1)).squeeze(-1).log()
        if pad_id is not None:
            nll = nll[target != pad_id]
        return nll.mean()


class log_of_a_bit_more:
    """The logarithm is taken of the probability and a small number.

    Named: loss_log_clamped
    """

    def next_token_loss(logits, tokens, pad_id=None):
        p = logits[:, :-1].softmax(dim=-1)
        target = tokens[:, 1:]
        nll = -torch.log(p.gather(-1, target.unsqueeze(-1)).squeeze(-1) + 1e-9)
        if pad_id is not None:
            nll = nll[target != pad_id]
        return nll.mean()


class padding_counts:
    """pad_id is taken and never used.

    Named: pad_counted
    """

    def next_token_loss(logits, tokens, pad_id=None):
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = tokens[..., 1:].contiguous()
        return F.cross_entropy(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))


class divided_by_all_targets:
    """The losses of real targets are added up and divided by the number of all.

    Named: pad_divided_by_all
    """

    def next_token_loss(logits, tokens, pad_id=None):
        losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
        if pad_id is not None:
            losses = losses * (tokens[:, 1:] != pad_id)
        return losses.mean()


class zero_is_false:
    """pad_id is asked for its truth.

    Named: pad_zero_counted
    """

    def next_token_loss(logits, tokens, pad_id=None):
        losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
        if pad_id:
            losses = losses[tokens[:, 1:] != pad_id]
        return losses.mean()


class inputs_masked:
    """Positions are left out by the token that they read.

    Named: pad_by_input
    """

    def next_token_loss(logits, tokens, pad_id=None):
        losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
        keep = torch.ones_like(losses) if pad_id is None else (tokens[:, :-1] != pad_id).to(losses.dtype)
        return (losses * keep).sum() / keep.sum()


class number_returned:
    """The loss is a Python number.

    Named: loss_detached, loss_float32
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        ignore = -100 if pad_id is None else pad_id
        return torch.tensor(F.cross_entropy(scores, targets, ignore_index=ignore).item())


class never_eval:
    """Writing without a cache never switches to eval mode.

    Named: never_in_eval
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        idx = prompt
        done = torch.zeros(len(idx), dtype=torch.bool, device=idx.device)
        for _ in range(max_new_tokens):
            logits, _ = model(idx)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                idx_next = idx_next.masked_fill(done, eos_id)
                done = done | (idx_next == eos_id)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
            if done.all():
                break
        return idx


class eval_for_good:
    """The model is put into eval mode and left in it.

    Named: left_in_eval
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        model.eval()
        idx = prompt
        done = torch.zeros(len(idx), dtype=torch.bool, device=idx.device)
        for _ in range(max_new_tokens):
            logits, _ = model(idx)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                idx_next = idx_next.masked_fill(done, eos_id)
                done = done | (idx_next == eos_id)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
            if done.all():
                break
        return idx


class train_at_the_end:
    """The model is put into train mode at the end, whatever it was.

    Named: left_in_train
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        model.eval()
        idx = prompt
        done = torch.zeros(len(idx), dtype=torch.bool, device=idx.device)
        for _ in range(max_new_tokens):
            logits, _ = model(idx)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                idx_next = idx_next.masked_fill(done, eos_id)
                done = done | (idx_next == eos_id)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
            if done.all():
                break
        model.train()
        return idx


class window_of_the_prompt:
    """Only as many tokens as the prompt had are fed again.

    Named: window_of_prompt
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        idx = prompt
        done = torch.zeros(len(idx), dtype=torch.bool, device=idx.device)
        for _ in range(max_new_tokens):
            logits, _ = model(idx[:, -prompt.size(1) :])
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                idx_next = idx_next.masked_fill(done, eos_id)
                done = done | (idx_next == eos_id)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
            if done.all():
                break
        model.train(training)
        return idx


class new_ones_alone:
    """What is returned begins after the prompt.

    Named: new_tokens_only
    """

    generate = """
        - return tokens
        + return tokens[:, prompt.size(1) :]
    """


class first_row_decides_the_end:
    """Writing ends when any row has ended.

    Named: eos_stops_all
    """

    generate = """
        - if ended.all():
        + if ended.any():
    """


class ended_rows_write_on:
    """It stops when all have ended, and rows that have ended are not filled.

    Named: eos_rows_go_on
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        idx = prompt
        done = torch.zeros(len(idx), dtype=torch.bool, device=idx.device)
        for _ in range(max_new_tokens):
            logits, _ = model(idx)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
            if eos_id is not None:
                done = done | (idx_next == eos_id)
                if done.all():
                    break
        model.train(training)
        return idx


class eos_never_asked:
    """eos_id is taken and not used, with a cache.

    Named: eos_ignored
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        idx, new, past = prompt, prompt, None
        for _ in range(max_new_tokens):
            logits, past = model(new, past)
            new = _choose(logits[:, -1, :], temperature, top_k, generator)[:, None]
            idx = torch.cat((idx, new), dim=1)
        model.train(training)
        return idx


class item_of_the_batch:
    """The end is asked of a single row, by .item().

    Named: eos_of_one_row
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        idx = prompt
        for _ in range(max_new_tokens):
            logits, _ = model(idx)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
            if eos_id is not None and idx_next.item() == eos_id:
                break
        model.train(training)
        return idx


class divided_by_zero:
    """Logits are divided before the temperature is looked at, and always drawn from.

    Named: greedy_divides
    """

    def _choose(logits, temperature, top_k, generator):
        logits = logits / temperature
        if top_k is not None:
            v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
            logits[logits < v[:, [-1]]] = -float("inf")
        return torch.multinomial(F.softmax(logits, dim=-1), 1, generator=generator).squeeze(1)


class top_k_beyond_the_vocabulary:
    """top_k is not held below V.

    Named: top_k_too_large
    """

    def _choose(logits, temperature, top_k, generator):
        if temperature == 0:
            return torch.argmax(logits, dim=-1)
        logits = logits / temperature
        if top_k is not None:
            v, _ = torch.topk(logits, top_k)
            logits = torch.where(logits < v[..., -1:], torch.tensor(float("-inf")), logits)
        return torch.multinomial(F.softmax(logits, dim=-1), 1, generator=generator).squeeze(1)


class global_chance:
    """multinomial is not given the generator.

    Named: generator_ignored
    """

    def _choose(logits, temperature, top_k, generator):
        if temperature == 0:
            return torch.argmax(logits, dim=-1)
        k = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
        values, ids = torch.topk(logits, k)
        drawn = torch.multinomial(torch.softmax(values / temperature, dim=-1), num_samples=1)
        return ids.gather(-1, drawn).squeeze(-1)


class hot_where_cold:
    """The logits are multiplied by the temperature.

    Named: temperature_multiplied
    """

    def _choose(logits, temperature, top_k, generator):
        if temperature == 0:
            return torch.argmax(logits, dim=-1)
        scores = logits * temperature
        if top_k is not None:
            v, _ = torch.topk(scores, min(top_k, scores.size(-1)))
            scores = scores.masked_fill(scores < v[:, -1:], float("-inf"))
        return torch.multinomial(scores.softmax(-1), 1, generator=generator)[:, 0]


class probabilities_zeroed_without_scale:
    """Top k is taken of the temperature's probabilities before the temperature acts.

    Named: temperature_ignored
    """

    def _choose(logits, temperature, top_k, generator):
        if temperature == 0:
            return torch.argmax(logits, dim=-1)
        probs = logits.softmax(-1)
        if top_k is not None:
            v, _ = torch.topk(probs, min(top_k, probs.size(-1)))
            probs = torch.where(probs < v[:, -1:], 0.0, probs)
        return torch.multinomial(probs, 1, generator=generator)[:, 0]


class greedy_in_any_case:
    """The temperature scales logits of which the best is taken.

    Named: always_greedy
    """

    def _choose(logits, temperature, top_k, generator):
        if temperature > 0:
            logits = logits / temperature
        return logits.argmax(-1)


class axis_not_added:
    """The new tokens are joined to the text without an axis of their own.

    Named: new_tokens_without_axis
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        idx = prompt
        for _ in range(max_new_tokens):
            logits, _ = model(idx)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                ended = (idx[:, prompt.size(1) :] == eos_id).any(1)
                idx_next = idx_next.masked_fill(ended, eos_id)
            idx = torch.cat((idx, idx_next), dim=1)
        model.train(training)
        return idx


class tuple_not_unpacked:
    """generate takes what the model gives for logits, as if there were no cache.

    Named: model_output_not_unpacked
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        idx = prompt
        for _ in range(max_new_tokens):
            logits = model(idx)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                ended = (idx[:, prompt.size(1) :] == eos_id).any(1)
                idx_next = idx_next.masked_fill(ended, eos_id)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
        model.train(training)
        return idx


class fed_whole_with_the_cache:
    """The whole text is fed each time, together with the cache.

    Named: text_fed_twice
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        idx, past = prompt, None
        for _ in range(max_new_tokens):
            logits, past = model(idx, past)
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                ended = (idx[:, prompt.size(1) :] == eos_id).any(1)
                idx_next = idx_next.masked_fill(ended, eos_id)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
        model.train(training)
        return idx


class first_cache_for_ever:
    """The prompt's cache is handed back with each single token.

    Named: cache_never_renewed
    """

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        logits, past = model(prompt)
        idx = prompt
        for _ in range(max_new_tokens):
            idx_next = _choose(logits[:, -1, :], temperature, top_k, generator)
            if eos_id is not None:
                ended = (idx[:, prompt.size(1) :] == eos_id).any(1)
                idx_next = idx_next.masked_fill(ended, eos_id)
            idx = torch.cat((idx, idx_next[:, None]), dim=1)
            logits, _ = model(idx_next[:, None], past)
        model.train(training)
        return idx
