"""LoRA: adapt a frozen model by differences of low rank.

Reference: Hu et al. 2021 (arXiv:2106.09685), section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """A frozen linear layer, and a difference of rank r that learns."""

    def __init__(self, base: nn.Linear, r: int, alpha: float) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"r is {r}, and a rank is at least 1")
        W = base.requires_grad_(False).weight
        A = torch.randn(r, base.in_features, dtype=W.dtype, device=W.device)
        self.base, self.scale = base, alpha / r
        self.A, self.B = nn.Parameter(A / base.in_features**0.5), nn.Parameter(W.new_zeros(base.out_features, r))
        self.old: tuple[nn.Parameter, ...] = ()  # the weight before merge; in a tuple, as it is not a parameter here

    def forward(self, x: Tensor) -> Tensor:
        """Return base(x), and the difference unless it is in there already."""
        y = self.base(x)
        return y if self.old else y + self.scale * (x @ self.A.T @ self.B.T)


def _layers(model: nn.Module) -> dict[str, LoRALinear]:
    """Return the LoRALinears of a model by name, each once."""
    return {name: module for name, module in model.named_modules() if isinstance(module, LoRALinear)}


def _parts(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return A and B of all layers by name."""
    return {f"{name}.{part}": getattr(layer, part) for name, layer in _layers(model).items() for part in "AB"}


def inject(model: nn.Module, names: Iterable[str], r: int, alpha: float) -> None:
    """Put a LoRALinear in the place of some linear layers of a model, and freeze all else."""
    modules = dict(model.named_modules(remove_duplicate=False))
    linear = {place: module for place, module in modules.items() if isinstance(module, nn.Linear)}
    chosen = {}
    for name in names:
        found = [layer for place, layer in linear.items() if name in (place, place.rpartition(".")[2])]
        if not found:
            raise ValueError(f"no nn.Linear is called {name!r}; there are {', '.join(linear)}")
        chosen |= dict.fromkeys(found)
    adapters = {layer: LoRALinear(layer, r, alpha) for layer in chosen}  # refuses r before anything changes
    for parameter in model.parameters():
        parameter.requires_grad = False
    for place, layer in linear.items():
        if layer in adapters:
            holder, _, last = place.rpartition(".")
            setattr(modules[holder], last, adapters[layer])


def merge(model: nn.Module) -> None:
    """Put a new weight into each base; what shares the old one keeps it."""
    for layer in _layers(model).values():
        if not layer.old:
            W = layer.base.weight
            D = layer.scale * (layer.B @ layer.A).detach()
            layer.old, layer.base.weight = (W,), nn.Parameter(W + D, requires_grad=False)


def unmerge(model: nn.Module) -> None:
    """Put each old weight back."""
    for layer in _layers(model).values():
        if layer.old:
            (layer.base.weight,), layer.old = layer.old, ()


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    """Return copies of A and B of each LoRALinear, by name."""
    return {name: part.detach().clone() for name, part in _parts(model).items()}


def load_adapter(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Copy A and B of each LoRALinear from a state, if all of it fits."""
    parts = _parts(model)
    expected = {name: list(part.shape) for name, part in parts.items()}
    given = {name: list(part.shape) for name, part in state.items()}
    for name in [*expected, *given]:
        if given.get(name) != expected.get(name):
            raise ValueError(f"the state has {given.get(name)} for {name}; {expected.get(name)} was expected")
    for name, layer in _layers(model).items():
        if layer.old:
            raise ValueError(f"{name} is merged: an unmerged layer was expected")
    for name, part in parts.items():
        part.data.copy_(state[name])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
