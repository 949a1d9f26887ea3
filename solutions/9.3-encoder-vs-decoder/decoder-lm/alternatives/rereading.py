"""The cache is the text itself, read again each time; post-norm, sinusoids, tied weights, Gumbel noise."""

from __future__ import annotations

import torch
from blocks import EncoderLayer, causal_mask, sinusoidal_positions
from torch import Tensor, nn


class DecoderLM(nn.Module):
    """Encoder layers under a causal mask are a decoder."""

    def __init__(
        self,
        vocab_size,
        d_model=64,
        num_heads=4,
        d_ff=128,
        num_layers=2,
        max_len=128,
        dropout=0.0,
        scale=True,
    ) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)
        self.factor = d_model**0.5 if scale else 1.0
        self.register_buffer("positions", sinusoidal_positions(max_len, d_model))
        self.drop = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first=False) for _ in range(num_layers)
        )

    def forward(self, tokens: Tensor, cache: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Read everything anew, and tell of the new positions only."""
        text = tokens if cache is None else torch.cat([cache, tokens], 1)
        x = self.drop(self.embedding[text] * self.factor + self.positions[: text.shape[1]])
        mask = causal_mask(text.shape[1], device=text.device)
        for layer in self.layers:
            x = layer(x, mask)
        return x[:, -tokens.shape[1] :] @ self.embedding.T, text


def next_token_loss(logits: Tensor, tokens: Tensor, pad_id: int | None = None) -> Tensor:
    """Log-sum-exp minus the right logit, where it counts."""
    logits, targets = logits[:, :-1], tokens[:, 1:]
    right = logits.gather(2, targets.unsqueeze(2)).squeeze(2)
    surprise = logits.logsumexp(dim=2) - right
    if pad_id is not None:
        surprise = surprise[targets != pad_id]
    return surprise.mean()


def generate(
    model, prompt, max_new_tokens, *, temperature=0.0, top_k=None, eos_id=None, generator=None, verbose=False
) -> Tensor:
    """Fill a table that is as wide as the longest result."""
    mode = {module: module.training for module in model.modules()}
    try:
        with torch.inference_mode():
            model.eval()
            B, T = prompt.shape
            table = torch.cat([prompt, prompt.new_zeros(B, max_new_tokens)], dim=1)
            over = prompt.new_zeros(B, dtype=torch.bool)
            for t in range(T, T + max_new_tokens):
                scores = model(table[:, :t])[0][:, -1]
                if top_k is not None and top_k < scores.shape[1]:
                    order = scores.argsort(dim=1, descending=True)
                    scores = scores.scatter(1, order[:, top_k:], -torch.inf)
                if temperature > 0:
                    uniform = torch.rand(
                        scores.shape, generator=generator, device=scores.device, dtype=torch.float64
                    )
                    scores = scores / temperature - torch.log(-torch.log(uniform))
                table[:, t] = scores.argmax(dim=1)
                if eos_id is not None:
                    table[over, t] = eos_id
                    over |= table[:, t] == eos_id
            return table
    finally:
        for module, training in mode.items():
            module.training = training
