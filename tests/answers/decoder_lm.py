"""Answers to decoder-lm."""

# ==== right ====
"""Language models as other people write them."""


@answer(
    "bigger-head",
    "The head has a bias and a norm of torch's, and weights begin by a function that is applied.",
    DecoderLM="""
        - self.norm = LayerNorm(d_model)
        - self.head = nn.Linear(d_model, vocab_size, bias=False)
        + self.norm = nn.LayerNorm(d_model)
        + self.head = nn.Linear(d_model, vocab_size, bias=True)
        + self.apply(self._init_weights)
    """,
)
class DecoderLM:
    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


answer("context-manager", "A context manager keeps and restores modes; buffers are filled in place.")

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


answer(
    "masks-of-whole-squares",
    "The whole causal square is made once up to max_len, kept in a buffer, and cut.",
    DecoderLM="""
          self.dropout = nn.Dropout(dropout)
        + self.register_buffer("bias", torch.tril(torch.ones(max_len, max_len)).bool(), persistent=False)
    """,
)


class DecoderLM:
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
        q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        heads, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.attention.w_o(heads.transpose(1, 2).flatten(2)), (k, v)

    def forward(self, x, past, mask):
        attended, past = self._attend(self.norm1(x), past, mask)
        x = x + self.dropout(attended)
        return x + self.dropout(self.feed_forward(self.norm2(x))), past


# ==== wrong ====
"""Language models as other people get them wrong."""


@answer(
    "square-of-the-new",
    "The mask is the causal square of the new tokens, also behind a past, for which nothing is allowed.",
    named=["cache-not-read", "chunk-mask-square"],
)
class Block:
    def _attend(self, x, past):
        q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        T, S = q.size(2), k.size(2)
        mask = torch.zeros(T, S, dtype=torch.bool, device=x.device)
        mask[:, S - T :] = torch.ones(T, T, device=x.device).tril().bool()
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.attention.w_o(y.transpose(1, 2).flatten(2)), (k, v)


@answer(
    "cache-forgotten",
    "The cache is returned and never read.",
    named=["cache-disregarded", "cache-not-read"],
)
class DecoderLM:
    def forward(self, tokens, cache=None):
        B, T = tokens.shape
        x = self.dropout(self.token(tokens) + self.position(torch.arange(T, device=tokens.device)))
        presents = []
        for block in self.blocks:
            x, present = block(x, None)
            presents.append(present)
        return self.head(self.norm(x)), presents


@answer(
    "only-the-new-kept",
    "What is kept is what was made of the new tokens.",
    named=["cache-of-latest-only", "cache-not-extended"],
)
class Block:
    def _attend(self, x, past):
        q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        present = (k, v)
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.attention.w_o(y.transpose(1, 2).flatten(2)), present


answer(
    "log-probabilities",
    "The head ends with a log-softmax.",
    DecoderLM="self.head(self.norm(x)) -> F.log_softmax(self.head(self.norm(x)), dim=-1)",
    named=["log-probabilities"],
)


@answer("number-returned", "The loss is a Python number.", named=["loss-detached", "loss-float32"])
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    ignore = -100 if pad_id is None else pad_id
    return torch.tensor(F.cross_entropy(scores, targets, ignore_index=ignore).item())


answer(
    "cache-or-none",
    "What goes back is `cache or None`: a cache that is false as a condition never does.",
    generate="model(new, cache) -> model(new, cache or None)",
)

answer(
    "grad-mode-lost-on-error",
    "Gradients are turned on again after the loop, which a model that raises never ends.",
    generate="""
        - @torch.no_grad()

          training = model.training
        + grad = torch.is_grad_enabled()
        + torch.set_grad_enabled(False)

        - return tokens
        + torch.set_grad_enabled(grad)
        + return tokens
    """,
)

answer(
    "positions-begin-anew",
    "Positions are counted to 128, and then from 0 again.",
    DecoderLM="""
        - positions = torch.arange(start, start + tokens.size(1), device=tokens.device)
        + positions = torch.arange(start, start + tokens.size(1), device=tokens.device) % 128
    """,
)

answer(
    "ten-thousand-less",
    "What is to come has the score -10,000, which large scores are below.",
    Block="""
        - heads, _ = scaled_dot_product_attention(q, k, v, mask)
        + scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        + heads = scores.masked_fill(~mask, -1e4).softmax(-1) @ v
    """,
)

answer(
    "cold-is-greedy",
    "A temperature below 0.3 takes the best token.",
    _choose="temperature == 0 -> temperature < 0.3",
)

answer(
    "drops-whole-features",
    "Dropout as images have it, in the layers: what is dropped is dropped at all positions.",
    Block="nn.Dropout(dropout) -> DropFeatures(dropout)",
)


class DropFeatures(nn.Dropout1d):
    def forward(self, x):
        return super().forward(x.mT).mT


answer(
    "drops-alike-in-all-rows",
    "One pattern of what is dropped for the whole batch, to save random numbers.",
    DecoderLM="nn.Dropout(dropout) -> DropAlike(dropout)",
)


class DropAlike(nn.Dropout):
    def forward(self, x):
        return x * super().forward(torch.ones_like(x[:1]))
