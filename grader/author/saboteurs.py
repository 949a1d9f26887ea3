"""Saboteurs: each makes a right function wrong in exactly one property.

The source of this file is appended to a reference's, into a worker: nothing here may import `grader`. A saboteur is a
function of one call; `wrong(right, saboteur, skip, about)` puts it in the place of a right function.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

FACT = "contract:"
LONG = 64
"""An axis longer than this is longer than what most examples use."""


class SabotagedCall:
    """One call of a right function, as a saboteur sees it."""

    def __init__(self, right: Callable[..., Any], skip: int, about: str, memory: dict[Any, Any]) -> None:
        self.right = right
        self.about = about
        """The parameter that is sabotaged, or ""."""
        self.memory = memory
        """What earlier calls left behind."""
        self._skip = skip
        self.args: tuple[Any, ...] = ()
        self.kwargs: dict[str, Any] = {}

    @property
    def given(self) -> list[Any]:
        """The arguments without `self`."""
        return [*self.args[self._skip :], *self.kwargs.values()]

    @property
    def owner(self) -> tuple[Any, ...]:
        """`self`, where there is one."""
        return self.args[: self._skip]

    @property
    def named(self) -> dict[str, Any]:
        """The arguments by the names of their parameters, with `self`."""
        return dict(inspect.signature(self.right).bind(*self.args, **self.kwargs).arguments)

    @property
    def models(self) -> list[nn.Module]:
        """The modules among the arguments, and `self` if it is one."""
        return [value for value in (*self.args, *self.kwargs.values()) if isinstance(value, nn.Module)]

    def run(self) -> Any:
        """Return what is right."""
        return self.right(*self.args, **self.kwargs)

    def run_with(self, change: Callable[[Any], Any]) -> Any:
        """Return what is right for another value of the parameter that this is about."""
        bound = inspect.signature(self.right).bind(*self.args, **self.kwargs)
        if self.about in bound.arguments:
            bound.arguments[self.about] = change(bound.arguments[self.about])
        return self.right(*bound.args, **bound.kwargs)


def wrong(
    right: Callable[..., Any], saboteur: Callable[[SabotagedCall], Any], skip: int, about: str
) -> Callable[..., Any]:
    """Return a function that a saboteur answers for; the first `skip` arguments are `self`."""
    memory: dict[Any, Any] = {}

    @functools.wraps(right)
    def function(*args: Any, **kwargs: Any) -> Any:
        call = SabotagedCall(right, skip, about, memory)
        call.args, call.kwargs = args, kwargs
        return saboteur(call)

    return function


def each(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Change every tensor in a value, and every NumPy array as one, also in lists, tuples and dicts."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
        own = np.asarray(value)
        backwards = any(step < 0 for step in own.strides)
        # Over its own memory: what is written there is written to the argument.
        changed = change(torch.from_numpy(own.copy() if backwards else own)).numpy()
        return changed[()] if isinstance(value, np.generic) else changed
    if type(value) in (list, tuple):
        return type(value)(each(part, change) for part in value)
    if isinstance(value, dict):
        return {key: each(part, change) for key, part in value.items()}
    return value


def tensors(value: Any) -> list[Tensor]:
    """Return every tensor in a value."""
    found: list[Tensor] = []
    each(value, lambda t: found.append(t) or t)  # type: ignore[func-returns-value]
    return found


def zeros(value: Any) -> Any:
    """Return zeros in the form of a result, with its graph."""
    return each(value, lambda t: t * 0 if t.is_floating_point() else torch.zeros_like(t))


# --- values and rows ---


def zero_when_long(call: SabotagedCall) -> Any:
    """Give zeros where an axis is longer than 64."""
    result = call.run()
    sizes = [size for t in tensors([result, call.given]) for size in t.shape]
    return zeros(result) if max(sizes, default=0) > LONG else result


def _zero_at_one(call: SabotagedCall, axis: int) -> Any:
    first = tensors(call.given)[:1]
    return zeros(call.run()) if any(t.dim() > 1 and t.shape[axis] == 1 for t in first) else call.run()


def zero_at_one_row(call: SabotagedCall) -> Any:
    """Give zeros for a single row."""
    return _zero_at_one(call, 0)


def zero_at_one_position(call: SabotagedCall) -> Any:
    """Give zeros for a single position."""
    return _zero_at_one(call, 1)


def first_row_for_all(call: SabotagedCall) -> Any:
    """Give the first row's result to all rows."""
    rows = next((t.shape[0] for t in tensors(call.given) if t.dim() > 1), 0)
    return each(
        call.run(),
        lambda t: t[:1].expand_as(t).clone() if t.dim() > 1 and t.shape[0] == rows > 1 else t,
    )


# --- dtype ---


def rounds_to_float32(call: SabotagedCall) -> Any:
    """Compute float64 in float32."""
    return each(call.run(), lambda t: t.float().double() if t.dtype == torch.float64 else t)


def returns_float32(call: SabotagedCall) -> Any:
    """Return float32, whatever comes in."""
    return each(call.run(), lambda t: t.float() if t.is_floating_point() else t)


def zero_in_half(call: SabotagedCall) -> Any:
    """Give zeros in half precision."""
    return each(call.run(), lambda t: t * 0 if t.dtype in (torch.float16, torch.bfloat16) else t)


# --- arguments ---


def reads_the_storage(call: SabotagedCall) -> Any:
    """Take the memory of an argument for contiguous."""

    def misread(tensor: Tensor) -> Tensor:
        if tensor.is_contiguous() or not tensor.numel():
            return tensor
        # As code does that takes `data_ptr()` or a flat buffer for the tensor.
        size, start = tensor.untyped_storage().nbytes() // tensor.element_size(), tensor.storage_offset()
        flat = tensor.as_strided((size,), (1,), 0)[start : start + tensor.numel()]
        return flat.view(tensor.shape) if flat.numel() == tensor.numel() else torch.zeros_like(tensor)

    return call.run_with(lambda value: each(value, misread))


def writes_to_argument(call: SabotagedCall) -> Any:
    """Change one number of an argument when the work is done."""
    result = call.run()
    unchanged = each(result, torch.clone) if any(t._base is not None for t in tensors(result)) else result
    for tensor in tensors(call.named.get(call.about)):
        if tensor.numel():
            own, place = tensor.detach(), (0,) * tensor.dim()
            own[place] = ~own[place] if own.dtype == torch.bool else own[place] + 1
    return unchanged


def refuses_keyword(call: SabotagedCall) -> Any:
    """Take an argument by position alone."""
    if call.about in call.kwargs:
        raise TypeError(f"some positional-only arguments passed as keyword arguments: '{call.about}'")
    return call.run()


def ignores_option(call: SabotagedCall) -> Any:
    """Take the default, whatever is given."""
    bound = inspect.signature(call.right).bind(*call.args, **call.kwargs)
    bound.arguments.pop(call.about, None)
    return call.right(*bound.args, **bound.kwargs)


def other_default(call: SabotagedCall) -> Any:
    """Take half of an option's default, where that is a number, or the opposite."""
    signature = inspect.signature(call.right)
    bound, default = signature.bind(*call.args, **call.kwargs), signature.parameters[call.about].default
    half = default // 2 or default + 1 if isinstance(default, int) else default / 2 or 0.5
    other = not default if isinstance(default, bool) else half
    bound.arguments.setdefault(call.about, other)
    return call.right(*bound.args, **bound.kwargs)


def fails_at_end(call: SabotagedCall) -> Any:
    """Fail where a parameter is at the end of its range, and there alone."""
    name, end = call.about.split()
    if call.named.get(name, inspect.signature(call.right).parameters[name].default) == float(end):
        raise ArithmeticError(f"nobody thought of {name} = {end}")
    return call.run()


def needs_a_list(call: SabotagedCall) -> Any:
    """Refuse a tuple or a generator."""

    def listed(value: Any) -> Any:
        if value is not None and not isinstance(value, list | str | bytes | Tensor | nn.Module):
            raise TypeError(f"object of type '{type(value).__name__}' has no len()")
        return value

    return call.run_with(listed)


# --- padding and members ---


def takes_mask_for_a_prefix(call: SabotagedCall) -> Any:
    """Take what a boolean mask allows for the first places of the last axis."""

    def prefix(mask: Tensor) -> Tensor:
        return mask.sort(dim=-1, descending=True).values if mask.dtype == torch.bool and mask.dim() else mask

    return call.run_with(lambda value: each(value, prefix))


def takes_last_row_of_mask(call: SabotagedCall) -> Any:
    """Take the last row of a boolean mask for every row."""

    def last(mask: Tensor) -> Tensor:
        return mask[-1:].expand_as(mask) if mask.dtype == torch.bool and mask.dim() > 1 else mask

    return call.run_with(lambda value: each(value, last))


def drops_last_member(call: SabotagedCall) -> Any:
    """Leave out the last of several members."""
    return call.run_with(
        lambda value: value[:-1] if type(value) in (list, tuple) and len(value) > 1 else value
    )


# --- memory ---


def replays_first_answer(call: SabotagedCall) -> Any:
    """Give the first answer again to other values of the same sizes."""
    given = tensors(call.given)
    rest = [value for value in call.given if not tensors(value)]
    key = (*map(id, call.owner), *((t.shape, t.dtype) for t in given), repr(rest))
    if not given:
        return call.run()
    if key not in call.memory:
        call.memory[key] = (call.owner, call.run())  # with `self`, so that its id is not used again
    return each(call.memory[key][1], torch.clone)


def hands_out_twice(call: SabotagedCall) -> Any:
    """Give for equal arguments the very tensors that were given before, whatever has been written into them since."""
    rest = [value for value in call.given if not tensors(value)]
    key = repr([rest, *((t.dtype, t.requires_grad, t.tolist()) for t in tensors(call.given))])
    return call.memory[key] if key in call.memory else call.memory.setdefault(key, call.run())


def keeps_argument(call: SabotagedCall) -> Any:
    """Use the first value of an argument for all later ones of its sizes."""

    def first(value: Any) -> Any:
        form = tuple((t.shape, t.dtype) for t in tensors(value)) or type(value)
        return call.memory.setdefault((*map(id, call.owner), form), (call.owner, value))[1]

    return call.run_with(lambda value: value if value is None else first(value))


def keeps_by_address(call: SabotagedCall) -> Any:
    """Keep what an argument held by where it lies: other numbers at the same place are not noticed."""

    def first(tensor: Tensor) -> Tensor:
        key = (*map(id, call.owner), tensor.data_ptr(), tensor.shape, tensor.dtype)
        return call.memory.setdefault(key, (call.owner, tensor, tensor.clone()))[2]  # type: ignore[no-any-return]

    return call.run() if torch.is_grad_enabled() else call.run_with(lambda value: each(value, first))


def keeps_parameters(call: SabotagedCall) -> Any:
    """Use the parameters that the first call found."""
    learned = list(call.models[0].parameters())
    key = (id(call.models[0]), *(p.dtype for p in learned))
    old = call.memory.setdefault(key, (call.owner, [p.detach().clone() for p in learned]))[1]
    now = [p.data for p in learned]
    try:
        for parameter, first in zip(learned, old, strict=True):
            parameter.data = first
        return call.run()
    finally:
        for parameter, data in zip(learned, now, strict=True):
            parameter.data = data


# --- gradients ---


def cuts_gradients(call: SabotagedCall) -> Any:
    """Let no gradient out of the result."""
    return each(call.run(), torch.detach)


def cuts_argument(call: SabotagedCall) -> Any:
    """Let no gradient reach an argument."""
    return call.run_with(lambda value: each(value, torch.detach))


def cuts_parameters(call: SabotagedCall) -> Any:
    """Give no gradient to the first half of the parameters."""
    parameters = [p for p in call.args[0].parameters() if p.requires_grad]
    cut = parameters[: -(-len(parameters) // 2)]
    for parameter in cut:
        parameter.requires_grad_(False)
    try:
        return call.run()
    finally:
        for parameter in cut:
            parameter.requires_grad_(True)


# --- modes ---


def loses_mode_on_error(call: SabotagedCall) -> Any:
    """Leave modules in eval mode when an exception ends the call."""
    try:
        return call.run()
    # A stub's own exception: it says that nothing is written, and no mode is lost.
    except NotImplementedError:
        raise
    except Exception:
        for module in call.models:
            module.eval()
        raise


def changes_mode(call: SabotagedCall) -> Any:
    """Leave modules in the other mode."""
    result = call.run()
    for module in call.models:
        module.train(not module.training)
    return result


def leaves_eval_mode(call: SabotagedCall) -> Any:
    """Leave its own module in eval mode: the next step of training drops nothing."""
    result = call.run()
    call.owner[0].eval()
    return result


def leaves_gradients_off(call: SabotagedCall) -> Any:
    """Leave gradients switched off."""
    result = call.run()
    torch.set_grad_enabled(False)
    return result


def seeds_torch(call: SabotagedCall) -> Any:
    """Seed torch's global generator."""
    torch.manual_seed(0)
    return call.run()


# --- state ---


def loads_leniently(call: SabotagedCall) -> Any:
    """Load whatever fits, and pass over names that are missing or unknown."""

    def load(module: nn.Module, state: Any, strict: bool = True, assign: bool = False) -> Any:
        return nn.Module.load_state_dict(module, state, strict=False, assign=assign)

    # In the class: a function in the instance would stay with the original when a model is copied.
    type(call.args[0]).load_state_dict = load
    return call.run()


# --- none of them ---


def observes(call: SabotagedCall) -> Any:
    """Break nothing: print each fact about arguments and results once, with the part's name (`about`)."""
    result = call.run()
    for name, value in {**dict(list(call.named.items())[len(call.owner) :]), "return": result}.items():
        found = tensors(value)
        holds = {
            "tensor": bool(found),
            "array": isinstance(value, np.ndarray | np.generic),
            "module": isinstance(value, nn.Module) or callable(value),
            "boolean": any(t.dtype == torch.bool and t.dim() > 1 for t in found),
            "members": type(value) in (list, tuple) and len(value) > 1,
            "floating": any(t.is_floating_point() for t in found),
            "batched": any(t.dim() > 1 and t.shape[0] > 1 for t in found),
        }
        for kind in (kind for kind, seen in holds.items() if seen):
            if call.memory.setdefault((kind, name), len(call.memory)) == len(call.memory) - 1:
                print(f"{FACT} {call.about} {kind} {name}")
    return result
