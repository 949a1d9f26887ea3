"""Small GPT-like initial weights, columns of nothing but padding cut off, equal batches, clipped RMSprop with decay."""

from __future__ import annotations

import torch
from blocks import EncoderLayer, LayerNorm, SinusoidalPositionalEncoding
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


def pool(hidden: Tensor, mask: Tensor, strategy: str) -> Tensor:
    """Go through the positions one by one."""
    if strategy not in {"cls", "mean", "max"}:
        raise ValueError("strategy: cls, mean or max")
    if strategy == "cls":
        return hidden[:, 0]
    result, count = torch.zeros_like(hidden[:, 0]), torch.zeros_like(hidden[:, 0])
    for vector, real in zip(hidden.unbind(1), mask.unbind(1), strict=True):
        real = real[:, None]
        if strategy == "mean":
            result = result + torch.where(real, vector, torch.zeros_like(vector))
        else:
            greater = real & ((vector > result) | (count == 0))
            result = torch.where(greater, vector, result)
        count = count + real
    return result / count.clamp(min=1) if strategy == "mean" else result


class Reader(nn.Module):
    """Tokens to vectors."""

    def __init__(self, vocab_size: int, d_model: int, max_len: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = SinusoidalPositionalEncoding(d_model, max_len)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return [B, T, D] for tokens [B, T]."""
        return self.positions(self.embedding(tokens))


class EncoderClassifier(nn.Module):
    """A stack of layers of its own instead of Encoder."""

    def __init__(
        self,
        vocab_size: int,
        num_classes: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 128,
        pooling: str = "cls",
        pad_id: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pooling, self.pad_id = pooling, pad_id
        self.reader = Reader(vocab_size, d_model, max_len)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)
        )
        self.last = nn.Sequential(LayerNorm(d_model), nn.Dropout(dropout))
        self.head = nn.Linear(d_model, num_classes, bias=False)
        self.apply(self._start)

    @staticmethod
    def _start(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, C] for tokens [B, T]."""
        real = tokens != self.pad_id
        ends = real.any(dim=0).nonzero()
        length = int(ends[-1]) + 1 if len(ends) else 1
        tokens, real = tokens[:, :length], real[:, :length]
        x = self.reader(tokens)
        for layer in self.layers:
            x = layer(x, real[:, None, None].expand(-1, 1, length, -1))
        return self.head(pool(self.last(x), real, self.pooling))


def fit(
    model: nn.Module,
    tokens: Tensor,
    labels: Tensor,
    *,
    epochs: int = 10,
    batch_size: int = 32,
    lr: float = 1e-3,
    generator: torch.Generator | None = None,
) -> list[float]:
    """Train in batches that are as equal as they can be."""
    optimizer = torch.optim.RMSprop(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    batches = -(-len(tokens) // batch_size)
    optimizer.zero_grad()
    history = []
    for _ in range(epochs):
        model.train()
        total = torch.zeros((), dtype=torch.float64, device=tokens.device)
        shuffled = torch.randperm(len(tokens), generator=generator).to(tokens.device)
        for some in shuffled.tensor_split(batches):
            loss = cross_entropy(model(tokens[some]), labels[some], reduction="sum")
            total += loss.detach()
            (loss / len(some)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        schedule.step()
        history.append((total / len(tokens)).item())
    return history
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
