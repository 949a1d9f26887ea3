"""What the checks bring into the worker: readers of a model, a scripted model, a training loop.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from fitting import Adam, refill
from torch import Tensor, nn

STATES = 97
"""What a scripted model remembers of a text is a number below this."""


# --- reading a model ---


class logits:
    """Read a text in one go, and leave the cache here: whatever it is, it need not cross."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, tokens: Tensor, by_name: bool = False) -> Any:
        """Return the logits of forward(tokens)."""
        result = self.model(tokens=tokens) if by_name else self.model(tokens)
        return result[0] if isinstance(result, tuple) else result


class cached:
    """Read a text piece by piece, each time with the cache that the piece before gave back."""

    def __init__(self, model: Any) -> None:
        self.model, self.cache = model, None

    def __call__(self, tokens: Tensor, cache: object) -> Any:
        """Return the logits of forward(tokens, cache), with the cache of the call before unless None is asked for."""
        result = self.model(tokens, cache=self.cache if cache is not None else None)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError("forward returned no pair (logits, cache), so there is no cache to go on with")
        scores, self.cache = result
        return scores


# --- a model that follows a script ---


class Memory:
    """The cache of a scripted model: all tokens that it has read."""

    def __init__(self, tokens: Tensor) -> None:
        self.tokens = tokens


class FalsyMemory(Memory):
    """A cache that is false as a condition, as an empty list or a tensor of one zero is."""

    def __len__(self) -> int:
        return 0


class ScriptedModel(nn.Module):
    """A model whose next-token scores are a row of a table, chosen by all tokens so far and their order.

    Anyone who forgets a token, reads one twice, or goes on from an old cache is led to another row.
    """

    def __init__(self, table: Tensor, dropout: float = 0.0, falsy_cache: bool = False) -> None:
        super().__init__()
        self.memory = FalsyMemory if falsy_cache else Memory
        self.table = nn.Parameter(table.clone())  # [STATES, V]
        self.dropout = nn.Dropout(dropout)
        self.vocab_size, self.max_len = table.shape[1], 128

    def forward(self, tokens: Tensor, cache: Memory | None = None) -> tuple[Tensor, Memory]:
        """Return (logits [B, T, V] of the new tokens, cache)."""
        history = tokens if cache is None else torch.cat((cache.tokens, tokens), dim=1)
        state = torch.zeros_like(history[:, 0])
        states = []
        for token in history.unbind(dim=1):
            state = (5 * state + token + 1) % STATES
            states.append(state)
        new = torch.stack(states, dim=1)[:, -tokens.shape[1] :]
        return self.dropout(self.table)[new], self.memory(history)


# --- training ---


def train(model: nn.Module, loss_of: Callable[..., Any], tokens: Tensor, steps: int, batch: int = 16) -> None:
    """Train on random rows of tokens with Adam and the submission's loss; the rate rises, then falls to zero.

    It starts from weights and draws rows that are always the same, so a model learns in every run or in none.
    """
    refill(model, seed=0, scale=0.08)
    generator = torch.Generator().manual_seed(0)
    read = logits(model)
    adam = Adam(model)
    model.train()
    for step in range(steps):
        rows = tokens[torch.randint(len(tokens), (batch,), generator=generator).to(tokens.device)]
        adam.zero_grad()
        loss_of(read(rows), rows).backward()
        adam.step(5e-3 * min(1.0, (step + 1) / 10, 1.5 * (1 - step / steps)))
