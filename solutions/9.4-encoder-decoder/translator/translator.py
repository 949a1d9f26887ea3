"""9.4.2 Translator: an encoder reads, a decoder writes with it; a loss that leaves room, and a search."""

from __future__ import annotations

import torch
from blocks import Decoder, Encoder, causal_mask, padding_mask, sinusoidal_positions
from torch import Tensor, nn


class Translator(nn.Module):
    """Embeddings and positions for both languages, an encoder, a decoder, and a head that scores the next word."""

    positions: Tensor

    def __init__(
        self,
        source_vocab: int,
        target_vocab: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 64,
        dropout: float = 0.0,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.source_words = nn.Embedding(source_vocab, d_model)
        self.target_words = nn.Embedding(target_vocab, d_model)
        self.register_buffer("positions", sinusoidal_positions(max_len, d_model))
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.head = nn.Linear(d_model, target_vocab)

    def encode(self, source: Tensor) -> Tensor:
        x = self.source_words(source) + self.positions[: source.shape[1]]
        return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        x = self.target_words(target) + self.positions[: target.shape[1]]
        causal = causal_mask(target.shape[1], device=target.device)
        return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source), source)


def smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.1, pad_id: int = 0) -> Tensor:
    """Return the mean cross-entropy between a softened target and the logits, over real targets."""
    logs = logits.log_softmax(dim=-1)
    right = logs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
    return losses[targets != pad_id].mean()


def translate(
    model: nn.Module,
    source: Tensor,
    *,
    bos_id: int,
    eos_id: int,
    max_len: int,
    beams: int = 1,
    length_penalty: float = 0.0,
) -> Tensor:
    """Write the translation that has the best score among those that `beams` hypotheses lead to."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)
    finally:
        model.train(was_training)


def _search(
    model: nn.Module,
    source: Tensor,
    bos_id: int,
    eos_id: int,
    max_len: int,
    beams: int,
    length_penalty: float,
) -> Tensor:
    B = len(source)
    memory = model.encode(source).repeat_interleave(beams, dim=0)  # [B * K, S, D]
    source = source.repeat_interleave(beams, dim=0)
    tokens = torch.full((B * beams, 1), bos_id, device=source.device)
    # All beams begin alike: only the first of each row may go on, or all K would stay the same.
    sums = torch.full((B, beams), -torch.inf, device=source.device)
    sums[:, 0] = 0.0
    lengths = torch.zeros_like(sums)
    ended = torch.zeros(B, beams, dtype=torch.bool, device=source.device)
    first = torch.arange(B, device=source.device).unsqueeze(-1) * beams
    for _ in range(max_len):
        logs = model.decode(tokens, memory, source)[:, -1].float().log_softmax(dim=-1)
        V = logs.shape[-1]
        logs = logs.view(B, beams, V)
        # A hypothesis that has ended goes on in one way, which costs nothing: padding.
        rest = torch.full_like(logs, -torch.inf)
        rest[..., model.pad_id] = 0.0
        logs = torch.where(ended.unsqueeze(-1), rest, logs)
        candidates = sums.unsqueeze(-1) + logs  # [B, K, V]
        longer = lengths + (~ended).float()
        scores = candidates / longer.unsqueeze(-1) ** length_penalty
        chosen = scores.flatten(1).topk(beams).indices  # [B, K]
        parent, word = chosen // V, chosen % V
        sums, lengths = candidates.flatten(1).gather(1, chosen), longer.gather(1, parent)
        ended = ended.gather(1, parent) | (word == eos_id)
        tokens = torch.cat((tokens[(first + parent).flatten()], word.view(-1, 1)), dim=1)
        if ended.all():
            break
    best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
    return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
