"""A masked language model: hide words of a text, and find them again from both sides.

B batch, T length, D = d_model, V words. Reference: Devlin et al. 2018 (arXiv:1810.04805), sections 3.1 and A.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from blocks import Encoder, padding_mask, sinusoidal_positions
from torch import nn


def hide(
    tokens: torch.Tensor,
    *,
    mask_id: int,
    vocab_size: int,
    special_ids: Sequence[int] = (),
    rate: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (inputs, targets), both [B, T]."""
    special = torch.zeros(vocab_size, dtype=torch.bool, device=tokens.device)
    special[list(special_ids)] = True
    ordinary = (~special).nonzero().squeeze(1)

    # A generator of the CPU draws for every device.
    draw = torch.rand(2, *tokens.shape, generator=generator).to(tokens.device)
    which = torch.randint(len(ordinary), tokens.shape, generator=generator).to(tokens.device)

    chosen = (draw[0] < rate) & ~special[tokens]
    inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
    inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
    return inputs, tokens.masked_fill(~chosen, -100)


class MaskedLM(nn.Module):
    """Embed tokens and positions, encode, and compare with every word's own vector."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 128,
        pad_id: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        # The body's vectors have the length sqrt(D): rows of length 1 give logits of about 1.
        # Reading scales them up again.
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.scale = d_model**0.5
        self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def body(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return [B, T, D] for tokens [B, T]."""
        x = self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]]
        return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits [B, T, V] for tokens [B, T]."""
        return self.body(tokens) @ self.embedding.weight.T + self.bias
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
