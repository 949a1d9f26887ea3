"""What the checks bring into the worker: parameters, a scripted model, torch's global generator.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from filled import quiet, refill, reseed  # noqa: F401  (checks call them by this module)
from story import encode, text
from torch import Tensor, nn

STATES = 97
"""What a scripted model remembers of a text is a number below this."""


def stories(count: int) -> Tensor:
    """Return the tokens of the first stories."""
    return encode(text(0, count))


class ScriptedModel(nn.Module):
    """A model whose scores are a row of a table, chosen by all that it reads, in order."""

    def __init__(
        self,
        table: Tensor,
        max_len: int = 64,
        dropout: float = 0.0,
        forward: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.table, self.max_len = nn.Parameter(table.clone()), max_len  # [STATES, V]
        self.dropout, self.lent = nn.Dropout(dropout), forward

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, T, V] for int tokens [B, T]."""
        if self.lent is not None:
            return self.lent(tokens)
        state, states = torch.zeros_like(tokens[:, 0]), []
        for token in tokens.unbind(dim=1):
            state = (5 * state + token + 1) % STATES
            states.append(state)
        return self.dropout(self.table)[torch.stack(states, dim=1)]
