"""What holds for every part of every kata, asked in one place: `Part(...).expect(submission, reference, draw, calls)`.

A part is a function or a method that the kata requires. Its author says how it is called; what is asked then is always
the same: right values at every size, a second call that knows nothing of the first, arguments by name, in any memory
order and left as they were, rows that are judged alone, other dtypes, gradients. Each of it is compared with the
reference in float64, within the tolerance of `oracle`. A module loads no state with other names than its own.

A visible check has no reference: a function of its own stands for it, or, where learners design the module
themselves, another instance of theirs with the same parameters that has seen nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import isroutine
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from grader.engine.checks.describe import dtype_name, type_name
from grader.engine.checks.draw import Draw, axes_of, with_axes
from grader.engine.checks.expect import IN_FLOAT32, UNORDERED, expect
from grader.engine.checks.failure import CheckFailure, fail, supposing
from grader.engine.checks.gradients import compare_gradient, cut_off, no_path, oracle_gradients
from grader.engine.checks.oracle import Expected, oracle
from grader.engine.checks.side_effects import expect_strict, expect_unchanged, precondition, same_tensors
from grader.engine.host.errors import SubmissionRaised
from grader.engine.wire.codec import products, tensor_of

Arguments = dict[str, Any]
"""Arguments by the stub's names, in its order."""


@dataclass(frozen=True)
class Part:
    """A required function, or a required class and its method, and how messages speak of what it returns."""

    name: str
    """`causal_mask`, `LayerNorm`, or `Tokenizer.encode`; of a class alone it is the call of an instance."""
    made: Arguments = field(default_factory=dict)
    """Of a class: what it is made with, by the stub's names."""
    outputs: Sequence[str] = ("result",)
    """What it returns; more than one name for a tuple."""
    axes: Sequence[str] = ()
    """The axes of each output, e.g. "batch time width"."""
    dtypes: Sequence[torch.dtype] = (torch.float64,)
    """Besides float32: those that the lesson promises."""
    gradients: bool = True
    """Whether gradients of the outputs are asked for, where any argument or parameter is floating."""
    arrays: bool = False
    """Whether it takes and returns NumPy arrays: `calls` hold tensors all the same. No gradients are asked for."""
    rows: bool = True
    """Whether each entry of the first axis, where tensors share it, is computed alone."""
    scores: float = 0.0
    """As in `close_to`."""
    used: Callable[..., Any] | None = None
    """Calls what it is given with the arguments by name, where a result takes several calls: with a cache between."""
    defaults: Sequence[str] = ()
    """Which of `made` are the stub's defaults: by name it is made without them."""

    def expect(self, submission: Any, reference: Any, draw: Draw, calls: Sequence[Arguments]) -> None:
        """Demand all of it for every call.

        Args:
            submission: the learner's module.
            reference: the right one; or the right function alone, which of a module is given its parameters by name
                and then the arguments of the call; or None, where a module is compared with a new one of the
                submission's that has the same parameters, and values are not judged.
            draw: of the check.
            calls: arguments by name. Among them one call where an axis is longer than 64, one with a single row and one
                with a single position: what is right for ordinary sizes alone is not right.
        """
        __tracebackhide__ = True
        cases = _Asked(self, submission, reference, draw)
        # All values first: how an answer takes other forms says nothing while its values are wrong.
        wanted = [cases.values(call) for call in calls]
        for call, want in zip(calls, wanted, strict=True):
            cases.forms(call, want)
            if self.rows:
                cases.rows(call, want)
        state = cases.state(calls[0])
        # Other dtypes last, one after the other: instances may share what they are made of.
        for dtype in (torch.float32, *self.dtypes):
            if dtype != torch.float32:
                for call, want in zip(calls, wanted, strict=True):
                    cases.dtype(call, dtype, want)
            if dtype == self.precise and self.gradients and not self.arrays:
                for call in calls:
                    cases.slopes(call)
        cases.renewed(calls[0], state)

    def expect_values(self, submission: Any, reference: Any, draw: Draw, calls: Sequence[Arguments]) -> None:
        """Demand right values alone, once and in each dtype, where `expect` has asked the rest at other sizes."""
        __tracebackhide__ = True
        cases = _Asked(self, submission, reference, draw)
        wanted = [cases.once(call) for call in calls]
        for dtype in self.dtypes:
            for call, want in zip(calls, wanted, strict=True):
                cases.dtype(call, dtype, want)

    def expect_gradients(
        self, submission: Any, reference: Any, draw: Draw, calls: Sequence[Arguments]
    ) -> None:
        """Demand gradients alone, for a check that has points for them."""
        __tracebackhide__ = True
        cases = _Asked(self, submission, reference, draw)
        for call in calls:
            cases.slopes(call)

    @property
    def precise(self) -> torch.dtype:
        """What gradients are asked for in."""
        return torch.float64 if torch.float64 in self.dtypes else torch.float32

    def given(self, call: Arguments) -> Arguments:
        """Return the arguments as the part takes them, with no memory of this call's or another's."""
        call = _fresh(call)
        if not self.arrays:
            return call
        return {name: value.numpy() if isinstance(value, Tensor) else value for name, value in call.items()}

    def taken(self, result: Any) -> Any:
        """Return arrays as tensors, which is what is compared."""
        __tracebackhide__ = True
        if not self.arrays:
            return result
        names = self.outputs
        results = _several(result) if len(names) > 1 else [result]
        found = [tensor_of(got) if isinstance(got, np.ndarray | np.generic) else None for got in results]
        for name, got, tensor in zip(names, results, found, strict=False):
            if tensor is None:
                fail(
                    f"wrong type  {name}  got {type_name(got)}  want a NumPy array of numbers",
                    stage="type",
                    subject=got,
                )
        return tuple(found) if len(names) > 1 else found[0]


class _NoTensorsError(Exception):
    """Raised where the reference returns something else than tensors, which has no tolerance."""

    def __init__(self, result: Any) -> None:
        self.result = result


class _Reference:
    """What is right, by a function or a class of the reference."""

    values = True
    """Whether it says what is right, and not only what must be the same."""

    def __init__(self, part: Part, found: Any) -> None:
        self._part, self._found = part, found
        self._method = part.name.partition(".")[2]
        self.is_class = isinstance(found, type)
        self.is_module = self.is_class and issubclass(found, nn.Module)
        self.state: dict[str, Tensor] = {}
        """The parameters that both have, and buffers."""
        self.parameters: set[str] = set()
        """Which of them are parameters."""
        self._instances: dict[tuple[torch.dtype, torch.dtype | None], nn.Module] = {}

    def draw_state(
        self, make: Callable[[], nn.Module], drawn: Callable[[Tensor], Tensor]
    ) -> nn.Module | None:
        """Draw the parameters; `make` makes an instance of the submission's, which is returned if one was needed."""
        instance = self._found(**self._part.made)
        self.state = {name: drawn(value) for name, value in instance.state_dict().items()}
        self.parameters = {name for name, _ in instance.named_parameters()}
        return None

    def right(self, call: Arguments, dtype: torch.dtype | None = None) -> Any:
        """Return what is right, as `Expected` where it is tensors."""
        __tracebackhide__ = True
        tensors = {name: value for name, value in call.items() if isinstance(value, Tensor)}
        names = [*tensors, *self.state]
        own = {name: _cast(value, dtype) for name, value in self.state.items()}
        given: list[Tensor] = [*tensors.values(), *own.values()]

        def right(*values: Tensor) -> Any:
            named = dict(zip(names, values, strict=True))
            state = {name: named[name] for name in self.state}
            result = self.run(state, {**call, **{name: named[name] for name in tensors}})
            several = _several(result)
            # An empty list has no tensor either: it is compared as what it is.
            if not (several and all(isinstance(value, Tensor) for value in several)):
                raise _NoTensorsError(result)
            return tuple(several)

        with torch.no_grad():
            try:
                # Parameters too are arguments of the oracle, which computes once more with all of them in
                # float64.
                wanted = oracle(right, *given, dtype=dtype)
            except _NoTensorsError as error:
                return error.result
            return tuple(_allowing(value, dtype) for value in wanted) if dtype == torch.float64 else wanted

    def run(self, state: Mapping[str, Tensor], call: Arguments) -> Any:
        """Compute it with these parameters."""
        part, found, call = self._part, self._found, self._part.given(call)
        if not self.is_class:
            return part.taken(found(**call))
        if not self.is_module:
            return part.taken(getattr(found(**part.made), self._method or "__call__")(**call))
        instance = self._instance(next(iter(state.values())).dtype if state else None)
        if self._method:
            instance.load_state_dict(state)
            return getattr(instance, self._method)(**call)
        return torch.func.functional_call(instance, dict(state), (), call)

    def _instance(self, dtype: torch.dtype | None) -> nn.Module:
        """Return a module of the reference in a dtype; its parameters are whatever the last call made them."""
        # To initialise parameters that are replaced at once would take longer than a small module's call.
        key = torch.get_default_dtype(), dtype
        if key not in self._instances:
            # `functional_call` replaces what is in the state: other buffers keep the constructor's precision.
            made: nn.Module = self._found(**self._part.made)
            self._instances[key] = made.to(dtype).eval()
        return self._instances[key]


class _Function(_Reference):
    """What is right, by a function of the check's own: of a module it is given the parameters by name."""

    def __init__(self, part: Part, found: Any) -> None:
        super().__init__(part, found)
        self.is_class = self.is_module = bool(part.made)

    def draw_state(self, make: Callable[[], nn.Module], drawn: Callable[[Tensor], Tensor]) -> nn.Module:
        first = make()
        learned = dict(first.named_parameters())
        # Not in the order in which they were made: while mistakes are recognised, equal ones are drawn alike.
        order = sorted(
            learned, key=lambda name: (learned[name].shape, str(learned[name].flatten()[:1]), name)
        )
        self.state = {name: drawn(learned[name].detach().cpu()) for name in order}
        self.parameters = set(learned)
        return first

    def run(self, state: Mapping[str, Tensor], call: Arguments) -> Any:
        __tracebackhide__ = True
        call = self._part.given(call)
        if not self.is_module:
            return self._part.taken(self._found(**call))
        with precondition("its parameters must have the names and shapes that are asked for"):
            try:
                return self._found(state, **call)
            except (KeyError, RuntimeError) as error:
                fail(f"wrong parameters  the right function cannot compute with them: {error}", stage="names")


class _Another(_Function):
    """What must be the same, by another instance of the submission's, which `call_new` makes and calls."""

    values = False

    def __init__(self, part: Part, call_new: Callable[[Arguments], Any]) -> None:
        super().__init__(part, None)
        self._call_new = call_new

    def draw_state(self, make: Callable[[], nn.Module], drawn: Callable[[Tensor], Tensor]) -> nn.Module:
        first = super().draw_state(make, drawn)
        # All of its state: another instance may begin with other buffers.
        first.load_state_dict(self.state, strict=False)
        self.state = {name: value.cpu() for name, value in first.state_dict().items()}
        return first

    def right(self, call: Arguments, dtype: torch.dtype | None = None) -> Any:
        __tracebackhide__ = True
        with precondition("it must return something"):
            found = self._call_new(call)
        several = _several(found)
        if not (several and all(isinstance(value, Tensor) for value in several)):
            return found
        for name, value in zip(self._part.outputs, several, strict=False):
            if value.is_floating_point() and value.numel() and not bool(value.any()):
                fail(f"zero  {name}  every value is 0", stage="values", subject=value)
        return tuple(value.detach().cpu() for value in several)


class _Asked:
    """One part of a submission next to what is right, with the same parameters."""

    def __init__(self, part: Part, submission: Any, reference: Any, draw: Draw) -> None:
        self._part, self._submission, self._draw = part, submission, draw
        self._owner, _, self._method = part.name.partition(".")
        self._right: _Reference
        if reference is None:
            self._right = _Another(part, lambda call: self._call(self._made(), call))
        elif isroutine(reference):
            self._right = _Function(part, reference)
        else:
            self._right = _Reference(part, getattr(reference, self._owner))
        self._first = self._right.draw_state(self._new, self._drawn) if self._right.is_module else None
        # Drawn like an instance of the submission's, parameters have its names.
        self._names = {name: name for name in self._right.state if self._first is not None}
        self._latest: tuple[torch.dtype, Callable[..., Any]] | None = None

    @cached_property
    def _answers(self) -> Callable[..., Any]:
        return self._made()

    @cached_property
    def _positional(self) -> Callable[..., Any]:
        return self._made(by_name=False)

    def _in(self, dtype: torch.dtype) -> Callable[..., Any]:
        """Return the part in a dtype; one in the dtype before is not asked again."""
        __tracebackhide__ = True
        if dtype == torch.float32:
            return self._answers
        if self._latest is None or self._latest[0] != dtype:
            self._latest = dtype, self._moved(dtype) or self._made(dtype)
        return self._latest[1]

    def _moved(self, dtype: torch.dtype) -> Callable[..., Any] | None:
        """Return the module of the dtype before in a coarser one, in which its buffers are as a new module's."""
        __tracebackhide__ = True
        if self._latest is None or not self._right.is_module or self._method:
            return None
        before, module = self._latest
        if torch.promote_types(before, dtype) != before:
            return None
        self._load(module, dtype)
        return module

    # What is asked -------------------------------------------------------------------------------------------------

    def once(self, call: Arguments) -> Any:
        """Right values; return the right ones."""
        __tracebackhide__ = True
        wanted = self._right.right(call)
        self._compare(self._call(self._answers, call), wanted, "")
        return wanted

    def values(self, call: Arguments) -> Any:
        """Right values, then for other values of the same sizes, then the first again; return the right ones."""
        __tracebackhide__ = True
        other = {name: _flipped(value) for name, value in call.items()}
        wanted = self._right.right(call)
        for arguments, want, when in (
            (call, wanted, ""),
            (other, self._right.right(other), " of a second call"),
            (call, wanted, " of the first call, again"),
        ):
            # The second's tensors are refilled for the third: what is kept by address or identity is stale.
            with same_tensors(self._submission) if when else nullcontext():
                found = self._call(self._answers, arguments)
            try:
                self._compare(found, want, when)
            except CheckFailure:
                # Right the first time, or right with what the first call was given: nothing else explains that.
                mixed = ({**other, name: call[name]} for name in call) if arguments is other else ()
                repeated = when.endswith("again") or any(self._fits(found, given) for given in (*mixed, call))
                with supposing(KEPT if when and repeated else ""):
                    raise
            expect_unchanged(self._submission)
        return wanted

    def forms(self, call: Arguments, wanted: Any) -> None:
        """The same however it is made, arguments are given and lie in memory, and without gradients."""
        __tracebackhide__ = True
        strided = {
            name: self._draw.noncontiguous(value) if isinstance(value, Tensor) else value
            for name, value in call.items()
        }
        try:
            # All at once; which of them it is, is looked for only where something is wrong.
            self._form(self._positional, strided, wanted, "", by_name=True)
        except (CheckFailure, SubmissionRaised):
            with supposing("", "arguments"):
                self._form(self._answers, call, wanted, ", arguments given by name", by_name=True)
            with supposing(UNORDERED, "layout"):
                self._form(self._answers, strided, wanted, " for arguments that are not contiguous in memory")
            self._form(self._positional, call, wanted, " of an instance made by position")
            raise

    def _form(
        self, answers: Callable[..., Any], call: Arguments, wanted: Any, when: str, *, by_name: bool = False
    ) -> None:
        __tracebackhide__ = True
        self._compare(self._call(answers, call, by_name=by_name), wanted, when)
        expect_unchanged(self._submission)

    def rows(self, call: Arguments, wanted: Any) -> None:
        """A row alone gives what it gives among others."""
        __tracebackhide__ = True
        sizes = {value.shape[0] for value in call.values() if isinstance(value, Tensor) and value.dim() > 1}
        if len(sizes) != 1 or sizes == {1}:
            return
        last = sizes.pop() - 1
        alone = {
            name: _as_drawn(value[last:].clone(), value)
            if isinstance(value, Tensor) and value.dim() > 1
            else value
            for name, value in call.items()
        }
        with supposing("a single row goes another way than several"):
            # A module of the submission's own would go the same other way: its batch shows what the row should be.
            row = self._right.right(alone) if self._right.values else tuple(value[last:] for value in wanted)
            self._compare(self._call(self._answers, alone), row, f" of row {last} alone")

    def dtype(self, call: Arguments, dtype: torch.dtype, wanted: Any) -> None:
        """The same promise in another dtype, whose rounding is the tolerance."""
        __tracebackhide__ = True
        if not self._right.state and not any(_is_floating(value) for value in call.values()):
            return
        cast = {
            name: _as_drawn(_cast(value, dtype), value) if _is_floating(value) else value
            for name, value in call.items()
        }
        found, when = self._call(self._in(dtype), cast), f" in {dtype_name(dtype)}"
        if self._right.values:
            self._compare(found, self._right.right(cast, dtype), when)
        else:
            self._near(found, wanted, dtype, when)

    def _near(self, found: Any, single: Sequence[Tensor], dtype: torch.dtype, when: str) -> None:
        """Demand results of this dtype, near those in float32 but not made of them."""
        __tracebackhide__ = True
        for place, (fine, coarse) in enumerate(zip(_several(found), single, strict=True)):
            if not coarse.is_floating_point():
                continue
            name, axes = self._named(place, when)
            result = expect(fine, name, axes=axes).is_tensor(shape=tuple(coarse.shape), dtype=dtype)
            top = float(coarse.abs().max()) if coarse.numel() else 0.0
            result.same_as(coarse.to(dtype), name="that in float32", tolerance=NEAR[dtype] * top)
            if dtype == torch.float64:
                with supposing(IN_FLOAT32, "dtype"):
                    rounded = fine.detach().float().double()
                    result.differs_from(rounded, why="what is given in float64 is computed in float64")

    def slopes(self, call: Arguments) -> None:
        """Gradients of every floating argument and of every parameter, in float64 where it is promised."""
        __tracebackhide__ = True
        if not self._right.values:
            return  # `expect_parameter_gradients` asks for these
        dtype = self._part.precise
        given = {
            name: _as_drawn(value.detach().to(dtype).clone().requires_grad_(), value)
            for name, value in call.items()
            if _is_floating(value)
        }
        answers = self._in(dtype)
        state = {
            name: _cast(value, dtype) for name, value in self._right.state.items() if _is_floating(value)
        }
        inputs = {**given, **state}
        on_cpu = {
            name: value.detach().cpu() if isinstance(value, Tensor) else value for name, value in call.items()
        }

        def right(*tensors: Tensor) -> tuple[Tensor, ...]:
            values = dict(zip(inputs, tensors, strict=True))
            own = {name: values[name] for name in state}
            result = self._right.run(own, {**on_cpu, **{name: values[name] for name in given}})
            return tuple(value for value in _several(result) if value.requires_grad)

        with torch.enable_grad():
            copies = [value.detach().cpu().clone().requires_grad_() for value in inputs.values()]
            probe = right(*copies) if copies else ()
        if not probe:
            return
        results = _several(self._call(answers, {**call, **given}))
        with precondition("its values must be right"):
            live = [value for value in results if isinstance(value, Tensor) and value.is_floating_point()]
            expect(len(live), "number of floating results").is_value(len(probe))
            for value, want in zip(live, probe, strict=True):
                expect(value, "result").is_tensor(shape=tuple(want.shape), dtype=want.dtype)
        for value, name in zip(live, self._part.outputs, strict=False):
            if not value.requires_grad:
                raise CheckFailure(cut_off(name), value)
        # Whether a gradient flows through what is -inf is nobody's affair: no loss asks for one there.
        cotangents = [torch.where(want.isfinite(), self._draw.like(want.detach()), 0.0) for want in probe]
        there = (cotangent.to(self._draw.device) for cotangent in cotangents)
        torch.autograd.backward(products(zip(live, there, strict=True)))
        learned = self._learned(answers)
        leaves = {**given, **{name: learned[self._names[name]] for name in state if learned}}
        wanted = oracle_gradients(right, inputs, cotangents)
        # What cancels, such as the bias of all keys, leaves rounding of the others' size instead of 0.
        top = max(_top(value) for value in wanted.values())
        for name, leaf in leaves.items():
            if leaf.grad is None and bool(wanted[name].value.any()):
                no_path(live[0], name)
        for name, leaf in leaves.items():
            if leaf.grad is not None:
                axes = " ".join(axes_of(leaf) or ())
                allowed = _allowing(wanted[name], dtype, top)
                compare_gradient(leaf.grad, allowed, f"gradient of {name}", axes, live[0])
        if learned:
            answers.zero_grad()  # type: ignore[attr-defined]  # a further call's would be added to them

    def state(self, call: Arguments) -> dict[str, Tensor]:
        """Nothing is loaded under wrong names: weights that do not fit are noticed. A call leaves the mode as it is.

        Returns what the submission's module holds after calls.
        """
        __tracebackhide__ = True
        if not self._right.is_module or self._method:
            return {}
        state = expect_strict(self._answers)
        self._answers.train()  # type: ignore[attr-defined]
        self._call(self._answers, call)
        mode = self._answers.training  # type: ignore[attr-defined]
        with supposing("your forward calls .eval() and leaves it at that"):
            expect(mode, "module.training after a call in train mode").is_value(True)
        self._answers.eval()  # type: ignore[attr-defined]
        return state

    def renewed(self, call: Arguments, left: Mapping[str, Tensor]) -> None:
        """Other parameters count from the next call on, and the state that calls `left` fits a new module."""
        __tracebackhide__ = True
        if self._method or not self._right.parameters:
            return
        state = self._right.state
        self._right.state = state | {
            name: _flipped(state[name]) for name in self._right.parameters & state.keys()
        }
        self._load(self._answers, torch.float32)
        with supposing(KEPT):
            wanted = self._right.right(call)
            with same_tensors(self._submission):
                found = self._call(self._answers, call)
            self._compare(found, wanted, " after other parameters are loaded")
        # A module that was built alike has nothing that only calls leave there.
        self._new().load_state_dict(left)

    # How it is asked -----------------------------------------------------------------------------------------------

    def _made(self, dtype: torch.dtype | None = None, *, by_name: bool = True) -> Callable[..., Any]:
        """Return the learner's function, or what an instance of the class with the drawn parameters is called by."""
        __tracebackhide__ = True
        if not self._right.is_class:
            return getattr(self._submission, self._owner)  # type: ignore[no-any-return]
        if by_name and self._first is not None:
            instance, self._first = self._first, None  # not made for the parameters alone
        else:
            instance = self._new(by_name=by_name)
        if self._right.is_module:
            self._names = self._names or self._named_in(instance.state_dict())
            if self._draw.device.type != "cpu":
                instance = instance.to(self._draw.device)
            self._load(instance, dtype)
            instance.eval()
        return getattr(instance, self._method) if self._method else instance

    def _load(self, instance: Any, dtype: torch.dtype | None) -> None:
        """Give an instance the parameters, in a dtype."""
        __tracebackhide__ = True
        if dtype is not None:
            instance.to(dtype)
        # Not strictly: what else the state holds may be the same tensors under other names.
        state = self._right.state
        cast = {name: _cast(state[wanted], dtype) for wanted, name in self._names.items()}
        instance.load_state_dict(cast, strict=False)

    def _named_in(self, own: Mapping[str, Any]) -> dict[str, str]:
        """Return what the learner's module calls each parameter: a matrix may be the weight of a linear layer."""
        __tracebackhide__ = True
        names = {name: name if name in own else f"{name}.weight" for name in self._right.state}
        for name, called in names.items():
            if called not in own:
                fail(f"no parameter  {name}  it cannot be loaded", stage="names")
        return names

    def _new(self, *, by_name: bool = True) -> Any:
        """Return an instance of the learner's class."""
        __tracebackhide__ = True
        part, found = self._part, getattr(self._submission, self._owner)
        if not by_name:
            return found(*part.made.values())
        return found(**{name: value for name, value in part.made.items() if name not in part.defaults})

    def _fits(self, found: Any, call: Arguments) -> bool:
        """Return whether that is right for this call."""
        try:
            self._compare(found, self._right.right(call), "")
        except CheckFailure:
            return False
        return True

    def _compare(self, found: Any, wanted: Any, when: str) -> None:
        __tracebackhide__ = True
        outputs = self._part.outputs
        if not (isinstance(wanted, tuple) and all(isinstance(value, Expected | Tensor) for value in wanted)):
            expect(found, outputs[0] + when).is_value(wanted)
            return
        several = len(outputs) > 1
        results = expect(found, "result").is_tuple(len(outputs)) if several else (found,)
        for place, (value, want) in enumerate(zip(results, wanted, strict=True)):
            name, words = self._named(place, when)
            result = expect(value, name, axes=words)
            if isinstance(want, Expected):
                result.close_to(want, scores=self._part.scores)
            else:
                result.same_as(want, name=FRESH)

    def _named(self, place: int, when: str) -> tuple[str, str | None]:
        """Return what messages call an output, and its axes."""
        axes = self._part.axes
        return self._part.outputs[place] + when, axes[place] if place < len(axes) else None

    def _call(self, answers: Callable[..., Any], call: Arguments, *, by_name: bool = False) -> Any:
        __tracebackhide__ = True
        given = self._part.given(call)
        if self._part.used:
            return self._part.used(answers, **given)
        return self._part.taken(answers(**given) if by_name else answers(*given.values()))

    def _learned(self, answers: Any) -> dict[str, Tensor]:
        """Return the learner's parameters with their gradients."""
        if not self._right.is_module or self._method:
            return {}
        with torch.no_grad():  # so that they arrive as leaves
            return dict(answers.named_parameters())

    def _drawn(self, value: Tensor) -> Tensor:
        """Return random numbers as large as what a parameter starts as: zeros and ones hide mistakes."""
        if not value.is_floating_point():
            return value
        start = value.detach()
        spread = float(start.std()) if start.numel() > 1 else 0.0
        return start + self._draw.like(start) * (spread or 0.3)


KEPT = "something of an earlier call is stored and used again, and its result may have been changed since"
FRESH = "that of a new one with the same parameters"
NEAR = {torch.float64: 1e-4, torch.float32: 1e-4, torch.bfloat16: 0.5, torch.float16: 0.25}
"""How far results in a dtype may be from those in float32, as a share of the largest."""
CONSTANTS = 2.0**-28
"""In float64 a result may be off by this share of the largest: constants such as eps may have been kept in float32. A
result that went through float32 is off by more."""


def _top(wanted: Expected) -> float:
    finite = wanted.value[wanted.value.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _allowing(wanted: Expected, dtype: torch.dtype, top: float = 0.0) -> Expected:
    """Allow for constants that were kept in float32, and in float32 itself for a few roundings of the largest value."""
    share = CONSTANTS if dtype == torch.float64 else 4 * torch.finfo(dtype).eps
    return replace(wanted, at_least=max(wanted.at_least, share * max(top, _top(wanted))))


def _flipped(value: Any) -> Any:
    """Return a tensor's values in another order: what could be one call's could be another's."""
    if not isinstance(value, Tensor) or not value.dim():
        return value
    return _as_drawn(value.detach().flip(tuple(range(value.dim()))), value)


def _as_drawn(value: Any, like: Any) -> Any:
    """Name the axes of a tensor as those of another are."""
    names = axes_of(like)
    return (
        with_axes(value, *names)
        if names and isinstance(value, Tensor) and value.dim() == len(names)
        else value
    )


def _fresh(call: Arguments) -> Arguments:
    """Return arguments whose generators stand where those of the call do, and stay there."""

    def fresh(value: Any) -> Any:
        if isinstance(value, torch.Generator):
            own = torch.Generator(value.device)
            # A copy: the reference and the submission must draw the same numbers, and neither may advance
            # the other's.
            own.set_state(value.get_state())
            return own
        return list(value) if type(value) is list else dict(value) if type(value) is dict else value

    return {name: fresh(value) for name, value in call.items()}


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _cast(value: Any, dtype: torch.dtype | None) -> Any:
    if dtype is None or not _is_floating(value):
        return value
    # Drawn in float32: what only hands numbers on could round them and nobody would see it.
    return value.detach().to(dtype) * (1 + 2.0**-26 if dtype == torch.float64 else 1)


def _several(result: Any) -> Sequence[Any]:
    return result if isinstance(result, tuple | list) else (result,)
