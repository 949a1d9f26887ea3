"""Gradients through the boundary, compared with float64 ones of the oracle, or with what moving a parameter does.

A difference over a step is as good as the numbers it is made of: one that suits float64 is noise for an answer that
normalises in float32, as public models do. So the step, and how far the gradient may be off, come from what
the answer's own values do over steps of many sizes. Two sizes may suit: where a function has a corner close by, as
relu has, large steps can agree by chance, and only those that end before the corner tell the slope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from grader.engine.checks.draw import Draw, axes_of
from grader.engine.checks.expect import Expectation, expect
from grader.engine.checks.failure import CUT_OFF, CheckFailure, Failure, fail
from grader.engine.checks.oracle import Expected
from grader.engine.checks.oracle import oracle as run_oracle
from grader.engine.checks.side_effects import only_if, precondition, without_fingerprint
from grader.engine.wire.codec import products
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
            raise CheckFailure(cut_off(name), result)
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


def no_path(output: Tensor, name: str) -> None:
    """Say that no gradient arrives at an input on which a result depends."""
    __tracebackhide__ = True
    fail(
        f"no gradient  {name}  none arrives, though the result depends on it",
        stage="gradient",
        subject=output,
        cause=CUT_OFF,
    )


STEPS = tuple(10 ** (-k / 2) for k in range(2, 14))
"""From 0.1, over which few functions are straight, to 3e-7; in float32 3e-3 is best."""
FINER = tuple(10 ** (-k / 2) for k in range(14, 18))
"""To 3e-9, which float64 still resolves: the more corners a network has, the closer lies the next."""
PAST_THE_BEST = 30.0
"""Where neighbouring steps disagree by so many times the least seen, smaller ones only add noise. Below, a function
that rounds stands still, and all steps agree on a slope of 0."""
EXACT = 1e-4
"""A gradient may be off by this share of the largest slope however exactly the slopes are known."""
ROOM = 3.0
"""And by so many times what two steps disagree by."""
COARSEST = 0.03
"""But never by more: an answer that is noise is not excused by it."""
LARGEST = 1000.0
"""No slope of a right answer is larger, so that tolerances do not grow with a wrong one."""


def expect_parameter_gradients(
    model: Any,
    output: Callable[[], Any],
    draw: Draw,
    name: str = "output",
    axes: str | None = None,
    *,
    shape: Sequence[int] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Require each parameter's gradient to say how the output changes when the parameter moves.

    Args:
        model: the submission's module, in float64 and without gradients so far.
        output: computes what depends on the parameters; called again and again, always with the same inputs.
        draw: where cotangents and directions come from.
        name: of the output in messages.
        axes: of the output.
        shape: of the output.
        notes: last lines of the message: what usually cuts a gradient off here.
    """
    __tracebackhide__ = True
    found = output()
    with precondition(f"{name} must be right"):
        expect(found, name, axes=axes).is_tensor(shape=shape, dtype=torch.float64).is_finite()
    # One number of all outputs: each parameter then has one slope, and a wrong gradient of any entry shows in
    # it.
    cotangent = draw.like(found)
    if found.requires_grad:
        (found * cotangent).sum().backward()
    with torch.no_grad():  # so that they arrive as leaves, with their gradients
        learned = {name: value for name, value in model.named_parameters() if value.requires_grad}

    def moves() -> _Moves:
        # A direction for each, drawn on the CPU: one entry after the other would take a call for each number of
        # each parameter.
        ways = {
            name: torch.randn(value.shape, generator=draw.generator, dtype=torch.float64).to(value)
            for name, value in learned.items()
        }
        return _Moves(model, lambda: float((output() * cotangent).sum()), learned, ways)

    first = moves()
    if first.agree_over(STEPS):
        return
    with without_fingerprint(model):  # how many more times it was asked says nothing of what is wrong
        # One direction may bend more than all together, which the step was chosen for: a wrong gradient is wrong in
        # any other, too.
        if first.agree_over(STEPS + FINER) or moves().agree_over(STEPS + FINER):
            return
    first.fail(name, notes, found)


class _Moves:
    """Parameters that are moved, each in a direction of its own, and what their gradients say of it."""

    def __init__(
        self,
        model: Any,
        output: Callable[[], float],
        learned: Mapping[str, Tensor],
        ways: Mapping[str, Tensor],
    ) -> None:
        self._model, self._output, self._learned, self._ways = model, output, learned, ways
        self._reported = {
            name: 0.0 if value.grad is None else float((value.grad * ways[name]).sum())
            for name, value in learned.items()
        }
        self._slopes: dict[tuple[tuple[str, ...], float], float] = {}
        self._first: dict[str, float] = {}
        """The slopes over the step that was tried first."""
        self._wrong: list[str] = []

    def agree_over(self, steps: Sequence[float]) -> bool:
        """Return whether the gradients are the slopes over one of the steps that suit."""
        every = tuple(self._learned)
        for step, doubt in stable_steps(lambda step: self._slope(every, step), steps):
            tried = {name: self._slope((name,), step) for name in every}
            scale = min(max((abs(slope) for slope in tried.values()), default=0.0), LARGEST)
            limit = min(max(EXACT * scale, ROOM * doubt), COARSEST * scale)
            off = [name for name in every if not abs(self._reported[name] - tried[name]) <= limit]
            # What moved over a larger step and stands still now was rounded away: that is not a slope.
            still = any(tried[name] == 0 != moved for name, moved in self._first.items())
            if not off and not still:
                return True
            self._first, self._wrong = self._first or tried, self._wrong or off
        return False

    def _slope(self, names: tuple[str, ...], step: float) -> float:
        """Return by how much the output changes when these parameters move, in parts of the step."""
        if (names, step) not in self._slopes:
            # A copy: of a module in this process they are the parameters themselves, and move along.
            start = {name: self._learned[name].detach().clone() for name in names}
            ends = []
            for sign in (1, -1):
                moved = {name: value + sign * step * self._ways[name] for name, value in start.items()}
                self._model.load_state_dict(moved, strict=False)
                with torch.no_grad():
                    ends.append(self._output())
            self._model.load_state_dict(start, strict=False)
            self._slopes[names, step] = (ends[0] - ends[1]) / (2 * step)
        return self._slopes[names, step]

    def fail(self, what: str, notes: Sequence[str], subject: Tensor) -> None:
        """End the check with what one parameter's gradient says, and what moving it does."""
        __tracebackhide__ = True
        wrong, tried, reported = self._wrong, self._first, self._reported
        first = min(wrong, key=lambda name: reported[name] != 0)  # rather one that is cut off altogether
        fail(
            f"wrong gradient  {first}",
            f"moved at random, the {what} change by {tried[first]:.3g}; the gradient says {reported[first]:.3g}",
            f"{len(wrong)} of {len(tried)} parameters {'is' if len(wrong) == 1 else 'are'} wrong",
            *notes,
            stage="values" if reported[first] else "gradient",
            subject=subject,
            cause=CUT_OFF,
        )


def stable_steps(
    slope: Callable[[float], float], steps: Sequence[float] = STEPS
) -> Iterator[tuple[float, float]]:
    """Yield the step over which a slope is known best, and how far it is off there; then the next best, if any.

    Over large steps a function bends, over small ones its rounding shows; in between neighbouring steps agree. The
    first looks no further when those disagree again, as rounding makes them. The other is the best of all steps.
    """
    slopes: list[float] = []
    doubts: list[float] = []
    yielded = None
    for step in steps:
        slopes.append(slope(step))
        if slopes[-1] == 0 and step in FINER:  # in float32 it stands still, and such steps agree on nothing
            break
        if len(slopes) < 3:  # two that agree may do so by chance
            continue
        doubts.append(max(abs(last - before) for before, last in pairwise(slopes[-3:])))
        if yielded is None and doubts[-1] > PAST_THE_BEST * min(doubts):
            yielded, doubt = _least(doubts, steps)
            yield steps[yielded + 1], doubt
    best, doubt = _least(doubts, steps)
    if best != yielded:
        yield steps[best + 1], doubt


def _least(doubts: Sequence[float], steps: Sequence[float]) -> tuple[int, float]:
    """Return where the doubt is least, and how large. Steps may agree by chance: as much as finer ones disagree for
    their rounding, these do for theirs, which is less by as much as they are larger."""
    most = list(doubts)
    for place in range(len(most) - 2, -1, -1):
        most[place] = max(most[place], most[place + 1] * steps[place + 1] / steps[place])
    place = min(range(len(most)), key=most.__getitem__)
    return place, most[place]
