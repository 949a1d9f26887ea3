"""your cache is the text, and each step reads all of it again: keep every layer's keys and values instead

Fails: test_decoding_speed
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention, causal_mask, scaled_dot_product_attention
from torch import Tensor, nn
from torch.nn import functional as F


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

    def forward(self, x: Tensor) -> Tensor:
        h = self.norm1(x)
        q, k, v = (self._heads(w(h)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        heads, _ = scaled_dot_product_attention(q, k, v, causal_mask(k.size(2), device=x.device))
        x = x + self.dropout(self.attention.w_o(heads.transpose(1, 2).flatten(2)))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


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

    def forward(self, tokens: Tensor, cache: Tensor | None = None) -> tuple[Tensor, Tensor]:
        text = tokens if cache is None else torch.cat((cache, tokens), dim=1)
        x = self.dropout(self.token(text) + self.position(torch.arange(text.size(1), device=text.device)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, -tokens.size(1) :])), text


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
    model.train(training)
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
