"""torch's attention module over remembered inputs, in named tuples; a cross-entropy with weights; sorting for top_k."""

from __future__ import annotations

from typing import NamedTuple

import torch
from blocks import LearnedPositionalEncoding
from torch import Tensor, nn
from torch.nn import functional as F


class Memory(NamedTuple):
    """What each layer's attention has been shown, [B, T so far, D]."""

    inputs: tuple[Tensor, ...]
    length: int


class DecoderLM(nn.Module):
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
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.encoding = LearnedPositionalEncoding(d_model, max_len)
        self.attentions, self.networks, self.norms = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for _ in range(num_layers):
            self.attentions.append(nn.MultiheadAttention(d_model, num_heads, dropout, batch_first=True))
            self.networks.append(
                nn.Sequential(
                    nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
                )
            )
            self.norms.append(nn.LayerNorm(d_model))
            self.norms.append(nn.LayerNorm(d_model))
        self.head = nn.Linear(d_model, vocab_size)
        print(f"a model of {sum(p.numel() for p in self.parameters())} parameters")

    def forward(self, tokens: Tensor, cache: Memory | None = None) -> tuple[Tensor, Memory]:
        past = 0 if cache is None else cache.length
        total = past + tokens.shape[1]
        x = self.embedding(tokens) + self.encoding.positions[past:total]
        blocked = torch.ones(total, total, dtype=torch.bool, device=tokens.device).triu(1)[past:]
        inputs = []
        for index, (attention, network) in enumerate(zip(self.attentions, self.networks, strict=True)):
            h = self.norms[2 * index](x)
            shown = h if cache is None else torch.cat((cache.inputs[index], h), dim=1)
            inputs.append(shown)
            x = x + attention(h, shown, shown, attn_mask=blocked, need_weights=False)[0]
            x = x + network(self.norms[2 * index + 1](x))
        return self.head(x), Memory(tuple(inputs), total)


def next_token_loss(logits: Tensor, tokens: Tensor, pad_id: int | None = None) -> Tensor:
    """Cross-entropy with a weight of 0 or 1 a target; the last position's target is missing."""
    each = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    weight = torch.ones_like(each) if pad_id is None else (tokens[:, 1:] != pad_id).to(each.dtype)
    return (each * weight).sum() / weight.sum()


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
    """Read the prompt, then go on as long as any row has not ended."""
    before = model.training, torch.is_grad_enabled()
    model.train(False)
    torch.set_grad_enabled(False)
    try:
        device = next(model.parameters()).device
        tokens, cache = prompt.clone().to(device), None
        done = torch.full((len(prompt), 1), False, device=device)
        while tokens.shape[1] < prompt.shape[1] + max_new_tokens and not bool(done.all()):
            new = tokens if cache is None else tokens[:, -1:]
            logits, cache = model(new, cache=cache)
            logits = logits[:, -1, :].double()
            if temperature:
                logits, names = (logits / temperature).sort(dim=-1, descending=True)
                share = logits[:, : top_k or None].softmax(dim=-1).cumsum(dim=-1)
                dice = torch.rand(len(prompt), 1, generator=generator, device=device, dtype=share.dtype)
                place = (share < dice).sum(dim=-1, keepdim=True).clamp(max=share.shape[1] - 1)
                token = names.gather(1, place)
            else:
                token = logits.max(dim=-1, keepdim=True).indices
            if eos_id is not None:
                token = torch.where(done, torch.full_like(token, eos_id), token)
                done = done | token.eq(eos_id)
            tokens = torch.hstack((tokens, token))
    finally:
        model.train(before[0])
        torch.set_grad_enabled(before[1])
    return tokens
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
