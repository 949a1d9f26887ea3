"""Language models as other people write them."""


class small_gpt:
    """A small GPT: one projection for queries, keys and values, a fused operator, tied embeddings."""

    class CausalSelfAttention(nn.Module):
        def __init__(self, n_embd, n_head, dropout):
            super().__init__()
            self.c_attn = nn.Linear(n_embd, 3 * n_embd)
            self.c_proj = nn.Linear(n_embd, n_embd)
            self.resid_dropout = nn.Dropout(dropout)
            self.n_head, self.n_embd = n_head, n_embd

        def forward(self, x, past):
            B, T, C = x.size()
            q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
            q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
            if past is not None:
                k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
            S = k.size(2)
            allowed = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(diagonal=S - T)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
            y = y.transpose(1, 2).contiguous().view(B, T, C)
            return self.resid_dropout(self.c_proj(y)), (k, v)

    class Block(nn.Module):
        def __init__(self, n_embd, n_head, n_inner, dropout):
            super().__init__()
            self.ln_1 = nn.LayerNorm(n_embd)
            self.attn = CausalSelfAttention(n_embd, n_head, dropout)
            self.ln_2 = nn.LayerNorm(n_embd)
            self.mlp = nn.Sequential(
                nn.Linear(n_embd, n_inner), nn.GELU(), nn.Linear(n_inner, n_embd), nn.Dropout(dropout)
            )

        def forward(self, x, past=None):
            a, present = self.attn(self.ln_1(x), past)
            x = x + a
            return x + self.mlp(self.ln_2(x)), present

        del _heads, _attend

    class DecoderLM:
        def __init__(
            self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128, dropout=0.0
        ):
            super().__init__()
            self.transformer = nn.ModuleDict(
                dict(
                    wte=nn.Embedding(vocab_size, d_model),
                    wpe=nn.Embedding(max_len, d_model),
                    drop=nn.Dropout(dropout),
                    h=nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]),
                    ln_f=nn.LayerNorm(d_model),
                )
            )
            self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
            self.transformer.wte.weight = self.lm_head.weight
            nn.init.normal_(self.lm_head.weight, std=0.02)

        def forward(self, idx, cache=None):
            t = idx.size(1)
            past_length = 0 if cache is None else cache[0][0].size(-2)
            pos = torch.arange(past_length, past_length + t, dtype=torch.long, device=idx.device)
            x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
            presents = []
            for i, block in enumerate(self.transformer.h):
                x, present = block(x, None if cache is None else cache[i])
                presents.append(present)
            return self.lm_head(self.transformer.ln_f(x)), tuple(presents)


class text_as_cache:
    """The cache is the text itself, and everything is computed anew."""

    class DecoderLM:
        def forward(self, tokens, cache=None):
            text = tokens if cache is None else torch.cat([cache, tokens], dim=1)
            x = self.dropout(self.token(text) + self.position.weight[: text.size(1)])
            for block in self.blocks:
                x, _ = block(x, None)
            return self.head(self.norm(x))[:, -tokens.size(1) :], text


class given_blocks_with_context:
    """Attention is the given module called with a context: the cache keeps each layer's normalised inputs."""

    class Block:
        def forward(self, x, past):
            h = self.norm1(x)
            seen = h if past is None else torch.cat((past, h), dim=1)
            mask = causal_mask(seen.size(1), device=x.device)[-x.size(1) :]
            x = x + self.dropout(self.attention(h, mask, context=seen))
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
            return x, seen

        del _heads, _attend

    class DecoderLM:
        def forward(self, tokens, cache=None):
            start = 0 if cache is None else cache[0].size(1)
            positions = torch.arange(start, start + tokens.size(1), device=tokens.device)
            x = self.dropout(self.token(tokens) + self.position(positions))
            new = {}
            for i, block in enumerate(self.blocks):
                x, new[i] = block(x, None if cache is None else cache[i])
            return self.head(self.norm(x)), new


class llama_like:
    """Rotary positions, root-mean-square norms in float32, a gated network, no biases, and a cache as an object."""

    class KVCache:
        def __init__(self, layers):
            self.k = [None] * layers
            self.v = [None] * layers
            self.length = 0

        def copy(self):
            other = KVCache(len(self.k))
            other.k, other.v, other.length = list(self.k), list(self.v), self.length
            return other

    class RMSNorm(nn.Module):
        def __init__(self, dim, eps=1e-6):
            super().__init__()
            self.eps = eps
            self.weight = nn.Parameter(torch.ones(dim))

        def forward(self, x):
            y = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
            return y.type_as(x) * self.weight

    def rotary(x, start):
        T, half = x.shape[-2], x.shape[-1] // 2
        freqs = 10000.0 ** (-torch.arange(half, device=x.device) / max(half, 1))
        angles = torch.outer(torch.arange(start, start + T, device=x.device), freqs)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
        return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], dim=-1)

    class Block(nn.Module):
        def __init__(self, dim, heads, inner, dropout):
            super().__init__()
            self.heads = heads
            self.attention_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)
            self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
            self.w1, self.w3 = nn.Linear(dim, inner, bias=False), nn.Linear(dim, inner, bias=False)
            self.w2 = nn.Linear(inner, dim, bias=False)
            self.drop = nn.Dropout(dropout)

        def forward(self, x, index, cache):
            h = self.attention_norm(x)
            q, k, v = (
                w(h).unflatten(-1, (self.heads, -1)).transpose(1, 2) for w in (self.wq, self.wk, self.wv)
            )
            q, k = rotary(q, cache.length), rotary(k, cache.length)
            if cache.k[index] is not None:
                k, v = torch.cat([cache.k[index], k], 2), torch.cat([cache.v[index], v], 2)
            cache.k[index], cache.v[index] = k, v
            scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
            hidden = torch.full((q.size(2), k.size(2)), float("-inf"), device=x.device, dtype=x.dtype)
            scores = scores + hidden.triu(1 + k.size(2) - q.size(2))
            out = F.softmax(scores.float(), dim=-1).type_as(q) @ v
            x = x + self.drop(self.wo(out.transpose(1, 2).flatten(2)))
            h = self.ffn_norm(x)
            return x + self.drop(self.w2(F.silu(self.w1(h)) * self.w3(h)))

        del _heads, _attend

    class DecoderLM:
        def __init__(
            self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128, dropout=0.0
        ):
            super().__init__()
            self.tok_embeddings = nn.Embedding(vocab_size, d_model)
            self.layers = nn.ModuleList(Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
            self.norm = RMSNorm(d_model)
            self.output = nn.Linear(d_model, vocab_size, bias=False)

        def forward(self, tokens, cache=None):
            cache = KVCache(len(self.layers)) if cache is None else cache.copy()
            h = self.tok_embeddings(tokens)
            for index, layer in enumerate(self.layers):
                h = layer(h, index, cache)
            cache.length += tokens.size(1)
            return self.output(self.norm(h)), cache


class sinusoids_and_stacked_cache:
    """Sinusoids in a buffer, and a cache that is one tensor of all layers' keys and values."""

    from blocks import sinusoidal_positions

    class DecoderLM:
        __init__ = """
            - self.position = nn.Embedding(max_len, d_model)
            + self.register_buffer("pe", sinusoidal_positions(max_len, d_model), persistent=False)

            - for embedding in (self.token, self.position):
            -     nn.init.normal_(embedding.weight, std=0.02)
            + nn.init.normal_(self.token.weight, std=0.02)
        """

        def forward(self, tokens, cache=None):
            T = tokens.shape[-1]
            S = cache.shape[-2] if cache is not None else 0
            x = self.dropout(self.token(tokens) * self.token.embedding_dim**0.5 + self.pe[S : S + T])
            kept = []
            for i, block in enumerate(self.blocks):
                x, (k, v) = block(x, None if cache is None else (cache[i, 0], cache[i, 1]))
                kept.append(torch.stack((k, v)))
            return self.head(self.norm(x)), torch.stack(kept)


class bigger_head:
    """The head has a bias and a norm of torch's, and weights begin by a function that is applied."""

    class DecoderLM:
        __init__ = """
            - self.norm = LayerNorm(d_model)
            - self.head = nn.Linear(d_model, vocab_size, bias=False)
            + self.norm = nn.LayerNorm(d_model)
            + self.head = nn.Linear(d_model, vocab_size, bias=True)
            + self.apply(self._init_weights)
        """

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


class attention_scores_masked:
    """Scores are filled with the dtype's least number where a key is later than the query."""

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            w = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
            nd, ns = w.size(-2), w.size(-1)
            i = torch.arange(nd, device=x.device)[:, None] + ns - nd
            j = torch.arange(ns, device=x.device)[None, :]
            w = w.masked_fill(i < j, torch.finfo(w.dtype).min).softmax(dim=-1)
            y = torch.einsum("bhqk,bhkd->bqhd", w, v).reshape(x.shape)
            return self.attention.w_o(y), (k, v)


class views_in_the_loss:
    """Shifted logits and labels are made contiguous and viewed flat, as a well-known library has it."""

    def next_token_loss(logits, tokens, pad_id=None):
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = tokens[..., 1:].contiguous()
        loss_fct = nn.CrossEntropyLoss(ignore_index=-100 if pad_id is None else pad_id)
        return loss_fct(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))


class gathered_log_probabilities:
    """The loss gathers log-probabilities and averages them by a mask."""

    def next_token_loss(logits, tokens, pad_id=None):
        logp = torch.log_softmax(logits[:, :-1], dim=-1)
        target = tokens[:, 1:]
        nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        keep = torch.ones_like(target, dtype=torch.bool) if pad_id is None else target != pad_id
        return (nll * keep).sum() / keep.sum()


class chosen_targets:
    """The loss indexes with the targets that count, after a transposed cross-entropy without reduction."""

    def next_token_loss(logits, tokens, pad_id=None):
        losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
        if pad_id is not None:
            losses = losses[tokens[:, 1:] != pad_id]
        return losses.mean()


class log_sum_exp:
    """The loss is log-sum-exp minus the target's score."""

    def next_token_loss(logits, tokens, pad_id=None):
        scores, y = logits[:, :-1], tokens[:, 1:]
        surprise = scores.logsumexp(dim=-1) - torch.take_along_dim(scores, y[..., None], dim=-1)[..., 0]
        if pad_id is None:
            return surprise.mean()
        weight = (y != pad_id).to(surprise.dtype)
        return (surprise * weight).sum() / weight.sum()


class ignored_by_minus_100:
    """Targets that do not count become -100, in a copy."""

    def next_token_loss(logits, tokens, pad_id=None):
        labels = tokens.clone()
        if pad_id is not None:
            labels[labels == pad_id] = -100
        return F.cross_entropy(logits[:, :-1, :].reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1))


class target_left_without:
    """The last column of targets is set to be ignored instead of cutting the last logits off."""

    def next_token_loss(logits, tokens, pad_id=None):
        target = torch.full_like(tokens, -100)
        target[:, :-1] = tokens[:, 1:]
        if pad_id is not None:
            target = target.masked_fill(target == pad_id, -100)
        return F.nll_loss(F.log_softmax(logits, -1).flatten(0, 1), target.flatten())


class without_a_cache:
    """Writing reads everything anew for each token, in a try with a finally."""

    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                out = prompt.clone()
                done = torch.zeros(out.size(0), dtype=torch.bool, device=out.device)
                for _ in range(max_new_tokens):
                    logits = model(out)[0][:, -1, :]
                    if temperature == 0.0:
                        nxt = logits.argmax(-1)
                    else:
                        logits = logits / temperature
                        if top_k is not None:
                            v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                            logits[logits < v[:, [-1]]] = -float("inf")
                        probs = F.softmax(logits, dim=-1)
                        nxt = torch.multinomial(probs, num_samples=1, generator=generator).squeeze(-1)
                    if eos_id is not None:
                        nxt = torch.where(done, torch.full_like(nxt, eos_id), nxt)
                        done |= nxt == eos_id
                    out = torch.cat([out, nxt.unsqueeze(-1)], dim=-1)
                    if eos_id is not None and bool(done.all()):
                        break
                return out
        finally:
            model.train(was_training)


class prefill_and_decode:
    """The prompt is read once, then one token at a time, under inference of gradients switched off."""

    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.train(False)
        pieces = [prompt]
        with torch.no_grad():
            unfinished = prompt.new_ones(prompt.size(0))
            logits, past = model(prompt) if max_new_tokens > 0 else (None, None)
            for step in range(max_new_tokens):
                token = pick(logits[:, -1], temperature, top_k, generator)
                if eos_id is not None:
                    token = token * unfinished[:, None] + eos_id * (1 - unfinished[:, None])
                    unfinished = unfinished * (token[:, 0] != eos_id).long()
                pieces.append(token)
                if unfinished.max() == 0 or step == max_new_tokens - 1:
                    break
                logits, past = model(token, past)
        model.train(training)
        return torch.cat(pieces, dim=1)

    def pick(logits, temperature, top_k, generator):
        if not temperature:
            return torch.argmax(logits, dim=-1, keepdim=True)
        if top_k is not None and top_k < logits.size(-1):
            values, indices = logits.topk(top_k, dim=-1)
            logits = torch.full_like(logits, float("-inf")).scatter(-1, indices, values)
        return torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)

    del _choose


class context_manager:
    """A context manager keeps and restores modes; buffers are filled in place."""

    from contextlib import contextmanager

    @contextmanager
    def evaluating(model):
        modes = [(m, m.training) for m in model.modules()]
        model.eval()
        try:
            with torch.no_grad():
                yield model
        finally:
            for module, mode in modes:
                module.training = mode

    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        B, T = prompt.shape
        text = torch.cat([prompt, prompt.new_zeros(B, max_new_tokens)], dim=1)
        finished = torch.zeros(B, dtype=torch.bool, device=prompt.device)
        cache, end = None, T
        with evaluating(model):
            for t in range(T, T + max_new_tokens):
                logits, cache = model(text[:, t - 1 : t] if cache is not None else text[:, :T], cache)
                chosen = _choose(logits[:, -1], temperature, top_k, generator)
                if eos_id is not None:
                    chosen = torch.where(finished, eos_id, chosen)
                    finished = finished.logical_or(chosen.eq(eos_id))
                text[:, t] = chosen
                end = t + 1
                if finished.all():
                    break
        return text[:, :end]


class never_stops_early:
    """Writing goes on to the end, though all rows have ended."""

    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        mode = model.training
        model.eval()
        grad = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
        try:
            ids, cache, fresh = prompt, None, prompt
            for _ in range(max_new_tokens):
                logits, cache = model(fresh, cache)
                fresh = _choose(logits[:, -1, :], temperature, top_k, generator)
                if eos_id is not None:
                    ended = (ids[:, prompt.size(1) :] == eos_id).any(dim=1)
                    fresh[ended] = eos_id
                fresh = fresh[:, None]
                ids = torch.cat((ids, fresh), dim=1)
            return ids
        finally:
            torch.set_grad_enabled(grad)
            model.train(mode)


class gumbel_free_sampling:
    """Tokens are drawn by the cumulative distribution and one uniform number a row."""

    def _choose(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.max(dim=-1).indices
        logits = logits.double() / temperature
        if top_k is not None:
            order = logits.argsort(dim=-1, descending=True)
            keep = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, order[:, :top_k], True)
            logits = torch.where(keep, logits, -torch.inf)
        cumulative = logits.softmax(-1).cumsum(-1)
        u = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64, device=logits.device)
        return (
            torch.searchsorted(cumulative, u * cumulative[:, -1:], right=True)
            .squeeze(1)
            .clamp(max=logits.size(-1) - 1)
        )


class sorted_top_k:
    """Top k draws among the sorted values and maps back to tokens."""

    def _choose(logits, temperature, top_k, generator):
        if temperature == 0:
            return torch.argmax(logits, -1)
        k = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
        values, ids = torch.topk(logits, k)
        probabilities = torch.softmax(values / temperature, dim=-1)
        drawn = torch.multinomial(probabilities, num_samples=1, generator=generator)
        return ids.gather(-1, drawn).squeeze(-1)


class step_by_step_class:
    """A class holds the state of writing, and the layers are post-norm."""

    class Writer:
        def __init__(self, model, choose):
            self.model, self.choose, self.cache = model, choose, None

        def step(self, new):
            logits, self.cache = self.model(new, self.cache)
            return self.choose(logits[:, -1])

    @torch.no_grad()
    def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
        training = model.training
        model.eval()
        writer = Writer(model, lambda scores: _choose(scores, temperature, top_k, generator))
        rows, latest = [prompt], prompt
        alive = torch.ones(prompt.shape[0], 1, dtype=torch.bool, device=prompt.device)
        while len(rows) <= max_new_tokens and alive.any():
            latest = writer.step(latest).unsqueeze(1)
            if eos_id is not None:
                latest = torch.where(alive, latest, eos_id)
                alive = alive & (latest != eos_id)
            rows.append(latest)
        model.train(training)
        return torch.hstack(rows)

    class Block:
        def forward(self, x, past):
            attended, past = self._attend(x, past)
            x = self.norm1(x + self.dropout(attended))
            return self.norm2(x + self.dropout(self.feed_forward(x))), past


class parallel_block:
    """Attention and the network read one norm, side by side, as some large models have it."""

    class Block:
        def forward(self, x, past):
            attended, past = self._attend(self.norm1(x), past)
            return x + self.dropout(attended) + self.dropout(self.feed_forward(self.norm2(x))), past


class linear_bias:
    """Positions are a bias on the scores that grows with the distance, a slope for each head."""

    class Block:
        def _attend(self, x, past):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            H, T, S = q.size(1), q.size(2), k.size(2)
            slopes = 2.0 ** (-8 * torch.arange(1, H + 1, device=x.device) / H)
            away = torch.arange(S, device=x.device) - torch.arange(S - T, S, device=x.device)[:, None]
            bias = (slopes[:, None, None] * away).masked_fill(away > 0, float("-inf")).to(q.dtype)
            y = (q @ k.mT / q.size(-1) ** 0.5 + bias).softmax(-1) @ v
            return self.attention.w_o(y.transpose(1, 2).flatten(2)), (k, v)

    class DecoderLM:
        __init__ = """
            - self.position = nn.Embedding(max_len, d_model)

            - for embedding in (self.token, self.position):
            -     nn.init.normal_(embedding.weight, std=0.02)
            + nn.init.normal_(self.token.weight, std=0.02)
        """

        def forward(self, tokens, cache=None):
            x, new = self.dropout(self.token(tokens)), []
            for i, block in enumerate(self.blocks):
                x, past = block(x, cache[i] if cache else None)
                new.append(past)
            return self.head(self.norm(x)), new


class masks_of_whole_squares:
    """The whole causal square is made once up to max_len, kept in a buffer, and cut."""

    class DecoderLM:
        __init__ = """
              self.dropout = nn.Dropout(dropout)
            + self.register_buffer("bias", torch.tril(torch.ones(max_len, max_len)).bool(), persistent=False)
        """

        def forward(self, tokens, cache=None):
            start = 0 if cache is None else cache[0][0].size(2)
            end = start + tokens.size(1)
            x = self.dropout(self.token(tokens) + self.position.weight[start:end])
            new = []
            for i, block in enumerate(self.blocks):
                x, past = block(x, None if cache is None else cache[i], self.bias[start:end, :end])
                new.append(past)
            return self.head(self.norm(x)), new

    class Block:
        def _attend(self, x, past, mask):
            q, k, v = (
                self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            if past is not None:
                k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            heads, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.attention.w_o(heads.transpose(1, 2).flatten(2)), (k, v)

        def forward(self, x, past, mask):
            attended, past = self._attend(self.norm1(x), past, mask)
            x = x + self.dropout(attended)
            return x + self.dropout(self.feed_forward(self.norm2(x))), past


class loss_by_rows:
    """The loss is added up row by row and divided at the end."""

    def next_token_loss(logits, tokens, pad_id=None):
        total, count = logits.new_zeros(()), 0
        for scores, row in zip(logits, tokens):
            targets = row[1:]
            keep = torch.ones_like(targets).bool() if pad_id is None else targets.ne(pad_id)
            total = total + F.cross_entropy(scores[:-1][keep], targets[keep], reduction="sum")
            count += int(keep.sum())
        return total / count
