"""What the checks bring into the worker: readers of a model, a scripted model, a training loop.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
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
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    mean = square = torch.zeros(())
    model.train()
    for step in range(steps):
        rows = tokens[torch.randint(len(tokens), (batch,), generator=generator).to(tokens.device)]
        model.zero_grad()
        loss_of(read(rows), rows).backward()
        # Adam, written out over all parameters at once: importing torch's takes longer than the training.
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
        flat = flat / flat.norm().clamp(min=1.0)
        mean = 0.9 * mean.to(flat) + 0.1 * flat
        square = 0.999 * square.to(flat) + 0.001 * flat**2
        rate = 5e-3 * min(1.0, (step + 1) / 10, 1.5 * (1 - step / steps))
        change = rate * mean / (1 - 0.9 ** (step + 1)) / ((square / (1 - 0.999 ** (step + 1))).sqrt() + 1e-8)
        with torch.no_grad():
            for parameter, part in zip(
                parameters, change.split([p.numel() for p in parameters]), strict=True
            ):
                parameter -= part.view_as(parameter)
