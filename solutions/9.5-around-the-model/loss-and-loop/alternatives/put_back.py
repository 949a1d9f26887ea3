"""The same by products and sums; a load that fails puts everything back."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

IGNORED = -100


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Subtract the log of the sum, which has the largest score outside."""
    top = x.max(dim, keepdim=True).values.detach()
    return x - (top + torch.exp(x - top).sum(dim, keepdim=True).log())


def cross_entropy(logits: Tensor, targets: Tensor, ignore: int = IGNORED) -> Tensor:
    """Multiply the rows that count by one-hot rows."""
    words = logits.size(-1)
    rows, keep = logits.reshape(-1, words), targets.reshape(-1) != ignore
    if not keep.any():
        return (rows * 0).sum()
    targets = targets.reshape(-1)[keep]
    if int(targets.min()) < 0 or int(targets.max()) >= words:
        raise ValueError(f"targets from {int(targets.min())} to {int(targets.max())}, in a table of {words}")
    wanted = torch.eye(words, dtype=logits.dtype, device=logits.device)[targets]
    return -(log_softmax(rows[keep]) * wanted).sum() / len(targets)


def windows(tokens: Tensor, length: int, generator: torch.Generator, batch: int) -> tuple[Tensor, Tensor]:
    """Choose among all pieces of T + 1 tokens."""
    if length < 1 or length + 1 > tokens.numel():
        raise ValueError(f"no piece of {length} + 1 tokens in a text of {tokens.numel()}")
    pieces = tokens.unfold(0, length + 1, 1)
    chosen = (torch.rand(batch, generator=generator, dtype=torch.float64) * len(pieces)).long()
    rows = pieces[chosen.to(tokens.device)]
    return rows[:, :-1].clone(), rows[:, 1:].clone()


def accumulate(
    model: nn.Module, batches: list[tuple[Tensor, Tensor]], loss: Callable[[Tensor, Tensor], Tensor]
) -> float:
    """Collect the gradients of sums apart, and add them at the end, divided by all that counted."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    sums, whole, seen = [torch.zeros_like(parameter) for parameter in learned], 0.0, 0
    for x, targets in batches:
        count = (targets != IGNORED).sum().item()
        if count == 0:
            continue
        value = loss(model(x), targets) * count
        for total, gradient in zip(sums, torch.autograd.grad(value, learned, allow_unused=True), strict=True):
            total += 0 if gradient is None else gradient
        whole, seen = whole + float(value.detach()), seen + count
    if seen == 0:
        return 0.0
    for parameter, total in zip(learned, sums, strict=True):
        parameter.grad = total / seen if parameter.grad is None else parameter.grad + total / seen
    return whole / seen


def save(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator, step: int
) -> None:
    """Write a tuple into a temporary file of the same folder."""
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        torch.save((model.state_dict(), optimizer.state_dict(), generator.get_state(), step), file)
    os.rename(file.name, path)


def load(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator
) -> int:
    """Load one after the other, and put all back if one of them refuses."""
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict())), generator.get_state()
    with open(path, "rb") as file:
        try:
            own, moments, where, step = torch.load(file, map_location="cpu")
            _restore(model, optimizer, generator, own, moments, where)
        except Exception as error:
            _restore(model, optimizer, generator, *before[0], before[1])
            raise ValueError(f"{path} does not fit: {error}") from error
    return step


def _restore(model, optimizer, generator, own, moments, where) -> None:
    model.load_state_dict(own)
    optimizer.load_state_dict(moments)
    generator.set_state(where)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
