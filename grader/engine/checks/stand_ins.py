"""A function of the author's in place of one of the learner's, so that a mistake in it is paid for once.

What else the learner wrote calls it as it would call its own. It runs in the grader: the worker asks for its answers,
and for gradients on the way back, and never holds it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any, TypeVar

import torch
from torch import Tensor

from grader.engine.checks.failure import fail
from grader.engine.host.calls import Lent
from grader.engine.host.remote import context_of
from grader.engine.wire.codec import products

F = TypeVar("F", bound=Callable[..., Any])
STAND_IN = "grader.engine.worker.stand_in"
MAX_CALLS, MAX_ENTRIES, MAX_SIZE, MAX_NUMBER = 256, 8192, 72, 512
"""What a submission may ask of one stand-in: so many calls, in each so many entries of what its tensors broadcast to,
no axis or text longer (checks have 66) and no integer larger. What comes of it is computed in the grader: it stays
small."""


def stand_in(name: str) -> Callable[[F], F]:
    """Let a function of `checks.py` stand in for the learner's of this name, in checks that list it in `stand_ins`."""

    def mark(function: F) -> F:
        function.kata_stand_in = name  # type: ignore[attr-defined]
        return function

    return mark


def stand_ins_of(module: object) -> dict[str, Callable[..., Any]]:
    """Return the stand-ins that a file of checks defines, by the name that each stands in for."""
    found = {}
    for value in vars(module).values():
        if callable(value) and isinstance(name := getattr(value, "kata_stand_in", None), str):
            found[name] = value
    return found


def install_stand_ins(submission: Any, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Replace functions of a submission by stand-ins, until its worker is replaced."""
    for name, function in functions.items():
        stand_in = _Asked(function)
        ours = context_of(submission).given(STAND_IN)
        parameters = list(inspect.signature(function).parameters)
        setattr(submission, name, ours.function(parameters, Lent(stand_in.forward), Lent(stand_in.backward)))


class _Asked:
    """A stand-in as the worker asks for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._calls: list[list[Any]] = []

    def forward(self, arguments: Any) -> list[Any]:
        # The reference runs in the grader: a submission must not compute there, nor try out what it
        # answers.
        if not isinstance(arguments, list) or len(self._calls) >= MAX_CALLS:
            fail("asked too much of a stand-in")
        if _is_large(arguments):
            fail("asked a stand-in for more than any check does")
        self._calls.append(arguments)
        result = self._function(*arguments)
        return [len(self._calls) - 1, list(result) if isinstance(result, tuple) else result]

    def backward(self, number: Any, gradients: Any) -> list[Tensor | None]:
        if type(number) is not int or not 0 <= number < len(self._calls) or not isinstance(gradients, list):
            fail("asked a stand-in for gradients of a call that never was")
        # Computed again: what every call would keep for its gradient is too much to hold.
        leaves = [
            value.detach().requires_grad_(value.is_floating_point()) if isinstance(value, Tensor) else value
            for value in self._calls[number]
        ]
        # The worker asks within a backward, where torch records nothing.
        with torch.enable_grad():
            result = self._function(*leaves)
            outputs = result if isinstance(result, tuple) else (result,)
            pairs = [(y, g) for y, g in zip(outputs, gradients, strict=True) if y.requires_grad]
            if any(not isinstance(g, Tensor) or g.shape != y.shape for y, g in pairs):
                fail("gave a stand-in a gradient that is none of its result")
            scalars = products(pairs)
        wanted = [value for value in leaves if isinstance(value, Tensor) and value.requires_grad]
        found = iter(torch.autograd.grad(scalars, wanted, allow_unused=True)) if scalars else iter(())
        return [
            next(found, None) if isinstance(value, Tensor) and value.requires_grad else None
            for value in leaves
        ]


def _is_large(arguments: list[Any]) -> bool:
    """Tell before anything is computed: small tensors of different axes broadcast to all of their sizes, multiplied."""
    shapes = [value.shape[::-1] for value in arguments if isinstance(value, Tensor)]
    together = [max(sizes) for sizes in zip_longest(*shapes, fillvalue=1)]
    numbers = (abs(value) for value in arguments if isinstance(value, int))
    return (
        math.prod(max(size, 1) for size in together) > MAX_ENTRIES
        or max(together, default=0) > MAX_SIZE
        or max(numbers, default=0) > MAX_NUMBER
        or any(len(value) > MAX_SIZE for value in arguments if isinstance(value, str))
        or not all(value is None or isinstance(value, Tensor | int | float | str) for value in arguments)
    )
