"""`expect(actual, name)`: say what a result must be; the first thing it is not becomes the message.

Stages in order: type, shape, dtype, device, NaN and infinities, values. Comparisons are ours, on the CPU,
over tensors that came from elsewhere: nothing here calls a method of an object it does not know.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeGuard, TypeVar

import torch
from torch import Tensor

from grader.engine.checks.describe import describe, dtype_name, is_tensor, type_name, type_names
from grader.engine.checks.failure import NOT_SAID, CheckFailure, Failure, Stage
from grader.engine.checks.locate import first_index, locate, places
from grader.engine.checks.oracle import (
    Expected,
    rounding_tolerance,
    score_rounding,
    to_double,
    tolerance_factor,
)
from grader.engine.checks.picture import KINDS, Picture, draw_difference, draw_lists, draw_table
from grader.engine.checks.shapes import diagnose
from grader.engine.checks.text import Axes, axis_names, clean, listed, pair, short, sizes, unsliced
from grader.engine.host.objects import RemoteObject, state_of
from grader.errors import PackError

_Self = TypeVar("_Self", bound="Expectation")
COMPARED = 1 << 22
"""Values of the largest tensor that is looked at without another of the check's own, whose shape it must have."""

LARGE = 100.0
"""No right answer's numbers are taken to be larger where two answers are compared, unless a check says so."""


def expect(
    actual: object,
    name: str = "result",
    axes: str | Sequence[str] | None = None,
    picture: Picture | None = None,
) -> Expectation:
    """Say what `actual` must be: `expect(weights, "weights", axes="batch query key").close_to(expected)`.

    `name` and `axes` are the words of the message; `picture` draws the difference of a "mask" or of "attention"
    weights, or is a function that returns a table's rows, called after a failure. Every method raises `CheckFailure`
    or returns the expectation, so they can be chained.
    """
    return Expectation(actual, name, axes, picture)


class Expectation:
    """One value of the submission, and the words in which a message speaks of it."""

    __slots__ = ("_axes", "_name", "_picture", "_wanted", "actual")

    def __init__(
        self,
        actual: object,
        name: str = "result",
        axes: str | Sequence[str] | None = None,
        picture: Picture | None = None,
    ) -> None:
        if picture is not None and not callable(picture) and picture not in KINDS:
            raise PackError(
                f"picture={picture!r}: allowed are {', '.join(KINDS)} and a function that returns rows"
            )
        self.actual = actual
        self._name = name
        self._axes = tuple(axes.split()) if isinstance(axes, str) else tuple(axes or ())
        self._picture = picture
        self._wanted: object = NOT_SAID

    # -- what it is ------------------------------------------------------------------------------------

    def is_tensor(
        self,
        shape: Sequence[int | None] | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Expectation:
        """Require a plain tensor, then its shape (None allows any size), dtype and device where given."""
        __tracebackhide__ = True
        value = self._tensor()
        if shape is not None:
            self._has_shape(value, tuple(shape))
        if dtype is not None and value.dtype != dtype:
            self._wrong_dtype(value.dtype, dtype)
        if device is not None:
            want = torch.device(device)
            # "cuda" without a number means whichever: what is made there says that it is on cuda:0.
            if value.device.type != want.type or want.index not in (None, value.device.index):
                self._fail(
                    "device",
                    f"wrong device  {self._name}  got {value.device}  want {want}",
                    "make it on the device that is asked for, or else on that of the input: device=x.device",
                    "the meta device holds no values; it is used here because this machine has no GPU"
                    if want.type == "meta"
                    else "",
                )
        return self

    def is_scalar(self, kind: type = Tensor) -> Expectation:
        """Require a tensor without axes, or with `kind` float or int a Python number of just that type."""
        __tracebackhide__ = True
        if kind is Tensor:
            return self.is_tensor(shape=())
        if type(self.actual) is not kind:
            hint = "take the number out with .item()" if is_tensor(self.actual) else ""
            self._wrong_type(f"a Python {kind.__name__}", hint)
        return self

    def is_tuple(self, n: int) -> tuple[Any, ...]:
        """Require a tuple of `n` and return it."""
        __tracebackhide__ = True
        if type(self.actual) is not tuple:
            hint = "return both, separated by a comma" if n == 2 and is_tensor(self.actual) else ""
            self._wrong_type(f"a tuple of {n}", hint)
        if len(self.actual) != n:
            self._fail("type", f"wrong length  {self._name}  got {self._kind()}  want a tuple of {n}")
        return self.actual

    def is_list(self, n: int | None = None, of: type | None = None) -> list[Any]:
        """Require a list of `n` items, each of just the type `of`, and return it."""
        __tracebackhide__ = True
        what = "a list" if n is None else f"a list of {n}"
        if type(self.actual) is not list:
            self._wrong_type(what)
        if n is not None and len(self.actual) != n:
            self._fail("type", f"wrong length  {self._name}  got a list of {len(self.actual)}  want {what}")
        if of is not None:
            wanted = "a tensor" if of is Tensor else f"a Python {of.__name__}"
            for i, item in enumerate(self.actual):
                if not (is_tensor(item) if of is Tensor else type(item) is of):
                    Expectation(item, f"{self._name}[{i}]")._fail_as(self.actual, wanted)
        return self.actual

    def is_instance(self, *names: str) -> Expectation:
        """Require an object whose type, or a base of it, has one of these dotted names, e.g. `torch.nn.Linear`.

        Where a class is defined deeper than where it is imported from does not matter: `torch.nn.Linear` is
        also `torch.nn.modules.linear.Linear`.
        """
        __tracebackhide__ = True
        for kind in type_names(self.actual):
            mine = kind.split(".")
            for name in names:
                theirs = name.split(".")
                # By name: the class itself is in the worker, and a class there may call itself anything.
                if mine[-1] == theirs[-1] and mine[: len(theirs) - 1] == theirs[:-1]:
                    return self
        self._wrong_type(
            listed([f"{'an' if n[0] in 'aeiou' else 'a'} {n}" for n in names]).replace(" and ", " or ")
        )

    # -- what it holds ---------------------------------------------------------------------------------

    def equals(self, want: Tensor, why: str = "") -> Expectation:
        """Require exactly this tensor: type, shape, dtype, NaN where it has none, then every value."""
        __tracebackhide__ = True
        self._wanted = want
        value = self._comparable(tuple(want.shape), want.dtype)
        want = want.detach().cpu()
        # Most answers are right, and this is the cheapest way to see it.
        if torch.equal(value, want):
            return self
        if want.dtype.is_floating_point or want.dtype.is_complex:
            self._no_surprise(value, want)
            wrong = ~((value == want) | (value.isnan() & want.isnan()))
        else:
            wrong = value != want
        if bool(wrong.any()):
            self._differs(_Compared(value, want, wrong), why)
        return self

    def close_to(
        self,
        expected: Expected | Tensor,
        tolerance: float | None = None,
        why: str = "",
        scores: float = 0.0,
    ) -> Expectation:
        """Require these values within the tolerance of the `oracle`, after all earlier stages.

        A plain tensor is compared within the rounding of its dtype (`rounding_tolerance`) unless `tolerance`
        is given. `scores` is how large the scores are that weights are made of, where that is in the hundreds or more:
        a weight exp(s) is known no better than s.
        """
        __tracebackhide__ = True
        if isinstance(expected, Tensor):
            expected = Expected(
                expected.detach().cpu(), rounding_tolerance(expected, expected.dtype), expected.dtype
            )
        want, limit = expected.value, expected.at_least if tolerance is None else tolerance
        self._wanted = want
        value = self._comparable(tuple(want.shape), expected.dtype)
        # Integers and booleans know no rounding, and complex numbers are compared exactly.
        if not expected.dtype.is_floating_point:
            return self.equals(want, why)
        if not value.numel():
            return self
        # In float64, so that the subtraction itself rounds nothing away.
        exact, want = value.double(), want.double()
        rounding = score_rounding(scores, expected.dtype) * float(want.abs().max()) if scores else 0.0
        difference = (exact - want).abs_()
        if float(difference.max()) <= max(limit, rounding):  # false for NaN, which inf - inf gives too
            return self
        # Only now: to measure what else is allowed takes as long as what is right.
        limit = max(expected.tolerance if tolerance is None else limit, rounding)
        self._no_surprise(exact, want)
        right = (exact == want) | (exact.isnan() & want.isnan()) | (difference <= limit)
        if not bool(right.all()):
            self._differs(_Compared(exact, want, ~right, limit), why)
        return self

    def is_finite(self) -> Expectation:
        """Require a tensor without NaN and infinities."""
        __tracebackhide__ = True
        value = self._ranked()
        self._no_surprise(value, torch.zeros((), dtype=value.dtype))
        return self

    def is_zero_where(self, mask: Tensor, why: str = "") -> Expectation:
        """Require exact zeros where `mask`, broadcast to its shape, is True."""
        __tracebackhide__ = True
        value = self._ranked()
        where = self._spread(mask, value)
        wrong = where & (value != 0)
        if bool(wrong.any()):
            n = int(where.sum())
            subset = _Subset(n, "values that must be 0")
            self._differs(_Compared(value, value.masked_fill(where, 0), wrong), why, subset)
        return self

    def sums_to(
        self,
        value: float,
        axis: int | str,
        why: str = "",
        size: float | None = None,
        scores: float = 0.0,
    ) -> Expectation:
        """Require sums of `value` along an axis, given by number or name.

        The tolerance is that of adding up rounded numbers, K * eps * `size`: the sum of the absolute values in a right
        answer, which is |value| unless signs cancel there. `scores` as in `close_to`.
        """
        __tracebackhide__ = True
        x = self._ranked()
        names = axis_names(self._axes, x.ndim)
        if isinstance(axis, str) and axis not in names:
            raise PackError(f"{self._name} has no axis {axis!r}, only {', '.join(names)}")
        index = names.index(axis) if isinstance(axis, str) else axis % max(x.ndim, 1)
        self._no_surprise(x, torch.zeros((), dtype=x.dtype))
        # Added in double precision: the tolerance is for the learner's rounding, and ours must not use it up.
        sums = to_double(x).sum(index)
        # Terms that cancel may be of any size, and only the author knows how large right ones are.
        if size is None and value == 0:
            raise PackError(
                "sums_to(0) needs a size",
                "size=... is how large the sum of the absolute values is in a right answer.",
            )
        rounded = x.dtype.is_floating_point or x.dtype.is_complex
        unit = tolerance_factor(x.dtype) * torch.finfo(x.dtype).eps if rounded else 0.0
        unit += score_rounding(scores, x.dtype) if rounded else 0.0
        # Never taken from the answer: with weights of a billion a sum of 0 would be as good as one of 1.
        limit = unit * (abs(value) if size is None else size)
        wrong = (sums - value).abs() > limit
        if bool(wrong.any()):
            rest = Expectation(
                self.actual, f"sum of {self._name} along {names[index]}", names[:index] + names[index + 1 :]
            )
            compared = _Compared(sums, torch.full_like(sums, value), wrong, limit)
            rest._differs(compared, why)
        return self

    def is_between(self, low: float, high: float, why: str = "") -> Expectation:
        """Require a number, or a tensor of numbers, from `low` to `high`, both included."""
        __tracebackhide__ = True
        if type(self.actual) in (int, float):
            if not low <= self.actual <= high:  # type: ignore[operator]  # also NaN
                # Seventeen digits say nothing more, and the last ones differ with the number of threads.
                got = pair(self.actual, low if self.actual < low else high)[0]  # type: ignore[operator]
                got = got.rstrip("0").rstrip(".") if "." in got and "e" not in got else got
                self._fail(
                    "values",
                    f"out of range  {self._name}  got {got}  {_range(low, high)}",
                    why,
                )
            return self
        value = self._ranked()
        if value.dtype.is_complex:  # which has no order
            self._wrong_type("a tensor of real numbers")
        wrong = ~((value >= low) & (value <= high))
        if bool(wrong.any()):
            index = first_index(wrong)
            whole, axes = self._axes_of(value)
            got = pair(value[index].item(), None)[0]
            self._fail(
                "values",
                f"out of range  {axes.place(whole, index)}  got {got}  {_range(low, high)}",
                *_joined([_count(wrong, "are out of range"), *places(wrong, axes, noun="one", judged=False)]),
                why,
                location=axes.location(index),
            )
        return self

    def same_as(
        self,
        other: object,
        why: str = "",
        name: str = "the other",
        tolerance: float | Expected | None = None,
        size: float = LARGE,
    ) -> Expectation:
        """Require two results of the submission to agree, e.g. with and without a cache.

        Each may be off by rounding, so they may differ by twice the tolerance: of an `Expected` when given,
        else that of the larger one's dtype and size. `size` is how large a right answer's numbers get at most: beyond
        it the tolerance does not grow with them. What is not a number agrees with nothing. Integers and booleans
        agree exactly. `name` is what the other is called.
        """
        __tracebackhide__ = True
        mine = self._sized()
        # To the processor: the two may be on different devices, and comparing them would raise.
        theirs = Expectation(other, name, self._axes)._sized().detach().cpu()
        self._wanted = theirs
        value = self._comparable(tuple(theirs.shape), theirs.dtype)
        if not theirs.dtype.is_floating_point:
            if bool((value != theirs).any()):
                self._differs(_Compared(value, theirs, value != theirs), why, against=name)
            return self
        # A limit from both sides: either may be the one that is off by rounding.
        limit = self._agreement(mine, theirs, tolerance, size)
        for side, called in ((value, self._name), (theirs, name)):
            Expectation(side, called, self._axes)._no_surprise(
                # Without the other's NaN: NaN on both sides does not agree.
                side,
                theirs.nan_to_num(nan=0.0, posinf=math.inf, neginf=-math.inf),
            )
        right = (value == theirs) | ((value.double() - theirs.double()).abs() <= limit)
        if not bool(right.all()):
            compared = _Compared(value.double(), theirs.double(), ~right, limit)
            self._differs(compared, why, against=name)
        return self

    def differs_from(self, other: object, why: str, tolerance: float | Expected | None = None) -> Expectation:
        """Require two results not to be the same; `why` says what should have made a difference.

        The difference must be more than rounding: the tolerance is as in `same_as`, without an end to it, as larger
        numbers must differ by more. What is not finite is not a difference, but wrong.
        """
        __tracebackhide__ = True
        mine = self._sized()
        theirs = Expectation(other, "the other")._sized().detach().cpu()
        value = self._comparable(tuple(theirs.shape), theirs.dtype)
        limit = 0.0
        if theirs.dtype.is_floating_point:
            # Without a bound, unlike `same_as`: larger numbers have to differ by more.
            limit = self._agreement(mine, theirs, tolerance, math.inf)
            for side, called in ((value, self._name), (theirs, "the other")):
                Expectation(side, called, self._axes)._no_surprise(side, torch.zeros((), dtype=side.dtype))
        gap = (to_double(value) - to_double(theirs)).abs()
        if not bool((gap > limit).any()):
            self._fail("values", f"no difference  {self._name}: the same both times", why)
        return self

    def is_value(self, want: object, why: str = "") -> Expectation:
        """Require this Python value: numbers, strings, lists, dicts, with the same types all through."""
        __tracebackhide__ = True
        self._wanted = want
        found = _unequal(self.actual, want, self._name)
        if found is None:
            return self
        if self._name.startswith("shape of ") and _is_shape(self.actual) and _is_shape(want):
            self._misshapen(self.actual, want, self._name.removeprefix("shape of "), why)
        where, got, wanted = found
        mine, theirs = describe(got), describe(wanted)
        # 1 and 1.0 and True look alike or equal: then only the types say what is wrong.
        if type(got) is not type(wanted):
            if got is None:
                Expectation(None, where)._fail_as(self.actual, theirs)
            mine, theirs = (f"{text} ({type_name(x)})" for text, x in ((mine, got), (theirs, wanted)))
        stage: Stage = "values" if type(got) is type(wanted) else "type"
        rows = _side_by_side(self.actual, want)
        self._fail(stage, f"wrong value  {where}  got {mine}  want {theirs}", why, picture=rows)

    def has_names(self, want: Iterable[str], why: str = "") -> Expectation:
        """Require just these names, in any order, in a list of names or of (name, value) pairs or a dict."""
        __tracebackhide__ = True
        kind = type(self.actual)
        if kind not in (list, tuple, dict, set):
            self._wrong_type("a list of names")
        items: Any = self.actual
        have = (item[0] if type(item) is tuple and item else item for item in items)
        # only names are put into a set: other keys may be chosen to meet in it
        mine, theirs = {name for name in have if type(name) is str}, set(want)
        if mine != theirs:
            counts = f"  got {len(mine)}  want {len(theirs)}" if len(mine) != len(theirs) else ""
            self._fail(
                "names",
                f"wrong names  {self._name}{counts}",
                _names("missing", sorted(theirs - mine)),
                _names("not wanted", sorted(mine - theirs)),
                why,
            )
        return self

    # -- how it is said --------------------------------------------------------------------------------

    def _tensor(self) -> Tensor:
        __tracebackhide__ = True
        value = self.actual
        if not is_tensor(value) or not isinstance(value, Tensor):
            self._wrong_type("a tensor")
        # Sparse and quantised tensors have no plain values to compare.
        if value.layout != torch.strided or value.is_quantized:
            self._fail("type", f"wrong type  {self._name}  got a {value.layout} tensor  want a dense one")
        return value

    def _sized(self) -> Tensor:
        """Return the tensor, when it has not more values than are compared: the submission alone says how many."""
        __tracebackhide__ = True
        value = self._tensor()
        if value.numel() > COMPARED:
            self._fail(
                "shape",
                f"too large  {self._name}  got {sizes(tuple(value.shape))}, {value.numel():,} values",
                f"at most {COMPARED:,} are compared",
            )
        return value

    def _ranked(self) -> Tensor:
        """Return the tensor on the CPU and out of its graph, when it has as many axes as are named."""
        __tracebackhide__ = True
        value = self._sized()
        if self._axes and value.ndim != len(self._axes):
            names = ", ".join(self._axes)
            self._fail("shape", f"wrong shape  {self._name}  got {sizes(tuple(value.shape))}  want [{names}]")
        return value.detach().cpu()

    def _comparable(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Return the tensor on the CPU and out of its graph, when type, shape and dtype are right."""
        __tracebackhide__ = True
        value = self._tensor()
        if value.shape != shape:
            self._has_shape(value, shape)
        if value.dtype != dtype:
            self._wrong_dtype(value.dtype, dtype)
        return value.detach().cpu()

    def _has_shape(self, value: Tensor, want: tuple[int | None, ...]) -> None:
        __tracebackhide__ = True
        got = tuple(value.shape)
        if len(got) == len(want) and all(w is None or g == w for g, w in zip(got, want, strict=True)):
            return
        if self._axes and len(self._axes) != len(want):
            raise PackError(f"{len(self._axes)} axis names for {self._name}, of shape {sizes(want)}")
        self._misshapen(got, want, self._name)

    def _misshapen(
        self, got: Sequence[int], want: Sequence[int | None], name: str, note: str = ""
    ) -> NoReturn:
        __tracebackhide__ = True
        why: str | None = None
        if len(got) == len(want):
            want_known = tuple(g if w is None else w for g, w in zip(got, want, strict=True))
            why = diagnose(got, want_known, self._axes)
        # Sizes that are left open are taken from what is there, which needs as many axes on both sides.
        elif None not in want:
            why = diagnose(got, [w for w in want if w is not None], self._axes)
        names = axis_names(self._axes, len(want))
        self._fail(
            "shape",
            f"wrong shape  {name}  got {sizes(got)}  want {sizes(want, names)}",
            note,
            guess=why or "",
        )

    def _wrong_dtype(self, got: torch.dtype, want: torch.dtype) -> NoReturn:
        __tracebackhide__ = True
        hint = cause = ""
        if want == torch.bool:
            hint = "a mask is made of True and False: compare, or call .bool()"
        elif got.is_floating_point and want.is_floating_point:
            hint = "take the dtype that is asked for, or else that of the input: dtype=x.dtype"
            cause = GIVES_FLOAT32 if got == torch.float32 else ""
        self._fail(
            "dtype",
            f"wrong dtype  {self._name}  got {dtype_name(got)}  want {dtype_name(want)}",
            hint,
            cause=cause,
        )

    def _wrong_type(self, want: str, hint: str = "") -> NoReturn:
        __tracebackhide__ = True
        self._fail_as(self.actual, want, hint)

    def _fail_as(self, subject: object, want: str, hint: str = "") -> NoReturn:
        __tracebackhide__ = True
        got = f"wrong type  {self._name}  got {self._kind()}  want {want}"
        missing = subject is None and self._name.endswith(".grad")
        failure = Failure("gradient" if missing else "type", (clean(got), hint or self._type_hint(want)))
        raise CheckFailure(failure, subject, expected=self._wanted, name=self._name)

    def _kind(self) -> str:
        value = self.actual
        kind = type(value)
        if value is None:
            return "None"
        if is_tensor(value):
            return f"a tensor {describe(value)}"
        if kind in (list, tuple, dict):
            return f"a {kind.__name__} of {len(value)}"  # type: ignore[arg-type]
        if kind in (bool, int, float, str, bytes, complex):
            return f"the Python {kind.__name__} {describe(value, 40)}"
        where = _kind_there(value)
        return f"a {where}" if where in ("function", "class") else type_name(value)

    def _type_hint(self, want: str) -> str:
        value = self.actual
        if value is None:
            if self._name.endswith(".grad"):
                return "no gradient has reached it"
            return "did you forget a `return`?"
        name = type_name(value)
        if want != "a tensor":
            return ""
        if type(value) in (bool, int, float):
            return "stay with tensors: .item() and float() leave them, and the gradient is lost"
        if name.startswith("numpy."):
            return "stay in torch: NumPy knows no gradient and no GPU"
        if type(value) in (tuple, list) and len(value) == 1:  # type: ignore[arg-type]
            return "is there a comma, or a pair of brackets, too many?"
        if type(value) is list:
            if any(map(is_tensor, value)):
                return "join a list of tensors with torch.stack or torch.cat"
            return "torch.tensor makes a tensor of a list of numbers, or of rows of numbers"
        if type(value) is tuple:
            return "return only the one"
        if _kind_there(value) in ("function", "class", "module"):
            return "return what it gives when it is called, and not itself"
        if name == "builtins.coroutine":
            return "leave out the `async`: nobody waits for its result"
        # A dotted name that is not Python's is a class of the submission or of a library.
        own = "." in name and not name.startswith(("builtins.", "functools."))
        return "a plain torch.Tensor is wanted" + (", no class of your own" if own else "")

    def _spread(self, mask: Tensor, value: Tensor) -> Tensor:
        """Return `mask` broadcast to the shape of `value`; where it does not fit, the value's shape is wrong."""
        __tracebackhide__ = True
        if mask.ndim > value.ndim or any(
            m not in (1, n) for m, n in zip(reversed(mask.shape), reversed(value.shape), strict=False)
        ):
            got, want = sizes(tuple(value.shape)), sizes(tuple(mask.shape))
            self._fail("shape", f"wrong shape  {self._name}  got {got}  want one that {want} broadcasts to")
        return mask.detach().cpu().bool().expand(value.shape)

    def _agreement(
        self, mine: Tensor, theirs: Tensor, tolerance: float | Expected | None, size: float
    ) -> float:
        if isinstance(tolerance, Expected):
            return 2 * tolerance.tolerance
        if tolerance is not None:
            return tolerance
        unit = tolerance_factor(theirs.dtype) * torch.finfo(theirs.dtype).eps
        # From the answers, but bounded by `size`: numbers that grow without end would agree with anything.
        own = max(rounding_tolerance(x.detach().cpu(), theirs.dtype) for x in (mine, theirs))
        return 2 * min(own, unit * size)

    def _no_surprise(self, value: Tensor, want: Tensor) -> None:
        """Fail on NaN, and on infinities when no value wanted is infinite."""
        __tracebackhide__ = True
        if not (value.dtype.is_floating_point or value.dtype.is_complex) or bool(value.isfinite().all()):
            return
        nan, inf = value.isnan() & ~want.isnan(), value.isinf()
        # Where infinities are wanted, as in an additive mask, a misplaced one is a wrong value like others.
        wrong = nan if bool(want.isinf().any()) else nan | inf
        if not bool(wrong.any()):
            return
        (whole, axes), index = self._axes_of(value), first_index(wrong)
        kinds = {"NaN": nan, "inf": wrong & (value == math.inf), "-inf": wrong & (value == -math.inf)}
        counts = [f"{int(x.sum())} {kind}" for kind, x in kinds.items() if bool(x.any())]
        bad, n = int(wrong.sum()), value.numel()
        share = f"all {n} values" if bad == n > 1 else f"{bad} of {n} values"
        # Some callers pass a single zero for what is wanted, which says nothing about places.
        known = want if want.shape == value.shape else None
        notes = places(wrong, axes, known, "one", judged=False)
        if len(counts) == 1:
            tally = f"{share} {'is' if bad == 1 else 'are'} {counts[0].partition(' ')[2]}"
        else:
            tally = f"{share} are not finite: {listed(counts)}"
        self._fail(
            "nan",
            f"not finite  {axes.place(whole, index)}  got {value[index].item()}",
            *_joined([tally, *notes]),
            location=axes.location(index),
        )

    def _axes_of(self, value: Tensor) -> tuple[str, Axes]:
        """Return the name of what a value was cut from, and its axes; in a mask or weights, rows look at columns."""
        whole, spans = unsliced(self._name, value.shape)
        grid = self._picture in ("mask", "attention")
        return whole, Axes(axis_names(self._axes, value.ndim), spans, grid)

    def _differs(
        self,
        compared: _Compared,
        why: str = "",
        subset: _Subset | None = None,
        against: str = "",
        judged: bool = True,
    ) -> NoReturn:
        """Fail with where `got` is wrong; unless `judged`, what is not wrong need not be right."""
        __tracebackhide__ = True
        got, want, wrong, tolerance = compared
        (whole, axes), index = self._axes_of(got), first_index(wrong)
        mine, theirs = pair(got[index].item(), want[index].item(), tolerance)
        has = "have" if "those" in against.split()[:3] else "has"
        first = [
            f"first difference  {axes.place(whole, index)}" if index else f"wrong value  {self._name}",
            f"got {mine}  {against} {has} {theirs}" if against else f"got {mine}  want {theirs}",
        ]
        # 100 columns are what a report's line has; longer ones are wrapped where it hurts most, in the
        # numbers.
        if len(first[0]) + len(first[1]) <= 100:
            first = ["  ".join(first)]
        limit = f"tolerance {short(tolerance)}" if tolerance else ""
        if got.numel() == 1:
            count = limit
        else:
            count = _count(wrong, "are not" if subset else "differ", subset)
            count += f" ({limit})" if limit else ""
            count += _greatest(compared, axes)
        # Statements about the whole result would count values outside of the subset as right.
        if judged and subset is None and not against:
            notes = locate(got, want, wrong, axes, tolerance)
        else:
            notes = places(wrong, axes, judged=False)
        cause = UNORDERED if "contiguous" in against else _in_float32(self.actual, compared)
        self._fail(
            _PROPERTY.get(cause, "values"),
            *first,
            *count.split("; ", 1) if len(count) > 100 else [count],
            *_joined(notes),
            why,
            cause=cause,
            location=axes.location(index),
            picture=draw_difference(got, want, wrong, axes, self._picture)
            if isinstance(self._picture, str)
            else (),
        )

    def _fail(
        self,
        stage: Stage,
        *lines: str,
        guess: str = "",
        cause: str = "",
        location: dict[str, int] | None = None,
        picture: tuple[str, ...] = (),
    ) -> NoReturn:
        __tracebackhide__ = True
        if callable(self._picture):
            picture = draw_table(self._picture)
        failure = Failure(stage, (*lines, guess), location, picture, guess, cause)
        raise CheckFailure(failure, self.actual, expected=self._wanted, name=self._name)


GIVES_FLOAT32 = "something on the way is float32, and so is the result: create it with dtype=x.dtype"
IN_FLOAT32 = (
    "float64 is right to half of its digits here: either something on the way is float32 (create it with "
    "dtype=x.dtype), or a small number such as 1e-6 is added"
)
UNORDERED = "an argument's memory is read as if it were contiguous: .reshape works on any"
_PROPERTY: dict[str, Stage] = {IN_FLOAT32: "dtype", UNORDERED: "layout"}


def _in_float32(value: object, compared: _Compared) -> str:
    """Say of float64 numbers that are off by what float32 rounds that they went through it."""
    got, want, _, tolerance = compared
    if not tolerance or getattr(value, "dtype", None) != torch.float64:
        return ""
    gap = float((got - want).abs().nan_to_num(nan=math.inf).max())
    return IN_FLOAT32 if gap <= rounding_tolerance(want, torch.float32) else ""


def _kind_there(value: object) -> str:
    return state_of(value).kind if isinstance(value, RemoteObject) else ""


class _Compared(NamedTuple):
    """A value of the submission, what it should be, and where it is further off than the tolerance."""

    got: Tensor
    want: Tensor
    wrong: Tensor
    tolerance: float = 0.0


class _Subset(NamedTuple):
    """The values that a check asks about, where these are not all: how many, and what they are called."""

    number: int
    noun: str


def _greatest(compared: _Compared, axes: Axes) -> str:
    """Say how large the greatest difference is and where, if there are several differences between real numbers."""
    got, want, wrong, _ = compared
    if got.dtype == torch.bool or got.dtype.is_complex or int(wrong.sum()) < 2:
        return ""
    gap = torch.where(wrong, (got.double() - want.double()).abs(), 0.0)
    if not bool(gap.isfinite().all()):
        return ""
    # The first of those that are as great but for rounding: which one is greatest depends on the processor.
    index = first_index(gap >= gap.max() * (1 - 1e-4))
    if index == first_index(wrong):
        return f"; greatest difference {short(float(gap[index]))}, there"
    return f"; greatest difference {short(float(gap[index]))} at {axes.place('', index)}"


def _count(wrong: Tensor, verb: str, subset: _Subset | None = None) -> str:
    bad, (n, of_what) = int(wrong.sum()), subset or _Subset(wrong.numel(), "values")
    if bad == 1:
        verb = {"differ": "differs", "are not": "is not"}.get(verb, verb.replace("are", "is", 1))
    return f"all {n} {of_what} {verb}" if bad == n > 1 else f"{bad} of {n} {of_what} {verb}"


def _joined(parts: Sequence[str]) -> list[str]:
    """Return statements in one line, or one a line where that would be long."""
    line = "; ".join(parts)
    return [line] if len(line) <= 100 else list(parts)


def _range(low: float, high: float) -> str:
    if high == math.inf:
        return f"want at least {low:g}"
    if low == -math.inf:
        return f"want at most {high:g}"
    return f"want {low:g}" if low == high else f"want {low:g} to {high:g}"


def _is_shape(value: object) -> TypeGuard[Sequence[int]]:
    return type(value) in (list, tuple) and all(type(size) is int for size in value)  # type: ignore[attr-defined]


def _names(what: str, names: list[str]) -> str:
    return f"{what}: {listed([clean(name, 40) for name in names])}" if names else ""


def _side_by_side(got: object, want: object) -> tuple[str, ...]:
    """Return the innermost lists that differ in rows; tuples are items, as the pairs of bytes in a list of merges."""
    rows: tuple[str, ...] = ()
    while type(got) is list and type(want) is list:
        pairs = enumerate(zip(got, want, strict=False))
        at = next((i for i, (a, b) in pairs if _unequal(a, b, "")), min(len(got), len(want)))
        rows = draw_lists(got, want, at)
        got, want = (values[at] if at < len(values) else None for values in (got, want))
    return rows


_DEEP = 50


def _unequal(got: object, want: object, where: str, depth: int = 0) -> tuple[str, object, object] | None:
    """Return where two values first differ, with both sides there, or None."""
    # Types before values: in Python True equals 1, and 1 equals 1.0.
    if type(got) is not type(want) or depth > _DEEP:
        return where, got, want
    if isinstance(got, list | tuple) and isinstance(want, list | tuple):
        for i, (mine, theirs) in enumerate(zip(got, want, strict=False)):
            found = _unequal(mine, theirs, f"{where}[{i}]", depth + 1)
            if found:
                return found
        return None if len(got) == len(want) else (f"len({where})", len(got), len(want))
    if isinstance(got, dict) and isinstance(want, dict):
        for key in want:
            if key not in got:
                return f"keys of {where}", list(got), list(want)
            found = _unequal(got[key], want[key], f"{where}[{describe(key, 30)}]", depth + 1)
            if found:
                return found
        return None if len(got) == len(want) else (f"keys of {where}", list(got), list(want))
    # NaN where NaN is wanted is right, though it does not equal itself.
    if isinstance(got, float) and isinstance(want, float) and got != got and want != want:
        return None
    if type(got) in (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device):
        return None if got == want else (where, got, want)
    return where, got, want
