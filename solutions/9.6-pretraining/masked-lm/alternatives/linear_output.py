"""One number decides all, an nn.Linear shares the table, learned positions, post-norm and GELU as in BERT."""

from __future__ import annotations

import torch
from blocks import Encoder, LayerNorm, LearnedPositionalEncoding
from torch import nn


def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
    """Cut the interval below rate into 80%, 10% and 10%."""
    ordinary = torch.tensor([token for token in range(vocab_size) if token not in set(special_ids)])
    number = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    places = torch.randint(0, len(ordinary), tokens.shape, generator=generator)
    number[torch.isin(tokens, torch.tensor(list(special_ids), dtype=tokens.dtype, device=tokens.device))] = (
        2.0
    )
    inputs, targets = tokens.clone(), torch.full_like(tokens, -100)
    chosen = number < rate
    targets[chosen] = tokens[chosen]
    exchanged = number < 0.1 * rate
    inputs[exchanged] = ordinary[places].to(tokens.device)[exchanged]
    inputs[(number >= 0.2 * rate) & chosen] = mask_id
    return inputs, targets


class MaskedLM(nn.Module):
    """The weight of the output layer is the embedding's parameter, under two names."""

    def __init__(
        self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128, pad_id=0, dropout=0.0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.words = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.words.weight, std=0.02)
        self.positions = LearnedPositionalEncoding(d_model, max_len)
        self.norm = LayerNorm(d_model)
        self.layers = Encoder(num_layers, d_model, num_heads, d_ff, dropout, False, "gelu")
        self.output = nn.Linear(d_model, vocab_size)
        self.output.weight = self.words.weight

    def body(self, tokens):
        """Normalize before the first layer."""
        x = self.norm(self.positions(self.words(tokens)))
        return self.layers(x, (tokens != self.pad_id)[:, None, None])

    def forward(self, tokens):
        """Score."""
        return self.output(self.body(tokens))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
