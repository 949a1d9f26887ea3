"""Gradients through a call in a worker: one node of autograd's here stands for the graph over there."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from grader.engine.host.calls import Conversation

_ANCHOR = torch.zeros((), requires_grad=True)
"""Makes autograd keep a node also where no argument requires grad; nothing ever flows into it."""


class _Crossing(torch.autograd.Function):
    """The autograd node on the grader's side of a call: backward goes over and comes back."""

    @staticmethod
    def forward(
        ctx: Any,
        session: Conversation,
        graph: Graph,
        outputs: list[torch.Tensor],
        anchor: torch.Tensor,
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        # Weakly: a node belongs to the tensors that it made, and the session holds some of these. Python's
        # collector does not see that they hold their node, so neither would ever be freed.
        ctx.session, ctx.graph = weakref.ref(session), graph
        # An output without a cotangent has none over there either; zeros would cross for nothing.
        ctx.set_materialize_grads(False)
        ctx.inputs = [(tensor.shape, tensor.dtype) for tensor in inputs]
        return tuple(outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        session: Conversation = ctx.session()
        gradients = session.backward(ctx.graph.number, list(cotangents), ctx.graph.of)
        expected = ctx.inputs
        # torch would refuse them itself, and the check would be taken for broken.
        if len(gradients) != len(expected) or any(
            gradient is not None and (gradient.shape != shape or gradient.dtype != dtype)
            for gradient, (shape, dtype) in zip(gradients, expected, strict=True)
        ):
            session.violation("its gradients do not fit its inputs")
        return (None, None, None, None, *gradients)


class Graph:
    """A graph that a call left in the worker; forgotten there when nobody here needs it."""

    def __init__(self, session: Conversation, number: int) -> None:
        self.number = number
        self.of = session.asked_of
        self._session = weakref.ref(session)
        self._generation = session.generation

    def __del__(self) -> None:
        # At whatever moment Python frees it, perhaps in the middle of a request: it is noted, and goes along
        # with the next.
        session = self._session()
        if session is not None:
            session.forget(self.number, self._generation)


def attach(session: Conversation, graph: int, value: Any, inputs: list[torch.Tensor]) -> Any:
    """Hang the tensors of `value` that carry a gradient in the worker on one node here."""
    outputs: dict[int, torch.Tensor] = {}
    _collect(value, outputs)
    # The worker encoded tensors in the order in which they are met, and kept those that require grad.
    found = list(outputs.values())
    if not found:
        return value
    # Detached: what was decoded are leaves, and the node is to be all the history that they have.
    plain = [tensor.detach() for tensor in found]
    attached = _Crossing.apply(session, Graph(session, graph), plain, _ANCHOR, *inputs)  # type: ignore[no-untyped-call]
    for before, after in zip(found, attached, strict=True):
        # An attribute of ours, which torch does not carry over to what a function returns.
        if kind := getattr(before, "kata_type", None):
            after.kata_type = kind
    return _replace(value, dict(zip(outputs, attached, strict=True)))


def _collect(value: Any, found: dict[int, torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        if value.requires_grad:
            found.setdefault(id(value), value)
    elif isinstance(value, list | tuple):
        for part in value:
            _collect(part, found)
    elif isinstance(value, dict):
        for key, part in value.items():
            _collect(key, found)
            _collect(part, found)


def _replace(value: Any, by: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return by.get(id(value), value)
    if isinstance(value, list | tuple):
        return type(value)(_replace(part, by) for part in value)
    if isinstance(value, dict):
        return {_replace(key, by): _replace(part, by) for key, part in value.items()}
    return value
