"""Expected values whose tolerance is derived from rounding, never guessed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from grader.errors import PackError

# K lies between two measurements, in units of that error, over 28 000 comparisons in float32 (attention, multi-head
# attention, layer norm also far from zero, feed-forward, three encoder layers, cross-entropy, GELU, positions; forward
# and backward; 400 seeds of random sizes). Other right ways to compute the same (loops, einsum, sums in another order,
# log-sum-exp, fused operators) are off by 1 in the median, by 6 in the worst hundredth, by 23 at most: 64 fails none.
# Products rounded to tf32, float16 or bfloat16 on the way are off by 577 at least, by 1 500 in the mildest hundredth:
# they always fail. Only a single number, such as a loss, can be right by luck.
SLACK = 64.0
"""K: how many times the reference's own rounding error another right answer may be off."""
# In stacks of narrow layers a single run may be lucky, so some are added in which inputs are off by a rounding: over
# 3 000 seeds of two layers of width 4 another right way was off by more than K of one run's errors five times, by 19 at
# most; what is allowed with the added runs it uses to two thirds at most. Backward right ways are off by 20, and by far
# more where a relu flips, which is why authors are advised to compare gradients in float32.
SLACK_HALF = 8.0
"""K for float16 and bfloat16, in which 64 units in the last place would be half the value."""
NUDGED = 3
"""How often those two are called with arguments that are off by a rounding, and float64, which has nothing exacter."""


def tolerance_factor(dtype: torch.dtype) -> float:
    """Return K for results of this dtype."""
    return SLACK_HALF if _is_half(dtype) else SLACK


def _is_half(dtype: torch.dtype) -> bool:
    return torch.finfo(dtype).bits < 32


def to_double(value: Tensor) -> Tensor:
    """Return the values in double precision; complex ones keep their imaginary part."""
    return value.to(torch.complex128) if value.dtype.is_complex else value.double()


@dataclass(frozen=True, eq=False)
class Expected:
    """A value computed in float64, and how far a right answer in `dtype` may be from it.

    NaN and infinities are right only where the value has the same. Values that are not floating point
    (masks, tokens) keep their own dtype and have tolerance 0.
    """

    value: Tensor
    at_least: float
    """So far a right answer may be in any case; all of `tolerance` where nothing is measured."""
    dtype: torch.dtype
    measured: Callable[[], float] | None = None
    """What else is allowed: found out by running the reference again, for the few answers that need it."""

    @property
    def tolerance(self) -> float:
        """How far a right answer may be."""
        return self.at_least if self.measured is None else max(self.at_least, self.measured())

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the value."""
        return tuple(self.value.shape)

    def __getitem__(self, index: Any) -> Expected:
        """Return a part of it, with the tolerance of the whole."""
        return replace(self, value=self.value[index])


def oracle(
    function: Callable[..., Any],
    *arguments: Any,
    dtype: torch.dtype | None = None,
    also: Sequence[Callable[..., Any]] = (),
) -> Any:  # Expected | tuple[Expected, ...]: authors unpack it, so the union would only be in their way
    """Run `function` in float64 for the value and in the arguments' dtype for the tolerance.

    Floating tensors among the arguments, also inside dicts, lists and tuples, are cast; all else is passed as
    it is. While it runs, the default dtype is the one computed in, so `torch.zeros(3)` inside it follows.
    `dtype` is what to compute the tolerance in when no argument is floating (default float32). Returns an
    `Expected`, or a tuple of them when the function returns a tuple.

    The tolerance is K * max(|f_dtype - f_64|, eps * |f_64|), maxima over the tensor: the rounding error that
    the reference itself makes on these very inputs, or one unit in the last place where it is lucky.
    Ill-conditioned inputs widen it, easy ones narrow it. Where K comes from is at `SLACK`. In float16, bfloat16 and
    float64 `function` runs three times more, with one number in four off by its last digit: the worst error counts.
    None of this is run for answers that are off by K units in the last place of the largest value at most, which is
    nearly all that are right. Gradients are better compared in float32. Where inputs are so extreme that right formulas
    differ more (softmax of scores in the thousands: 227), pass those formulas as `also`: the worst of them is the
    yardstick.
    """
    __tracebackhide__ = True
    coarsest = max(_floating(list(arguments)), key=lambda d: torch.finfo(d).eps, default=torch.float32)
    working = dtype or coarsest
    # As they are now: a submission may write to what it is given, before its answer is compared.
    given = _mapped(list(arguments), Tensor.clone, Tensor.clone)
    exact = _run(function, arguments, torch.float64)

    @functools.cache
    def runs() -> tuple[list[list[Tensor]], list[list[Tensor]]]:
        # In float64 that is the value itself; a mistake that draws at random would draw something else.
        own = exact if working == torch.float64 else _run(function, given, working)
        yardsticks = [own, *(_run(f, given, working) for f in also)]
        if working == torch.float64:
            # float64 has no exacter self to be compared with: take float32's error in units of its eps, which
            # is nothing where by luck all cancels in float32
            with suppress(RuntimeError):  # a float64 tensor in its closure: then eps alone must do
                yardsticks.append(_run(function, given, torch.float32))
        times = 0 if working == torch.float32 else NUDGED
        nudged = [_run(function, _nudged(given, working, n), working) for n in range(times)]
        if any(len(own) != len(exact) for own in yardsticks):
            raise PackError("an oracle's functions must all return the same number of tensors")
        return yardsticks, nudged

    def measured(number: int, value: Tensor) -> float:
        own, nudged = runs()
        return _rounding_error(value, working, [run[number] for run in own], [run[number] for run in nudged])

    results = tuple(
        _expected(value, working, functools.partial(measured, number)) for number, value in enumerate(exact)
    )
    return results if isinstance(exact, _Several) else results[0]


def rounding_tolerance(value: Tensor, dtype: torch.dtype) -> float:
    """Return K * eps * max|value|: what rounding alone excuses when no yardstick is at hand."""
    if not dtype.is_floating_point or not value.numel():
        return 0.0
    size = value.detach().abs()
    top = float(torch.where(size.isfinite(), size, 0).max())
    return tolerance_factor(dtype) * torch.finfo(dtype).eps * top


def score_rounding(scores: float, dtype: torch.dtype) -> float:
    """Return the relative rounding error of weights exp(s) whose scores are as large as `scores`.

    A score is known to eps * |s|, which exp makes a relative error. The softmax that subtracts the maximum hides it
    in the largest weight; exp(s - logsumexp(s)) does not. Four roundings: score, scale, log of the sum, difference.
    """
    return 4 * torch.finfo(dtype).eps * scores


class _Several(list[Tensor]):
    """The tensors of a function that returned a tuple, also of one."""


def _run(function: Callable[..., Any], arguments: Sequence[Any], dtype: torch.dtype) -> list[Tensor]:
    with _default_dtype(dtype):
        result = function(*(_cast(argument, dtype) for argument in arguments))
    several = isinstance(result, tuple | list)
    tensors = [_checked(x, dtype) for x in (result if several else (result,))]
    return _Several(tensors) if several else tensors


def _checked(x: Any, dtype: torch.dtype) -> Tensor:
    if not isinstance(x, Tensor):
        raise PackError(f"an oracle's function must return tensors, not {type(x).__name__}")
    # An oracle that rounds inside would make the tolerance too small, and right answers would fail.
    if x.is_floating_point() and x.dtype != dtype:
        raise PackError(
            f"an oracle's function computed in {dtype} returned {x.dtype}",
            "Pass every floating tensor it needs as an argument, and leave out .float() and dtype=.",
        )
    return x.detach().cpu()


def _expected(exact: Tensor, dtype: torch.dtype, measured: Callable[[Tensor], float]) -> Expected:
    """Return what is expected, with K units in the last place of the largest value allowed at least."""
    if not exact.is_floating_point():
        return Expected(exact, 0.0, exact.dtype)
    limits, top = torch.finfo(dtype), _largest(exact)
    # Nearly always all of it is finite, and nothing need be picked out; else it may hold NaN as well.
    if not top <= limits.max:
        if dtype != torch.float64:  # what is beyond this dtype is infinite in it
            rounded = exact.to(dtype)
            exact = torch.where(rounded.isinf(), rounded.double(), exact)
        finite = exact.isfinite()
        if not bool(finite.any()):
            return Expected(exact, 0.0, dtype)
        top = _largest(exact[finite])
    floor = limits.eps * max(top, limits.smallest_normal) if top else 0.0  # below it, digits get lost
    at_least = tolerance_factor(dtype) * floor
    return Expected(exact, at_least, dtype, functools.cache(lambda: measured(exact)))


def _rounding_error(
    exact: Tensor, dtype: torch.dtype, yardsticks: Sequence[Tensor], nudged: Sequence[Tensor]
) -> float:
    """Return K times how far the reference's own runs are off, in units of `dtype`."""
    eps, finite, worst = torch.finfo(dtype).eps, exact.isfinite(), 0.0
    for number, own in enumerate((*yardsticks, *nudged)):
        error = _largest((own.double() - exact)[finite])
        if math.isfinite(error):
            worst = max(worst, error * eps / torch.finfo(own.dtype).eps)
        elif own.dtype == dtype and number < len(yardsticks):
            raise PackError(
                f"an oracle's function overflows in {dtype} where its value does not",
                "Write it in a numerically stable way: its rounding error is the yardstick.",
            )
    return tolerance_factor(dtype) * worst


def _largest(value: Tensor) -> float:
    """Return the largest absolute value; NaN where there is one, or nothing at all."""
    return float(value.abs().max()) if value.numel() else math.nan


def _cast(value: Any, dtype: torch.dtype) -> Any:
    return _mapped(value, lambda floating: floating.to(dtype))


def _nudged(value: Any, dtype: torch.dtype, seed: int) -> Any:
    """Cast it, with one number in four off by its last digit; nothing else is drawn with what this draws with."""
    # One of its own, so that the check's draws stay what they were.
    generator = torch.Generator().manual_seed(seed)

    def nudge(floating: Tensor) -> Tensor:
        chance = torch.rand(floating.shape, generator=generator)
        steps = (chance < 1 / 8).to(dtype) - (chance > 7 / 8).to(dtype)
        return floating.to(dtype) * (1 + torch.finfo(dtype).eps * steps)

    return _mapped(value, nudge)


def _mapped(
    value: Any, floating: Callable[[Tensor], Tensor], other: Callable[[Tensor], Tensor] = lambda value: value
) -> Any:
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return (floating if value.is_floating_point() else other)(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, floating, other) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_mapped(item, floating, other) for item in value])
    return value


def _floating(value: Any) -> Iterator[torch.dtype]:
    if isinstance(value, Tensor):
        if value.is_floating_point():
            yield value.dtype
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _floating(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _floating(item)


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
