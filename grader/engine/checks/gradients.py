"""Gradients through the boundary, compared with float64 ones of the oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grader.engine.checks.conduct import only_if, precondition
from grader.engine.checks.draw import Draw, axes_of
from grader.engine.checks.expect import Expectation, expect
from grader.engine.checks.failure import CUT_OFF, CheckFailure, Failure, fail
from grader.engine.checks.oracle import Expected
from grader.engine.checks.oracle import oracle as run_oracle
from grader.engine.wire.cotangents import products
from grader.errors import PackError


def expect_gradients(
    outputs: Any,
    inputs: Mapping[str, Tensor],
    draw: Draw,
    oracle: Callable[..., Any],
    names: Sequence[str] = (),
) -> None:
    """Require the gradients of random cotangents on `outputs` with respect to each input to be the oracle's.

    `outputs` is a tensor or a tuple of them that the submission computed from `inputs` (name to tensor, each
    with requires_grad); `oracle` computes the same from the tensors of `inputs` in that order. `names` are
    those of the outputs in messages. Axes are those the inputs were drawn with.
    Of outputs that are not the oracle's nobody can tell by it whether their gradients are wrong: the check is skipped.
    """
    __tracebackhide__ = True
    several = isinstance(outputs, tuple | list)
    results: list[Any] = list(outputs) if several else [outputs]
    words = tuple(names) or (
        ("output",) if not several else tuple(f"output {i}" for i in range(len(results)))
    )
    # Shapes before gradients: an output of another shape than its cotangent would fail inside torch, in
    # words about a tensor that the learner has never seen.
    wanted = _wanted(oracle, inputs)
    if len(wanted) != len(results) or len(words) != len(results):
        raise PackError(f"{len(results)} outputs, {len(wanted)} of the oracle, {len(words)} names")
    for result, want, name in zip(results, wanted, words, strict=True):
        with precondition(f"{name} must be right"):
            expect(result, name).is_tensor(shape=tuple(want.shape), dtype=want.dtype)
        if not result.requires_grad:
            _no_graph(result, name)
    cotangents = [draw.like(want) for want in wanted]
    expected = oracle_gradients(oracle, inputs, cotangents)
    # Drawn on the CPU, so that they are the same on every device.
    sent = [c.to(r.device) for c, r in zip(cotangents, results, strict=True)]
    pulled = products(zip(results, sent, strict=True))
    found = torch.autograd.grad(pulled, list(inputs.values()), allow_unused=True)

    # Run only if a gradient is wrong: of wrong outputs nobody can tell whether their gradients are.
    def right_values() -> None:
        exact = run_oracle(lambda *tensors: _several(oracle(*tensors)), *inputs.values())
        for result, want, name in zip(results, exact, words, strict=True):
            expect(result, name).close_to(want)

    for name, gradient in zip(inputs, found, strict=True):
        # No gradient is right where all of it would be 0: torch gives none for what a result does not
        # depend on.
        if gradient is None and bool(expected[name].value.any()):
            no_path(results[0], name)
    for (name, tensor), gradient in zip(inputs.items(), found, strict=True):
        if gradient is not None:
            words_of_axes = " ".join(axes_of(tensor) or ())
            with only_if(f"{' and '.join(words)} must be right", right_values):
                compare_gradient(gradient, expected[name], f"gradient of {name}", words_of_axes, results[0])


def oracle_gradients(
    function: Callable[..., Any], inputs: Mapping[str, Tensor], cotangents: Sequence[Tensor] | Tensor
) -> dict[str, Expected]:
    """Return the gradient of `function` for each input, with derived tolerances.

    For what `expect_gradients` does not reach: run `torch.autograd.backward(outputs, cotangents)` on the
    submission's outputs and compare `module.w_q.weight.grad` with
    `expect(...).close_to(gradients["w_q.weight"])`.
    """
    given = [cotangents] if isinstance(cotangents, Tensor) else list(cotangents)

    def gradients(*tensors: Tensor) -> tuple[Tensor, ...]:
        with torch.enable_grad():
            leaves = [t.detach().clone().requires_grad_() for t in tensors]
            result = function(*leaves)
            outputs = list(result) if isinstance(result, tuple | list) else [result]
            seeds = [c.detach().cpu().to(o.dtype) for c, o in zip(given, outputs, strict=True)]
            # torch refuses to go back from an output that depends on no input.
            live = [(o, c) for o, c in zip(outputs, seeds, strict=True) if o.requires_grad]
            if not live:
                raise PackError("no output of the oracle's function depends on its inputs")
            found = torch.autograd.grad(products(live), leaves, allow_unused=True)
        return tuple(
            torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, found, strict=True)
        )

    for name, tensor in inputs.items():
        # torch would refuse an integer too, but in words about `requires_grad`.
        if not tensor.is_floating_point():
            raise PackError(f"{name} is {tensor.dtype}: only floating tensors have gradients")
    return dict(zip(inputs, run_oracle(gradients, *inputs.values()), strict=True))


def _wanted(function: Callable[..., Any], inputs: Mapping[str, Tensor]) -> list[Tensor]:
    for name, tensor in inputs.items():
        if not tensor.requires_grad:
            raise PackError(f"{name} does not require a gradient", "Draw it with requires_grad=True.")
    with torch.no_grad():
        result = function(*(t.detach().cpu() for t in inputs.values()))
    return list(_several(result))


def _several(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def compare_gradient(gradient: Tensor, want: Expected, name: str, axes: str, subject: Tensor) -> None:
    """Compare as `expect` does, and say that it is about a gradient."""
    __tracebackhide__ = True
    try:
        Expectation(gradient, name, axes or None).close_to(want)
    except CheckFailure as error:
        failure = error.failure
    else:
        return
    first, *rest = failure.summary
    first = first.replace("first difference", "wrong gradient", 1)
    # One that arrives is a value like others; "gradient" is for one that does not.
    raise CheckFailure(replace(failure, summary=(first, *rest), picture=()), subject)


def cut_off(name: str) -> Failure:
    """Say of a result that no gradient can go back from it."""
    return Failure(
        "gradient",
        (f"no gradient  {name}  is cut off from its inputs: backward finds no way in",),
        cause=CUT_OFF,
    )


def is_cut_off(error: BaseException) -> bool:
    """Tell whether torch refused to go back from a result, wherever a check asked it to."""
    return isinstance(error, RuntimeError) and "does not require grad and does not have a grad_fn" in str(
        error
    )


def _no_graph(output: Tensor, name: str) -> None:
    __tracebackhide__ = True
    raise CheckFailure(cut_off(name), output)


def no_path(output: Tensor, name: str) -> None:
    """Say that no gradient arrives at an input on which a result depends."""
    __tracebackhide__ = True
    fail(
        f"no gradient  {name}  none arrives, though the result depends on it",
        stage="gradient",
        subject=output,
        cause=CUT_OFF,
    )
