"""Random inputs that a seed and a check's name reproduce, and that remember what their axes mean."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

from grader.errors import PackError

_AXES = "kata_axes"


def axes_of(tensor: object) -> dict[str, int] | None:
    """Return the axes that a drawn tensor was drawn with, names to sizes in order, or None for any other."""
    names: dict[str, int] | None = getattr(tensor, "__dict__", {}).get(_AXES)
    if names is None or not isinstance(tensor, Tensor) or tuple(names.values()) != tuple(tensor.shape):
        return None
    return names


def with_axes(tensor: Tensor, *names: str) -> Tensor:
    """Name the axes of a tensor that was not drawn, so that messages can; return the tensor."""
    if len(names) != tensor.ndim:
        raise PackError(f"{len(names)} axis names for a tensor of {tensor.ndim} axes")
    # on the tensor itself, so the memory lasts as long as it does
    setattr(tensor, _AXES, dict(zip(names, tensor.shape, strict=True)))
    return tensor


class Draw:
    """Draws tensors and sizes; the keyword names are the axes and their values the sizes.

    Numbers are drawn on the CPU, so they are the same on every device, and moved to `device`.

    >>> draw = Draw(0, "an example")
    >>> x = draw.normal(batch=2, time=3)
    >>> tuple(x.shape), axes_of(x)
    ((2, 3), {'batch': 2, 'time': 3})
    """

    def __init__(self, seed: int, name: str, device: torch.device | str = "cpu") -> None:
        digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
        self.seed = seed
        self.device = torch.device(device)
        self.generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)

    def normal(
        self,
        *,
        scale: float = 1.0,
        shift: float = 0.0,
        dtype: torch.dtype = torch.float32,
        requires_grad: bool = False,
        **axes: int,
    ) -> Tensor:
        """Return normal numbers of deviation `scale` around `shift`."""
        made = torch.float64 if dtype == torch.float64 else torch.float32
        x = torch.randn(tuple(axes.values()), generator=self.generator, dtype=made) * scale + shift
        return self._named(x.to(dtype), axes, requires_grad)

    def uniform(
        self,
        low: float = 0.0,
        high: float = 1.0,
        *,
        dtype: torch.dtype = torch.float32,
        requires_grad: bool = False,
        **axes: int,
    ) -> Tensor:
        """Return numbers spread evenly from `low` to `high`."""
        made = torch.float64 if dtype == torch.float64 else torch.float32
        x = torch.rand(tuple(axes.values()), generator=self.generator, dtype=made) * (high - low) + low
        return self._named(x.to(dtype), axes, requires_grad)

    def integers(self, low: int, high: int, *, dtype: torch.dtype = torch.int64, **axes: int) -> Tensor:
        """Return integers from `low` to `high` - 1, as for tokens of a vocabulary of `high`."""
        x = torch.randint(low, high, tuple(axes.values()), generator=self.generator, dtype=dtype)
        return self._named(x, axes)

    def mask(self, *, keep: float = 0.6, **axes: int) -> Tensor:
        """Return booleans, True with probability `keep`; each row of the last axis has a True."""
        shape = tuple(axes.values())
        mask = torch.rand(shape, generator=self.generator) < keep
        if mask.numel() and mask.ndim:
            columns = shape[-1]
            # Drawn for all rows, used for the empty ones: what comes next does not depend on how many these
            # are.
            chosen = torch.randint(columns, (*shape[:-1], 1), generator=self.generator)
            mask |= (torch.arange(columns) == chosen) & ~mask.any(-1, keepdim=True)
            # A mask that allows everything would let an answer pass that ignores it.
            if columns > 1 and bool(mask.all()):
                mask.view(-1)[int(torch.randint(mask.numel(), (), generator=self.generator))] = False
        return self._named(mask, axes)

    def permutation(self, n: int) -> Tensor:
        """Return the integers below `n` in random order; for `n` > 1 never in order."""
        order = torch.randperm(n, generator=self.generator)
        if n > 1 and bool((order == torch.arange(n)).all()):
            order = order.roll(1)
        return self._named(order, {"position": n})

    def size(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        return int(torch.randint(low, high + 1, (), generator=self.generator))

    def sizes(self, n: int, low: int, high: int) -> list[int]:
        """Return `n` different integers from `low` to `high`, both included: no axis passes for another."""
        if high - low + 1 < n:
            raise PackError(f"there are no {n} different sizes from {low} to {high}")
        return [low + int(i) for i in torch.randperm(high - low + 1, generator=self.generator)[:n]]

    def like(self, tensor: Tensor) -> Tensor:
        """Return normal numbers of the shape, dtype and axes of `tensor`: a cotangent."""
        x = torch.randn(tuple(tensor.shape), generator=self.generator, dtype=torch.float32).to(tensor.dtype)
        axes = axes_of(tensor)
        x = x.to(tensor.device)
        return with_axes(x, *axes) if axes else x

    def noncontiguous(self, tensor: Tensor) -> Tensor:
        """Return equal values in another memory order, never contiguous where there are two or more."""
        with torch.no_grad():
            x = tensor.transpose(0, -1).contiguous().transpose(0, -1) if tensor.ndim > 1 else tensor
            if x.is_contiguous() and tensor.ndim:
                # A vector, or axes of size 1, are contiguous in any order: every second place of something
                # larger is not.
                x = torch.stack((tensor, torch.zeros_like(tensor)), -1)[..., 0]
        x = x.detach().requires_grad_(tensor.requires_grad)
        axes = axes_of(tensor)
        return with_axes(x, *axes) if axes else x

    def _named(self, x: Tensor, axes: dict[str, int], requires_grad: bool = False) -> Tensor:
        x = x.to(self.device).requires_grad_(requires_grad)
        return with_axes(x, *axes)
