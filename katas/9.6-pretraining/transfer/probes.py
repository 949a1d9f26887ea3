"""What checks bring into the worker: a small body, and training with torch's optimizers.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Body(nn.Module):
    """Embeddings and one layer that mixes neighbours; it takes tokens [B, T] and gives hidden [B, T, D]."""

    def __init__(self, vocab_size: int, d_model: int, pad_id: int = 0) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.linear = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return hidden [B, T, D]."""
        x = self.embedding(tokens)
        return self.norm(x + self.dropout(torch.tanh(self.linear(x.roll(1, dims=1)))))


class WithBuffer(nn.Module):
    """A module with a parameter, a buffer, and other modules inside, one of them deep."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("seen", torch.zeros(width))
        self.first = nn.Linear(width, width)
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x: Tensor) -> Tensor:
        """Return something that depends on all parameters."""
        return self.inner(self.first(x * self.scale)) + self.seen


def layers(count: int, width: int) -> nn.ModuleList:
    """Return layers of a stack, of two parameters each."""
    return nn.ModuleList([nn.Linear(width, width) for _ in range(count)])


def facts(
    make: Any, layers: nn.ModuleList, lr: float, decay: float, plain: bool = False
) -> list[tuple[float, list[str]]]:
    """Make groups; return for each its rate, and what its parameters are called in the stack, sorted."""
    groups = make(list(layers) if plain else layers, lr, decay)
    names = {id(parameter): name for name, parameter in layers.named_parameters()}
    return [
        (float(group["lr"]), sorted(names.get(id(parameter), "unknown") for parameter in group["params"]))
        for group in groups
    ]


def moved_by_a_step(make: Any, layers: nn.ModuleList, lr: float, decay: float, x: Tensor) -> list[float]:
    """Take a step of SGD with such groups; return by which factor of its gradient each layer's weight moved."""
    optimizer = torch.optim.SGD(make(layers, lr, decay), lr=99.0)
    for layer in layers:
        x = torch.tanh(layer(x))
    x.square().sum().backward()
    before = [layer.weight.detach().clone() for layer in layers]  # type: ignore[union-attr]
    optimizer.step()
    return [
        float((old - layer.weight.detach()).norm() / layer.weight.grad.norm())  # type: ignore[union-attr]
        for old, layer in zip(before, layers, strict=True)
    ]


def modes(module: nn.Module) -> list[bool]:
    """Return train or eval mode of every module inside."""
    return [each.training for each in module.modules()]


def learns(module: nn.Module) -> list[bool]:
    """Return for each parameter whether it takes a gradient."""
    return [parameter.requires_grad for parameter in module.parameters()]


def held(module: nn.Module) -> list[Tensor]:
    """Return copies of all parameters and buffers."""
    return [tensor.detach().clone() for tensor in module.state_dict().values()]


def gradients_reach(model: nn.Module, tokens: Tensor, task: str) -> list[str]:
    """Return the beginnings of the names of parameters that get a gradient from this task: `body`, `heads.NAME`."""
    model.zero_grad(set_to_none=True)
    found = model(tokens, task)
    total = sum(
        part[part.isfinite()].square().sum() for part in (found if isinstance(found, tuple) else (found,))
    )
    total.backward()  # type: ignore[union-attr]
    names = set()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and bool(parameter.grad.any()):
            names.add(".".join(name.split(".")[: 2 if name.startswith("heads") else 1]))
    return sorted(names)


def same_objects(model: nn.Module, body: nn.Module, heads: dict[str, nn.Module]) -> bool:
    """Return whether a MultiTask holds the very body and heads that it was given."""
    return model.body is body and all(model.heads[name] is head for name, head in heads.items())  # type: ignore[index]
