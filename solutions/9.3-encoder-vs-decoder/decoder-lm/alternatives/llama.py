"""As llama writes it: RMS norms and softmax in float32 whatever the model's dtype, a gated network, no biases."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Past = tuple[Tensor, Tensor]


class RMSNorm(nn.Module):
    """Divide by the root of the mean square, computed in float32."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis."""
        single = x.float()
        scale = torch.rsqrt(single.pow(2).mean(-1, keepdim=True) + self.eps)
        return (single * scale).type_as(x) * self.weight


class Attention(nn.Module):
    """Causal attention over what was cached and what is new."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x: Tensor, past: Past | None) -> tuple[Tensor, Past]:
        """Attend, and return keys and values up to here."""
        batch, time, _ = x.shape
        q, k, v = (
            w(x).view(batch, time, self.heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv)
        )
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        start = k.size(2) - time
        hidden = torch.full((time, k.size(2)), float("-inf"), device=x.device).triu(start + 1).type_as(x)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.size(-1)) + hidden
        weights = F.softmax(scores.float(), dim=-1).type_as(q)
        return self.wo((weights @ v).transpose(1, 2).reshape(batch, time, -1)), (k, v)


class Layer(nn.Module):
    """Pre-norm attention and a gated network, each added."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.attention_norm, self.network_norm = RMSNorm(width), RMSNorm(width)
        self.attention = Attention(width, heads)
        self.w1, self.w3 = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.w2 = nn.Linear(hidden, width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, past: Past | None) -> tuple[Tensor, Past]:
        """Return what the next layer reads, and what this one keeps."""
        attended, past = self.attention(self.attention_norm(x), past)
        x = x + self.dropout(attended)
        h = self.network_norm(x)
        return x + self.dropout(self.w2(F.silu(self.w1(h)) * self.w3(h))), past


class DecoderLM(nn.Module):
    """Learned positions in place of rotations; all else as above."""

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
        self.tok_embeddings = nn.Embedding(vocab_size, d_model)
        self.pos_embeddings = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.norm = RMSNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens: Tensor, cache: list[Past] | None = None) -> tuple[Tensor, list[Past]]:
        """Return logits of the new tokens, in the model's dtype, and the cache that holds them too."""
        start = cache[0][0].size(2) if cache else 0
        places = torch.arange(start, start + tokens.size(1), device=tokens.device)
        h, kept = self.tok_embeddings(tokens) + self.pos_embeddings(places), []
        for number, layer in enumerate(self.layers):
            h, past = layer(h, cache[number] if cache else None)
            kept.append(past)
        return self.output(self.norm(h)), kept


def next_token_loss(logits: Tensor, tokens: Tensor, pad_id: int | None = None) -> Tensor:
    """Compute the loss in float32 and give it back in the dtype of the logits."""
    scores, targets = logits[:, :-1].float(), tokens[:, 1:]
    each = F.cross_entropy(scores.transpose(1, 2), targets, reduction="none")
    counted = torch.ones_like(each) if pad_id is None else (targets != pad_id).float()
    return ((each * counted).sum() / counted.sum()).type_as(logits)


@torch.inference_mode()
def _write(model: nn.Module, prompt: Tensor, count: int, choose, eos_id: int | None) -> Tensor:
    text, new, cache = prompt, prompt, None
    done = torch.zeros(len(prompt), 1, dtype=torch.bool, device=prompt.device)
    for _ in range(count):
        logits, cache = model(new, cache)
        new = choose(logits[:, -1])
        if eos_id is not None:
            new = torch.where(done, torch.full_like(new, eos_id), new)
            done |= new == eos_id
        text = torch.cat([text, new], dim=1)
        if bool(done.all()):
            break
    return text


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
    """Continue every row of the prompt."""

    def choose(logits: Tensor) -> Tensor:
        if temperature == 0:
            return logits.argmax(dim=-1, keepdim=True)
        if top_k is not None:
            values = torch.topk(logits, min(top_k, logits.size(-1))).values
            logits = torch.where(logits < values[:, -1:], -torch.inf, logits)
        return torch.multinomial(F.softmax(logits / temperature, dim=-1), 1, generator=generator)

    before = model.training
    model.eval()
    try:
        return _write(model, prompt, max_new_tokens, choose, eos_id).clone()
    finally:
        model.train(before)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
