"""Everything by hand: rotated queries and keys, RMS norm, SwiGLU, and a cache that is written in place."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, einsum, nn
from torch.nn import functional as F


@dataclass
class Cache:
    """Room for max_len keys and values per layer, and how much of it is taken."""

    layers: list[Tensor] = field(default_factory=list)
    length: int = 0


def rotate(x: Tensor, start: int) -> Tensor:
    """Turn each pair of columns of [B, T, H, d] by an angle that grows with the position."""
    half = x.shape[-1] // 2
    time = torch.arange(start, start + x.shape[1], device=x.device, dtype=torch.float64)
    angle = time[:, None] * 100.0 ** (
        -torch.arange(half, device=x.device, dtype=torch.float64) / max(half, 1)
    )
    cos, sin = angle.cos()[:, None].to(x.dtype), angle.sin()[:, None].to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * self.gain


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.before, self.between = RMSNorm(width), RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.gate = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor, room: Tensor | None, start: int) -> tuple[Tensor, Tensor]:
        B, T, D = x.shape
        q, k, v = self.qkv(self.before(x)).view(B, T, 3, self.heads, -1).unbind(2)
        q, k = rotate(q, start), rotate(k, start)
        kv = torch.stack((k, v))  # [2, B, T, H, d]
        if room is not None:
            room[:, :, start : start + T] = kv
            kv = room[:, :, : start + T]
        scores = einsum("bqhd,bkhd->bhqk", q, kv[0]) / (D // self.heads) ** 0.5
        late = (
            torch.arange(start + T, device=x.device)
            > torch.arange(start, start + T, device=x.device)[:, None]
        )
        weights = (
            (scores - 1e9 * late).softmax(-1)
            if scores.dtype != torch.bfloat16
            else (scores.masked_fill(late, -torch.inf).softmax(-1))
        )
        y = einsum("bhqk,bkhd->bqhd", weights, kv[1]).reshape(B, T, D)
        x = x + F.dropout(self.out(y), self.dropout, self.training)
        h = self.between(x)
        return x + F.dropout(self.down(F.silu(self.gate(h)) * self.up(h)), self.dropout, self.training), kv


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
        self.max_len = max_len
        self.embed = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size)
        nn.init.zeros_(self.head.weight)  # at first, every token is as likely as any other

    def forward(self, tokens: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        x = self.embed(tokens)
        B, T, _D = x.shape
        start = 0 if cache is None else cache.length
        seen = []
        for index, layer in enumerate(self.layers):
            x, kv = layer(x, None if cache is None else cache.layers[index], start)
            seen.append(kv)
        if cache is None:
            cache = Cache()
            for kv in seen:
                room = kv.new_zeros(2, B, self.max_len, *kv.shape[3:])
                room[:, :, :T] = kv.detach()
                cache.layers.append(room)
        cache.length = start + T
        return self.head(self.norm(x)), cache


def next_token_loss(logits: Tensor, tokens: Tensor, pad_id: int | None = None) -> Tensor:
    """Row by row, position by position."""
    total, count = logits.new_zeros(()), 0
    for scores, row in zip(logits - logits.logsumexp(-1, keepdim=True), tokens, strict=True):
        for t, target in enumerate(row[1:].tolist()):
            if pad_id is None or target != pad_id:
                total, count = total - scores[t, target], count + 1
    return total / count


def generate(model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None):
    """Write one row after the other, each as far as it goes, and fill up to the longest."""
    training, rows = model.training, []
    model.eval()
    try:
        with torch.no_grad():
            for row in prompt[:, None].unbind(0):
                logits, cache = model(row)
                for _ in range(max_new_tokens):
                    scores = logits[0, -1]
                    if temperature == 0:
                        token = scores.argmax()
                    else:
                        scores = scores / temperature
                        chance = (scores - scores.logsumexp(-1, keepdim=True)).exp()
                        best = chance.sort(descending=True).indices[:top_k]  # [:None] is all
                        token = best[torch.multinomial(chance[best], 1, generator=generator)[0]]
                    row = torch.cat((row, token.view(1, 1)), dim=1)
                    if token == eos_id or row.shape[1] == prompt.shape[1] + max_new_tokens:
                        break
                    logits, cache = model(token.view(1, 1), cache)
                rows.append(row[0])
    finally:
        model.train(training)
    if eos_id is None:
        return torch.stack(rows)
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=eos_id)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
