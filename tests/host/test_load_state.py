"""What a worker does in place of `load_state_dict` leaves what torch's own leaves, says the same, and takes less."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import nn

from grader.engine.worker.serve import load_state


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.layers = nn.ModuleList([nn.LayerNorm(3), nn.Linear(3, 3, bias=False)])
        self.missing = None
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("kept", torch.ones(2))
        self.register_buffer("made", torch.ones(2), persistent=False)


class Own(nn.Linear):
    def _load_from_state_dict(self, state: Any, prefix: str, *rest: Any) -> None:
        state[f"{prefix}weight"] = state.pop(f"{prefix}kernel").t()
        super()._load_from_state_dict(state, prefix, *rest)


def tied() -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    module[1].weight = module[0].weight
    return module


def hooked() -> nn.Module:
    module = nn.Linear(2, 2)
    module.register_load_state_dict_pre_hook(lambda own, state, prefix, *rest: state.update(bias=state["b"]))
    return module


def ones(module: nn.Module, **changes: Any) -> dict[str, Any]:
    return {**{name: torch.ones_like(value) for name, value in module.state_dict().items()}, **changes}


def rid(state: dict[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in state.items() if other != name}


CASES: dict[str, tuple[nn.Module, dict[str, Any], bool]] = {
    "all": (Parts(), ones(Parts()), True),
    "some": (Parts(), {"first.bias": torch.zeros(3), "kept": torch.zeros(2)}, False),
    "one is missing": (Parts(), rid(ones(Parts()), "first.bias"), True),
    "one too many": (Parts(), ones(Parts(), other=torch.ones(1)), True),
    "one too many, not strictly": (Parts(), ones(Parts(), other=torch.ones(1)), False),
    "of another shape": (Parts(), ones(Parts(), kept=torch.ones(3)), False),
    "a number in a list": (Parts(), ones(Parts(), scale=torch.ones(1)), True),
    "no tensor": (Parts(), ones(Parts(), kept=[1.0, 1.0]), True),
    "of another dtype": (Parts(), ones(Parts(), kept=torch.ones(2, dtype=torch.float64) / 3), True),
    "one under two names": (tied(), ones(tied(), **{"1.weight": torch.full((2, 2), 5.0)}), True),
    "its own way": (
        Own(2, 2),
        {"kernel": torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "bias": torch.ones(2)},
        True,
    ),
    "a hook": (hooked(), {"weight": torch.ones(2, 2), "b": torch.ones(2)}, False),
    "counts": (nn.BatchNorm1d(2), ones(nn.BatchNorm1d(2)), True),
}


@pytest.mark.parametrize(("module", "state", "strict"), CASES.values(), ids=list(CASES))
def test_it_is_what_torch_does(module: nn.Module, state: dict[str, Any], strict: bool) -> None:
    found = []
    for load in (load_state, lambda other, *rest: other.load_state_dict(*rest)):
        other = copy.deepcopy(module)
        try:
            result: Any = load(other, dict(state), strict)
        except RuntimeError as error:
            result = str(error)
        found.append((result, [value.tolist() for value in other.state_dict().values()]))
    assert found[0] == found[1]


def test_torch_searches_only_where_something_special_is_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, searched = Parts(), list[int]()
    state = ones(plain)
    # Torch's begins with this.
    monkeypatch.setattr(
        "torch.nn.modules.module.OrderedDict", lambda state: (searched.append(1), OrderedDict(state))[1]
    )
    load_state(plain, state)
    assert not searched
    load_state(copy.deepcopy(CASES["a hook"][0]), CASES["a hook"][1], False)
    assert searched
