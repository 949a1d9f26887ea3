"""A sentence classifier: an encoder reads, pooling makes one vector of what it read, a linear layer decides.

B batch, T length, D = d_model, C classes.
References: Vaswani et al. 2017 (arXiv:1706.03762); Devlin et al. 2018 (arXiv:1810.04805), section 4.1.
"""

from __future__ import annotations

import torch
from blocks import Encoder, sinusoidal_positions
from torch import nn
from torch.nn.functional import cross_entropy


def pool(hidden: torch.Tensor, mask: torch.Tensor, strategy: str) -> torch.Tensor:
    """Make one vector per sequence: hidden [B, T, D], mask bool [B, T] -> [B, D]."""
    if strategy == "cls":
        return hidden[:, 0]
    padding = ~mask.unsqueeze(-1)  # [B, T, 1]
    if strategy == "mean":
        # A row of padding only has the sum 0; dividing it by 1 rather than 0 keeps it, and its gradient, finite.
        return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
    if strategy == "max":
        greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
    raise ValueError(f"strategy must be cls, mean or max, not {strategy!r}")


class EncoderClassifier(nn.Module):
    """Embed tokens and positions, encode, pool, classify."""

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
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits [B, C] for tokens [B, T]."""
        real = tokens != self.pad_id  # [B, T]
        x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
        hidden = self.encoder(x, real[:, None, None, :])  # no position attends to padding
        return self.head(pool(hidden, real, self.pooling))  # and none of it is pooled


def fit(
    model: nn.Module,
    tokens: torch.Tensor,
    labels: torch.Tensor,
    *,
    epochs: int = 10,
    batch_size: int = 32,
    lr: float = 1e-3,
    generator: torch.Generator | None = None,
) -> list[float]:
    """Train with cross-entropy; return each epoch's mean loss per example."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
            loss = cross_entropy(model(tokens[batch]), labels[batch])  # the mean over this batch
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)  # the last batch may be short: weigh by examples
        losses.append(total / len(tokens))
    return losses
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
