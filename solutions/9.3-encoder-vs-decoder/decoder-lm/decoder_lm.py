"""A decoder-only language model: read the past, score the next token, write, remember keys and values.

B batch, H heads, T length, D = d_model, V the size of the vocabulary.
References: Radford et al. 2019 (GPT-2); Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.3.
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention, causal_mask, scaled_dot_product_attention
from torch import Tensor, nn
from torch.nn import functional as F

Past = tuple[Tensor, Tensor]
"""Keys and values of one layer, each [B, H, T so far, D / H]."""


class Block(nn.Module):
    """Causal attention that can go on from a past, then a feed-forward network; both pre-norm."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.norm1 = LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm2 = LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, "gelu", dropout)
        self.dropout = nn.Dropout(dropout)

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.attention.num_heads, -1)).transpose(1, 2)  # [B, H, T, D / H]

    def _attend(self, x: Tensor, past: Past | None) -> tuple[Tensor, Past]:
        q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        # The new queries are the last rows of the square: all of the past, and the new up to themselves.
        mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
        heads, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.attention.w_o(heads.transpose(1, 2).flatten(2)), (k, v)

    def forward(self, x: Tensor, past: Past | None) -> tuple[Tensor, Past]:
        attended, past = self._attend(self.norm1(x), past)
        x = x + self.dropout(attended)
        x = x + self.dropout(self.feed_forward(self.norm2(x)))
        return x, past


class DecoderLM(nn.Module):
    """Embeddings, causal blocks, a head that scores every token as the next one."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 128,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        self.norm = LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        for embedding in (self.token, self.position):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, tokens: Tensor, cache: list[Past] | None = None) -> tuple[Tensor, list[Past]]:
        """Score the next token at each of the new positions: [B, T] -> [B, T, V]; return the longer past too."""
        pasts = cache if cache is not None else [None] * len(self.blocks)
        start = 0 if cache is None else cache[0][0].size(2)
        positions = torch.arange(start, start + tokens.size(1), device=tokens.device)
        x = self.dropout(self.token(tokens) + self.position(positions))  # [B, T, D]
        new = []
        for block, past in zip(self.blocks, pasts, strict=True):
            x, past = block(x, past)
            new.append(past)
        return self.head(self.norm(x)), new


def next_token_loss(logits: Tensor, tokens: Tensor, pad_id: int | None = None) -> Tensor:
    """Cross-entropy of position t against token t + 1, averaged over the targets that are not padding."""
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id)


@torch.no_grad()
def generate(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    eos_id: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Continue every row of the prompt by up to max_new_tokens tokens."""
    training = model.training
    model.eval()
    try:
        tokens, new, cache = prompt, prompt, None
        ended = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
        for _ in range(max_new_tokens):
            logits, cache = model(new, cache)
            new = _choose(logits[:, -1], temperature, top_k, generator)  # [B]
            if eos_id is not None:
                new = new.masked_fill(ended, eos_id)
                ended = ended | (new == eos_id)
            new = new[:, None]
            tokens = torch.cat((tokens, new), dim=1)
            if ended.all():
                break
    finally:
        model.train(training)  # also if the model raises
    return tokens


def _choose(
    logits: Tensor, temperature: float, top_k: int | None, generator: torch.Generator | None
) -> Tensor:
    """Pick one token a row from logits [B, V]."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    logits = logits / temperature
    if top_k is not None:
        least = logits.topk(min(top_k, logits.size(-1))).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(1)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
