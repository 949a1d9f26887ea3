"""A learned vector in front for cls, learned positions, post-norm, a DataLoader, and a look at the loss in between."""

from __future__ import annotations

import torch
from blocks import Encoder, padding_mask
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


def pool(hidden: Tensor, mask: Tensor, strategy: str) -> Tensor:
    """Weigh positions for mean, choose them one sequence at a time for max."""
    match strategy:
        case "cls":
            return hidden.select(1, 0)
        case "mean":
            weights = mask / mask.sum(dim=1, keepdim=True).clamp(min=1)
            return torch.einsum("btd,bt->bd", hidden, weights.to(hidden.dtype))
        case "max":
            nothing = hidden.new_zeros(hidden.shape[-1])
            rows = zip(hidden, mask, strict=True)
            return torch.stack([row[real].amax(dim=0) if real.any() else nothing for row, real in rows])
    raise ValueError(strategy)


class EncoderClassifier(nn.Module):
    """Post-norm, as BERT; with pooling="cls" every sequence gets one more position, in front."""

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
        if pooling not in ("cls", "mean", "max"):
            raise ValueError(f"no such pooling: {pooling}")
        self.pooling = pooling
        self.register_buffer("pad_id", torch.tensor(pad_id))
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.places = nn.Embedding(max_len, d_model)
        if pooling == "cls":
            self.front = nn.Parameter(torch.randn(1, 1, d_model))
        self.encoder = Encoder(
            num_layers, d_model, num_heads, d_ff, dropout, norm_first=False, activation="gelu"
        )
        self.classify = nn.Sequential(nn.Linear(d_model, d_model), nn.Tanh(), nn.Linear(d_model, num_classes))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, C] for tokens [B, T]."""
        mask = padding_mask(tokens, self.pad_id)
        x = self.tokens(tokens) + self.places.weight[: tokens.shape[1]]
        if self.pooling == "cls":
            x = torch.cat([self.front.expand(len(x), -1, -1), x], dim=1)
            mask = nn.functional.pad(mask, (1, 0), value=True)
        return self.classify(pool(self.encoder(x, mask), mask[:, 0, 0], self.pooling))


def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
    """Train with a DataLoader; look at the accuracy after each epoch, as one does."""
    loader = DataLoader(TensorDataset(tokens, labels), batch_size, shuffle=True, generator=generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss(reduction="none")
    history = []
    for epoch in range(epochs):
        model.train()
        each = []
        for x, y in loader:
            model.zero_grad()
            losses = criterion(model(x), y)
            losses.mean().backward()
            optimizer.step()
            each += losses.tolist()
        history.append(sum(each) / len(each))
        model.eval()
        with torch.no_grad():
            right = (model(tokens).argmax(dim=-1) == labels).float().mean()
        print(f"epoch {epoch}: loss {history[-1]:.3f}, accuracy {right:.0%}")
    return history
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
