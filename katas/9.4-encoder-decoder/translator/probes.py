"""What the checks bring into the worker: random parameters, a scripted model, a training loop.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

STATES = 97
"""What a scripted model remembers of two texts is a number below this."""


@torch.no_grad()
def refill(model: nn.Module, seed: int, scale: float | None = None) -> None:
    """Give every parameter random values that depend on its shape and its place among those of that shape.

    So no layer is idle because its weights start as zeros, and two models that are built alike compute the same
    whatever their layers are called. With `scale` matrices are as large as that, and all
    else is as it was: a start for training.
    """
    seen: dict[tuple[int, ...], int] = {}
    for parameter in model.parameters():
        shape = tuple(parameter.shape)
        place = seen[shape] = seen.get(shape, 0) + 1
        number = seed
        for part in (len(shape), place, *shape):
            number = (number * 1_000_003 + part + 1) % (1 << 61)
        noise = torch.randn(shape, generator=torch.Generator().manual_seed(number), dtype=torch.float32)
        noise = noise.to(parameter)
        if len(shape) > 1:
            parameter.copy_(noise * (scale or shape[-1] ** -0.5))
        else:  # a bias, or the weight of a norm: near the 0 or 1 where it starts
            parameter.copy_(parameter.round() + noise * (0.0 if scale else 0.2))


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
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    mean = square = torch.zeros(())
    model.train()
    for step in range(steps):
        rows = torch.randint(len(source), (batch,), generator=generator).to(source.device)
        read, wanted = source[rows], target[rows]
        model.zero_grad()
        loss_of(model(read, torch.cat((begin, wanted[:, :-1]), dim=1)), wanted).backward()
        # Adam, written out over all parameters at once: importing torch's takes longer than much of the training.
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
        flat = flat / flat.norm().clamp(min=1.0)
        mean = 0.9 * mean.to(flat) + 0.1 * flat
        square = 0.98 * square.to(flat) + 0.02 * flat**2
        rate = 6e-3 * min(1.0, (step + 1) / 30, 4 * (1 - step / steps))
        change = rate * mean / (1 - 0.9 ** (step + 1)) / ((square / (1 - 0.98 ** (step + 1))).sqrt() + 1e-8)
        with torch.no_grad():
            for parameter, part in zip(
                parameters, change.split([p.numel() for p in parameters]), strict=True
            ):
                parameter -= part.view_as(parameter)
