"""The half of `grader.engine.checks.training` in the worker. It keeps no books: a submission shares its process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn


class StandIn(nn.Module):
    """A model that asks the check for its logits, and on the way back for the gradient of its only parameter.

    Args:
        weight: where the parameter starts.
        forward: lent; (tokens, whether it trains, the parameter as it is) -> (number of this call, logits).
        backward: lent; (number of the call, gradient of its logits) -> gradient of the parameter.
    """

    def __init__(self, weight: Tensor, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach().clone())
        self._callbacks = forward, backward

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, classes] for tokens [B, T]."""
        return _Asked.apply(  # type: ignore[no-any-return, no-untyped-call]
            self.weight, tokens, self.training, *self._callbacks
        )


class _Asked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        weight: Tensor,
        tokens: Tensor,
        training: bool,
        forward: Callable[..., Any],
        backward: Callable[..., Any],
    ) -> Any:
        # The parameter as it is goes along: by its way the grader sees which gradients each update followed.
        ctx.number, logits = forward(tokens, training, weight.detach())
        ctx.ask = backward
        return logits

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        return ctx.ask(ctx.number, gradient), None, None, None, None


def function(
    parameters: Sequence[str], forward: Callable[..., Any], backward: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function that asks the check for its answers, and on the way back for the gradients.

    Args:
        parameters: what it may be called with, by position or by name; what is left out is None.
        forward: lent; a list of the arguments -> (number of this call, result or list of results).
        backward: lent; (number of the call, gradients of the results) -> gradients of the arguments.
    """

    def stand_in(*arguments: Any, **named: Any) -> Any:
        rest = parameters[len(arguments) :]
        if len(arguments) > len(parameters) or not named.keys() <= set(rest):
            raise TypeError(f"the arguments are {', '.join(parameters)}")
        return _Answered.apply(  # type: ignore[no-untyped-call]
            forward, backward, *arguments, *(named.get(name) for name in rest)
        )

    return stand_in


class _Answered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forward: Callable[..., Any], backward: Callable[..., Any], *arguments: Any) -> Any:
        # The number of the call goes along: one answer may be differentiated after others were given.
        ctx.number, result = forward([_plain(value) for value in arguments])
        ctx.ask = backward
        return tuple(result) if isinstance(result, list) else result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        # autograd wants one gradient for each argument of `forward`, the two functions included.
        return None, None, *ctx.ask(ctx.number, list(gradients))


def _plain(value: Any) -> Any:
    # Without its graph, which belongs to this process: the check has another one on its side.
    return value.detach() if isinstance(value, Tensor) else value
