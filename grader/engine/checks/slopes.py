"""Gradients of parameters that a check does not know by name, compared with what moving them does.

A difference over a step is as good as the numbers it is made of: one that suits float64 is noise for an answer that
normalises in float32, as public models do. So the step, and how far the gradient may be off, come from what
the answer's own values do over steps of many sizes. Two sizes may suit: where a function has a corner close by, as
relu has, large steps can agree by chance, and only those that end before the corner tell the slope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from grader.engine.checks.conduct import precondition, without_fingerprint
from grader.engine.checks.draw import Draw
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import CUT_OFF, fail

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
