"""The same written out: one place after the other, and a file with a checksum of its own."""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

IGNORED = -100


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Divide by the exponential of the largest, entry by entry along the axis."""
    entries = x.unbind(dim)
    top = entries[0]
    for entry in entries[1:]:
        top = torch.maximum(top, entry)
    total = sum(math.e ** (entry - top) for entry in entries)
    return torch.stack([(entry - top) - torch.log(total) for entry in entries], dim)


def cross_entropy(logits: Tensor, targets: Tensor, ignore: int = IGNORED) -> Tensor:
    """Pick the log-probability of each place that counts."""
    V = logits.shape[-1]
    rows, loss, count = log_softmax(logits.flatten(0, -2) if logits.dim() > 1 else logits[None]), [], 0
    for place, target in enumerate(targets.flatten().tolist()):
        if target == ignore:
            continue
        if target not in range(V):
            raise ValueError(f"{target} is not in range({V})")
        loss.append(rows[place, target])
        count += 1
    return -torch.stack(loss).sum() / count if count else logits.sum() * 0


def windows(tokens: Tensor, length: int, generator: torch.Generator, batch: int) -> tuple[Tensor, Tensor]:
    """Cut out one window after the other."""
    if length not in range(1, len(tokens)):
        raise ValueError(f"length {length} is not in range(1, {len(tokens)})")
    x, y = [], []
    for _ in range(batch):
        (i,) = torch.randint(high=len(tokens) - length, size=(1,), generator=generator).tolist()
        x.append(tokens.narrow(0, i, length))
        y.append(tokens.narrow(0, i + 1, length))
    return torch.stack(x), torch.stack(y)


def accumulate(
    model: nn.Module, batches: list[tuple[Tensor, Tensor]], loss: Callable[[Tensor, Tensor], Tensor]
) -> float:
    """Give backward the share of each part as the gradient of its loss."""
    share, total = [], sum((targets != IGNORED).sum().item() for _, targets in batches)
    for x, targets in batches:
        part = (targets != IGNORED).sum().item()
        if not part:
            continue
        value = loss(model(x), targets)
        value.backward(torch.full_like(value, part / total))
        share.append(part / total * float(value.detach()))
    return float(sum(share))


def save(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator, step: int
) -> None:
    """Put a checksum in front of the bytes."""
    held = io.BytesIO()
    torch.save({"m": model.state_dict(), "o": optimizer.state_dict(), "g": generator.get_state(), "s": step}, held)
    new = f"{os.fspath(path)}.{os.getpid()}"
    with open(new, "wb") as file:
        file.write(hashlib.sha256(held.getvalue()).digest() + held.getvalue())
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def load(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator
) -> int:
    """Trust the checksum; then compare, and copy tensor by tensor."""
    content = Path(path).read_bytes()
    if hashlib.sha256(content[32:]).digest() != content[:32]:
        raise ValueError(f"{path}: the checksum of {len(content)} bytes is wrong")
    held = torch.load(io.BytesIO(content[32:]), map_location="cpu", weights_only=True)
    own, groups = model.state_dict(), [len(group["params"]) for group in optimizer.param_groups]
    if own.keys() != held["m"].keys():
        raise ValueError(f"{path} has {[*held['m']]}, and the model {[*own]}")
    for name, tensor in own.items():
        if tensor.shape != held["m"][name].shape:
            raise ValueError(f"{name}: {tuple(held['m'][name].shape)} in {path}, {tuple(tensor.shape)} in the model")
    if groups != [len(group["params"]) for group in held["o"]["param_groups"]]:
        raise ValueError(f"{path} is of an optimizer with other groups than {groups}")
    for name, tensor in own.items():
        tensor.copy_(held["m"][name])
    optimizer.load_state_dict(held["o"])
    generator.set_state(held["g"])
    return held["s"]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
