"""The loss and the loop: what a run of training needs besides a model and an optimizer.

References: Bishop 2006, section 4.3.4, cross-entropy and its gradient; Ott et al. 2018 (arXiv:1806.00187), gradients
accumulated over parts of a batch.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

IGNORED = -100


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return the logarithm of the softmax along an axis."""
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


def cross_entropy(logits: Tensor, targets: Tensor, ignore: int = IGNORED) -> Tensor:
    """Return the mean of -log p(target) over the targets that count."""
    counts, words = targets != ignore, logits.shape[-1]
    outside = targets[counts & ((targets < 0) | (targets >= words))]
    if outside.numel():
        raise ValueError(f"target {int(outside[0])} is outside the table: from 0 to {words - 1}, or {ignore}")
    places = targets.masked_fill(~counts, 0)[..., None]
    found = log_softmax(logits).gather(-1, places)[..., 0]
    return -found.masked_fill(~counts, 0).sum() / counts.sum().clamp(min=1)


def windows(tokens: Tensor, length: int, generator: torch.Generator, batch: int) -> tuple[Tensor, Tensor]:
    """Draw windows of a text, and the tokens that follow theirs: int64 [B, T] twice."""
    if not 1 <= length < len(tokens):
        raise ValueError(f"length {length} is not from 1 to {len(tokens) - 1}, in a text of {len(tokens)} tokens")
    first = torch.randint(len(tokens) - length, (batch, 1), generator=generator)
    places = (first + torch.arange(length)).to(tokens.device)
    return tokens[places], tokens[places + 1]


def accumulate(
    model: nn.Module, batches: list[tuple[Tensor, Tensor]], loss: Callable[[Tensor, Tensor], Tensor]
) -> float:
    """Add the gradient of the whole batch's mean to the parameters', part by part; return the mean."""
    counts = [int((targets != IGNORED).sum()) for _, targets in batches]
    mean = 0.0
    for (x, targets), count in zip(batches, counts, strict=True):
        if count:
            share = loss(model(x), targets) * (count / sum(counts))
            share.backward()
            mean += share.item()
    return mean


def save(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator, step: int
) -> None:
    """Write a checkpoint: whole, or not at all."""
    whole = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "generator": generator.get_state(),
        "step": step,
    }
    draft = Path(f"{path}.draft")
    try:
        torch.save(whole, draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def load(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator
) -> int:
    """Read a checkpoint into model, optimizer and generator; return its step."""
    content = Path(path).read_bytes()
    try:
        whole = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        found, step = _outline(whole["model"], whole["optimizer"]), int(whole["step"])
        torch.Generator().set_state(whole["generator"])
    # A file that is cut off is an OSError, an EOFError, a RuntimeError or an UnpicklingError, by where it ends.
    except Exception as error:
        raise ValueError(f"{path} is not a whole checkpoint: {error}") from error
    expected = _outline(model.state_dict(), optimizer.state_dict())
    for name in [*expected, *found]:
        if found.get(name) != expected.get(name):
            raise ValueError(f"{path} has {found.get(name)} for {name}, where {expected.get(name)} is expected")
    model.load_state_dict(whole["model"])
    optimizer.load_state_dict(whole["optimizer"])
    generator.set_state(whole["generator"])
    return step


def _outline(model: dict, optimizer: dict) -> dict[str, list[int]]:
    """Return the shape of each tensor of a model, and the size of each group of an optimizer."""
    groups = {f"group {place}": [len(group["params"])] for place, group in enumerate(optimizer["param_groups"])}
    return {name: list(value.shape) for name, value in model.items()} | groups
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
