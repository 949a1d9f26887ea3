"""Load a module's state as `load_state_dict` does, in a third of its time where nothing special is asked of it.

Checks load parameters again and again, and torch searches all names once for each module.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import _IncompatibleKeys

_TORCHS = {
    name: getattr(nn.Module, name)
    for name in ("load_state_dict", "_load_from_state_dict", "get_extra_state", "set_extra_state")
}
"""What a module may do in its own way, as torch does it."""


def load_state(module: Any, state: Any, strict: bool = True, **options: Any) -> Any:
    """Do what `module.load_state_dict` does."""
    if isinstance(module, nn.Module) and isinstance(state, dict) and not options:
        own = _own_state(module)
        missing = own.keys() - state.keys() if own is not None else set()
        if own is not None and not (strict and missing) and _copied(own, state):
            return _IncompatibleKeys([name for name in own if name in missing], [])
    return module.load_state_dict(state, strict, **options)


def _own_state(module: nn.Module) -> dict[str, Tensor] | None:
    """Return parameters and buffers by their names, or nothing where a module loads them in its own way."""
    found: dict[str, Tensor] = {}
    for prefix, part in _parts(module):
        kind = type(part)
        hooks = part._load_state_dict_pre_hooks or part._load_state_dict_post_hooks
        if hooks or any(
            getattr(kind, name) is not torchs or name in vars(part) for name, torchs in _TORCHS.items()
        ):
            return None
        apart = part._non_persistent_buffers_set
        for name, value in itertools.chain(part._parameters.items(), part._buffers.items()):
            if value is not None and name not in apart:
                found[prefix + name] = value
    return found


def _parts(module: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Yield a module and all in it in torch's order, one that has several names as often."""
    yield prefix, module
    for name, part in module._modules.items():
        if part is not None:
            yield from _parts(part, f"{prefix}{name}.")


def _copied(own: dict[str, Tensor], state: dict[str, Any]) -> bool:
    """Copy values to their places; return whether torch would have raised and warned of nothing."""
    pairs = [(own[name], state[name]) for name in own if name in state]
    if len(pairs) < len(state) or torch.__future__.get_swap_module_params_on_conversion():
        return False
    usual = (Tensor, nn.Parameter)
    if not all(
        type(here) in usual and type(given) in usual and here.shape == given.shape and not here.is_meta
        for here, given in pairs
    ):
        return False
    with torch.no_grad():
        try:
            for here, given in pairs:
                here.copy_(given)
        except RuntimeError:  # torch names the place
            return False
    return True
