"""The same by einsum and addmm; old parameters are put aside, and a state is used up while it is compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """Narrow products by einsum; the base has a copy of its weight while it is merged."""

    def __init__(self, base: nn.Linear, r: int, alpha: float) -> None:
        super().__init__()
        if not r >= 1:
            raise ValueError(f"expected a rank from 1 on, found r = {r}")
        self.base = base
        self.hidden = {"factor": alpha / r, "shared": None}
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.empty(r, base.in_features, **like))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        base.weight.requires_grad = False
        if base.bias is not None:
            base.bias.requires_grad = False

    def forward(self, x: Tensor) -> Tensor:
        """Add the difference as long as it is not part of the base."""
        out = self.base(x)
        if self.hidden["shared"] is None:
            narrow = torch.einsum("...i,ri->...r", x, self.A)
            out = torch.add(out, torch.einsum("...r,or->...o", narrow, self.B), alpha=self.hidden["factor"])
        return out


def _all(model: nn.Module, path: str = "", seen: set | None = None) -> list[tuple[str, LoRALinear]]:
    """Return all adapters below a module with their paths, in the order in which they are found."""
    seen = set() if seen is None else seen
    if id(model) in seen:
        return []
    seen.add(id(model))
    found = [(path, model)] if isinstance(model, LoRALinear) else []
    for name, child in model.named_children():
        found += _all(child, f"{path}{name}.", seen)
    return found


def inject(model: nn.Module, names: Iterable[str], r: int, alpha: float) -> None:
    """Replace name by name; frozen is what was there before."""
    if not r >= 1:
        raise ValueError(f"expected a rank from 1 on, found r = {r}")
    layers = [(n, m) for n, m in model.named_modules(remove_duplicate=False) if type(m) is nn.Linear]
    chosen: list[nn.Linear] = []
    for name in names:
        new = [m for n, m in layers if n == name or n.split(".")[-1] == name]
        if new == []:
            raise ValueError(f"{name}: expected one of {[n for n, _ in layers]}")
        chosen += [m for m in new if not any(m is other for other in chosen)]
    for parameter in [*model.parameters()]:
        parameter.requires_grad_(False)
    for layer in chosen:
        adapter = LoRALinear(layer, r, alpha)
        for place in [n for n, m in layers if m is layer]:
            *way, last = place.split(".")
            holder = model
            for step in way:
                holder = getattr(holder, step)
            holder.add_module(last, adapter)


def merge(model: nn.Module) -> None:
    """Leave the old parameter aside, and write the sum into a copy of it."""
    with torch.no_grad():
        for _, layer in _all(model):
            if layer.hidden["shared"] is None:
                layer.hidden["shared"] = layer.base.weight
                own = layer.base.weight.clone()
                own.addmm_(layer.B, layer.A, alpha=layer.hidden["factor"])
                del layer.base.weight
                layer.base.register_parameter("weight", nn.Parameter(own, requires_grad=False))


def unmerge(model: nn.Module) -> None:
    """Take the old parameter back."""
    for _, layer in _all(model):
        old, layer.hidden["shared"] = layer.hidden["shared"], None
        if old is not None:
            layer.base.weight = old


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    """Write down A and B, layer by layer."""
    state = {}
    for path, layer in _all(model):
        state[path + "A"] = layer.A.data.clone()
        state[path + "B"] = layer.B.data.clone()
    return state


@torch.no_grad()
def load_adapter(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Take from a copy of the state what each layer needs; nothing may be left."""
    rest, pairs = dict(state), []
    for path, layer in _all(model):
        if layer.hidden["shared"] is not None:
            raise ValueError(f"{path} is merged; expected it unmerged")
        for name, own in (("A", layer.A), ("B", layer.B)):
            new = rest.pop(path + name, None)
            if new is None:
                raise ValueError(f"{path}{name} is missing, expected {list(own.shape)}")
            if new.shape != own.shape:
                raise ValueError(f"{path}{name}: expected {list(own.shape)}, found {list(new.shape)}")
            pairs.append((own, new))
    if rest:
        raise ValueError(f"expected nothing else, found {list(rest)}")
    for own, new in pairs:
        own.copy_(new)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
