"""What the checks bring into the worker: parameters whose gradients they set, and an optimizer over them.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn


class Bench:
    """Parameters, and an optimizer that moves them.

    Args:
        make: the optimizer's class.
        values: what the parameters begin with.
        options: what the optimizer is told.
        groups: for each group its options, and the places of its parameters as "places"; None: no groups.
    """

    def __init__(self, make: Callable[..., Any], values: Sequence[Tensor], options: dict[str, Any],
                 groups: Sequence[dict[str, Any]] | None = None) -> None:  # fmt: skip
        self.make, self.options, self.groups = make, options, groups
        self.parameters = [nn.Parameter(value.detach().clone()) for value in values]
        self.memory = [parameter.detach() for parameter in self.parameters]
        self.optimizer = self._made()

    def _made(self) -> Any:
        if self.groups is None:
            return self.make(self.parameters, **self.options)
        groups = [
            {"params": [self.parameters[place] for place in group["places"]]}
            | {name: value for name, value in group.items() if name != "places"}
            for group in self.groups
        ]
        return self.make(params=groups, **self.options)

    def step(self, gradients: Sequence[Tensor | None]) -> list[Tensor]:
        """Take one step under these gradients; return the parameters as they are then."""
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = None if gradient is None else gradient.detach().clone()
        self.optimizer.step()
        return [parameter.detach().clone() for parameter in self.parameters]

    def join(self, place: int) -> None:
        """Let a parameter that no group has join, in a group of its own."""
        self.optimizer.add_param_group({"params": [self.parameters[place]]})

    def freeze(self, place: int) -> None:
        """Let no graph need a parameter's gradient any more: one that it has stays, and a step moves it."""
        self.parameters[place].requires_grad_(False)

    def gradients(self) -> list[Tensor | None]:
        """Return the gradients as they lie there."""
        return [None if parameter.grad is None else parameter.grad.clone() for parameter in self.parameters]

    def set_option(self, name: str, value: Any) -> None:
        """Change an option of every group, as a schedule does."""
        for group in self.optimizer.param_groups:
            group[name] = value

    def resumed(self) -> Bench:
        """Return copies of the parameters with a new optimizer that has loaded this one's state_dict."""
        other = Bench(self.make, self.parameters, self.options, self.groups)
        other.optimizer.load_state_dict(copy.deepcopy(self.optimizer.state_dict()))
        return other

    def in_memory(self) -> list[Tensor]:
        """Return what is where the parameters were at first: other tensors, such as a view, may share that memory."""
        return [place.clone() for place in self.memory]

    def records_after(self, recorded: bool) -> bool:
        """Take a step while gradients are recorded, or not; return whether they are recorded after it."""
        with torch.set_grad_enabled(recorded):
            self.optimizer.step()
            return torch.is_grad_enabled()

    def backward(self, gradients: Sequence[Tensor]) -> None:
        """Let a loss have these gradients, as in training."""
        for parameter in self.parameters:
            parameter.grad = None
        products = [one * gradient for one, gradient in zip(self.parameters, gradients, strict=True)]
        torch.cat([one.flatten() for one in products]).sum().backward()


class Clipper:
    """Puts gradients where `clip` finds them, and hands it the parameters as a list, or by name as a generator."""

    def __init__(self, clip: Callable[..., Any], generator: bool = False) -> None:
        self.clip, self.generator = clip, generator
        self.parameters: list[nn.Parameter] = []

    def __call__(self, gradients: Sequence[Tensor | None], max_norm: float) -> tuple[Any, list[Tensor]]:
        """Return what `clip` returns, and the very tensors that were the gradients before."""
        shapes = [(2,) if gradient is None else gradient.shape for gradient in gradients]
        # Every second number of a longer row: who reads the memory of one for a whole finds another.
        like = next((gradient for gradient in gradients if gradient is not None), torch.zeros(()))
        self.parameters = [nn.Parameter(like.new_zeros(*shape, 2)[..., 0]) for shape in shapes]
        held = []
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            if gradient is not None:
                parameter.grad = gradient.detach().clone()
                held.append(parameter.grad)
        self.parameters[-1].requires_grad_(False)  # its gradient is there all the same
        if self.generator:
            norm = self.clip(parameters=(one for one in self.parameters), max_norm=max_norm)
        else:
            norm = self.clip(self.parameters, max_norm)
        return norm, [one.clone() for one in held]

    def values(self) -> list[Tensor]:
        """Return the parameters, which began as zeros."""
        return [parameter.detach().clone() for parameter in self.parameters]
