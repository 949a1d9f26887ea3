"""The same with one product by W + D, weights exchanged in the table of parameters, and a walk of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    """A linear layer whose weight is a sum."""

    def __init__(self, base: nn.Linear, r: int, alpha: float) -> None:
        if r <= 0:
            raise ValueError(f"rank {r}: expected 1 or more")
        super().__init__()
        self.base, self.r, self.alpha, self.merged = base, r, alpha, False
        for parameter in base.parameters():
            parameter.requires_grad_(False)
        inputs = base.in_features
        self.A = nn.Parameter(torch.empty_like(base.weight[:1]).expand(r, -1).clone())
        self.B = nn.Parameter(torch.zeros_like(base.weight[:, :1]).expand(-1, r).clone())
        nn.init.uniform_(self.A, -(inputs**-0.5), inputs**-0.5)

    def weight(self) -> Tensor:
        """Return the base's weight and the difference."""
        return self.base.weight + (self.B @ self.A) * self.alpha / self.r

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by the sum."""
        return F.linear(x, self.base.weight if self.merged else self.weight(), self.base.bias)

    def exchange(self) -> None:
        """Put the sum into the base's table of parameters, or what was there before."""
        table = self.base._parameters
        if self.merged:
            table["weight"] = self.__dict__.pop("before")
        else:
            self.__dict__["before"] = table["weight"]  # past nn.Module, which would register it
            table["weight"] = nn.Parameter(self.weight().detach(), requires_grad=False)
        self.merged = not self.merged


def inject(model: nn.Module, names: Iterable[str], r: int, alpha: float) -> None:
    """Collect what holds a layer, replace, and freeze whatever is not A or B."""
    names = set(names)
    unused = set(names)
    if r <= 0:
        raise ValueError(f"rank {r}: expected 1 or more")
    held, wanted = [], {}

    def walk(module: nn.Module, path: str) -> None:
        for last, child in module._modules.items():
            if isinstance(child, nn.Linear):
                held.append((module, last, child))
                hits = {path + last, last} & names
                unused.difference_update(hits)
                if hits:
                    wanted[id(child)] = child
            elif child is not None:
                walk(child, f"{path}{last}.")

    walk(model, "")
    if unused:
        raise ValueError(f"expected names of nn.Linear layers, found {sorted(unused)}")
    model.requires_grad_(False)
    made = {key: LoRALinear(layer, r, alpha) for key, layer in wanted.items()}
    for holder, last, child in held:
        if id(child) in made:
            holder._modules[last] = made[id(child)]


def merge(model: nn.Module) -> None:
    """Exchange each weight that is not merged."""
    for module in model.modules():
        if isinstance(module, LoRALinear) and not module.merged:
            module.exchange()


def unmerge(model: nn.Module) -> None:
    """Exchange each weight that is merged."""
    for module in model.modules():
        if isinstance(module, LoRALinear) and module.merged:
            module.exchange()


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    """Look up by identity which of the named parameters are A or B."""
    own = {id(part) for module in model.modules() if isinstance(module, LoRALinear) for part in (module.A, module.B)}
    return {name: value.detach().clone() for name, value in model.named_parameters() if id(value) in own}


def load_adapter(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Compare sets of names, then shapes, then load with torch's own method."""
    if any(isinstance(module, LoRALinear) and module.merged for module in model.modules()):
        raise ValueError("the model is merged, expected one that is not")
    own = adapter_state(model)
    if own.keys() != state.keys():
        raise ValueError(f"expected {sorted(own)}, found {sorted(state)}")
    for name, value in own.items():
        if value.shape != state[name].shape:
            raise ValueError(f"expected {tuple(value.shape)} for {name}, found {tuple(state[name].shape)}")
    model.load_state_dict(dict(state), strict=False)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
