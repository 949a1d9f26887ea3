"""What the checks bring into the worker: random parameters, a scripted model, a training loop.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from fitting import Adam, refill
from torch import Tensor, nn

STATES = 97
"""What a scripted model remembers of two texts is a number below this."""


class ScriptedTranslator(nn.Module):
    """A model whose scores are a row of a table, chosen by all words of the source and of what was written, in order.

    Anyone who forgets a word, or continues one hypothesis with the past, the memory or the source of another, is led to
    another row.
    """

    def __init__(
        self,
        table: Tensor,
        pad_id: int = 0,
        dropout: float = 0.0,
        encode: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.table, self.pad_id = nn.Parameter(table.clone()), pad_id  # [STATES, V]
        self.dropout, self.lent = nn.Dropout(dropout), encode

    def encode(self, source: Tensor) -> Tensor:
        """Return a memory [B, S, 1] for int tokens [B, S]."""
        if self.lent is not None:
            return self.lent(source)
        return source.unsqueeze(-1).to(self.table.dtype)

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """Return logits [B, T, V] of what comes after each position of the target."""
        state = torch.zeros_like(target[:, 0])
        for word, kept in zip(
            source.unbind(dim=1), memory.squeeze(-1).round().long().unbind(dim=1), strict=True
        ):
            state = (5 * state + 2 * word + kept + 1) % STATES
        states = []
        for word in target.unbind(dim=1):
            state = (5 * state + word + 1) % STATES
            states.append(state)
        return self.dropout(self.table)[torch.stack(states, dim=1)]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return decode(target, encode(source), source)."""
        return self.decode(target, self.encode(source), source)


def modes_after_error(
    translate: Callable[..., Any], table: Tensor, source: Tensor, **options: int
) -> list[bool]:
    """Return whether models in train and in eval mode are in train mode after their encode or decode has raised."""

    def broken(*_: Tensor) -> Tensor:
        raise ArithmeticError("this model is broken")

    found = []
    for training in (True, False):
        for name in ("encode", "decode"):
            model = ScriptedTranslator(table).train(training)
            setattr(model, name, broken)
            with contextlib.suppress(ArithmeticError):
                translate(model, source, **options)
            found.append(model.training)
    return found


def recording_after_error(
    translate: Callable[..., Any], table: Tensor, source: Tensor, **options: int
) -> list[bool]:
    """Return whether gradients, which were recorded before, are after a model's encode or decode has raised."""

    def broken(*_: Tensor) -> Tensor:
        raise ArithmeticError("this model is broken")

    found = []
    for name in ("encode", "decode"):
        model = ScriptedTranslator(table)
        setattr(model, name, broken)
        with torch.enable_grad():
            with contextlib.suppress(ArithmeticError):
                translate(model, source, **options)
            found.append(torch.is_grad_enabled())
    return found


def train(
    model: nn.Module, loss_of: Callable[..., Any], source: Tensor, target: Tensor, bos_id: int, steps: int
) -> None:
    """Train on random pairs with Adam and the submission's loss; the rate rises, then falls to zero.

    It starts from weights and draws rows that are always the same.
    """
    refill(model, seed=0, scale=0.08)
    generator, batch = torch.Generator().manual_seed(0), 32
    begin = torch.full((batch, 1), bos_id, device=source.device)
    adam = Adam(model, memory=0.98)
    model.train()
    for step in range(steps):
        rows = torch.randint(len(source), (batch,), generator=generator).to(source.device)
        read, wanted = source[rows], target[rows]
        adam.zero_grad()
        loss_of(model(read, torch.cat((begin, wanted[:, :-1]), dim=1)), wanted).backward()
        adam.step(6e-3 * min(1.0, (step + 1) / 30, 4 * (1 - step / steps)))
