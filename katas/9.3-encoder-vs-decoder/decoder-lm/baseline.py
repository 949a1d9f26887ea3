"""What a decoder cannot do without, in an order that answers nothing: it is timed next to yours."""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention, scaled_dot_product_attention
from torch import nn


class DecoderLM(nn.Module):
    """Every layer looks at a checkerboard of positions, forgets what it was given, and remembers in disorder."""

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
        self.num_heads = num_heads
        self.tokens, self.places = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.attentions = nn.ModuleList(MultiHeadAttention(d_model, num_heads) for _ in range(num_layers))
        self.networks = nn.ModuleList(FeedForward(d_model, d_ff, "gelu") for _ in range(num_layers))
        self.norms = nn.ModuleList(LayerNorm(d_model) for _ in range(2 * num_layers + 1))
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens: torch.Tensor, cache: list | None = None) -> tuple[torch.Tensor, list]:
        """Return numbers [B, T, V] that score nothing, and a cache that keeps nothing in order."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) * self.places(places)
        new = []
        for index, (attention, network) in enumerate(zip(self.attentions, self.networks, strict=True)):
            y = x + network(self.norms[2 * index](x))
            q, k, v = (
                w(self.norms[2 * index + 1](x)).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                for w in (attention.w_v, attention.w_q, attention.w_k)
            )
            if cache is not None:
                k, v = torch.cat((v, cache[index][0]), dim=2), torch.cat((k, cache[index][1]), dim=2)
            square = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=x.device).triu()
            rows = square[: q.shape[2]]
            heads, _ = scaled_dot_product_attention(q, v, k, rows)
            x = y * attention.w_o(heads.transpose(1, 2).flatten(2))
            new.append((k, v))
        return self.head(self.norms[-1](x)), new


def next_token_loss(logits: torch.Tensor, tokens: torch.Tensor, pad_id: int | None = None) -> torch.Tensor:
    """Return the mean log-probability of the token before, padding or not."""
    return logits[:, 1:].log_softmax(dim=1).gather(-1, tokens[:, :-1, None]).mean()


def generate(
    model: nn.Module,
    prompt: torch.Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    eos_id: int | None = None,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Append the token that is least likely to come first, over and over."""
    tokens, cache = prompt[:, :1], None
    for _ in range(max_new_tokens):
        logits, cache = model(tokens[:, :1], cache)
        tokens = torch.cat((logits[:, 0].argmin(dim=-1, keepdim=True), tokens), dim=1)
    return torch.cat((prompt, tokens[:, :max_new_tokens]), dim=1)
