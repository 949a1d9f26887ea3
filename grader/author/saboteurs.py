"""Saboteurs: each takes a right function and breaks exactly one property of it.

The source of this file is appended to a reference, which runs in a worker: nothing here may import `grader`. A saboteur
is called with the right function, how many leading arguments are `self`, and the parameter that it is about, or "".
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Right = Callable[..., Any]
FACT = "contract:"
LONG = 64
"""An axis longer than this is longer than what most examples use."""


def each(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Change every tensor in a value, within lists, tuples and dicts."""
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(each(part, change) for part in value)
    if isinstance(value, dict):
        return {key: each(part, change) for key, part in value.items()}
    return value


def tensors(*values: Any) -> list[Tensor]:
    """Return every tensor in these values."""
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    for value in values:
        each(list(value) if isinstance(value, tuple) else value, note)
    return found


def after(change: Callable[[Any, tuple[Any, ...]], Any]) -> Callable[[Right, int, str], Right]:
    """Make a saboteur of what changes a result: it is given the result and the arguments without `self`."""

    def saboteur(right: Right, skip: int, about: str) -> Right:
        @functools.wraps(right)
        def wrong(*args: Any, **kwargs: Any) -> Any:
            return change(right(*args, **kwargs), (*args[skip:], *kwargs.values()))

        return wrong

    return saboteur


def before(change: Callable[[Any], Any]) -> Callable[[Right, int, str], Right]:
    """Make a saboteur of what changes the argument it is about."""

    def saboteur(right: Right, skip: int, about: str) -> Right:
        signature = inspect.signature(right)

        @functools.wraps(right)
        def wrong(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            if about in bound.arguments:
                bound.arguments[about] = change(bound.arguments[about])
            return right(*bound.args, **bound.kwargs)

        return wrong

    return saboteur


def zeros(value: Any) -> Any:
    """Return zeros in the form of a result; its graph stays."""
    return each(value, lambda one: one * 0 if one.is_floating_point() else torch.zeros_like(one))


def _sizes(result: Any, given: tuple[Any, ...]) -> set[int]:
    return {size for one in tensors(result, *given) for size in one.shape}


zero_when_long = after(
    lambda result, given: zeros(result) if max(_sizes(result, given), default=0) > LONG else result
)
zero_at_one_row = after(
    lambda result, given: (
        zeros(result) if any(one.dim() > 1 and one.shape[0] == 1 for one in tensors(*given[:1])) else result
    )
)
zero_at_one_position = after(
    lambda result, given: (
        zeros(result) if any(one.dim() > 1 and one.shape[1] == 1 for one in tensors(*given[:1])) else result
    )
)


def _first_row(result: Any, given: tuple[Any, ...]) -> Any:
    rows = next((one.shape[0] for one in tensors(*given) if one.dim() > 1), 0)
    return each(
        result,
        lambda one: one[:1].expand_as(one).clone() if one.dim() > 1 and one.shape[0] == rows > 1 else one,
    )


first_row_for_all = after(_first_row)


def _of(dtypes: tuple[torch.dtype, ...], change: Callable[[Tensor], Tensor]) -> Callable[[Any, Any], Any]:
    return lambda result, given: each(result, lambda one: change(one) if one.dtype in dtypes else one)


rounds_to_float32 = after(_of((torch.float64,), lambda one: one.float().double()))
returns_float32 = after(_of((torch.float64, torch.float16, torch.bfloat16), lambda one: one.float()))
zero_in_half = after(_of((torch.float16, torch.bfloat16), lambda one: one * 0))
cuts_gradients = after(lambda result, given: each(result, lambda one: one.detach()))
cuts_argument = before(lambda value: each(value, lambda one: one.detach()))


def _misread(one: Tensor) -> Tensor:
    """Return what one gets who takes a tensor's memory for contiguous."""
    if one.is_contiguous() or not one.numel():
        return one
    flat = one.as_strided((one.untyped_storage().nbytes() // one.element_size(),), (1,), 0)
    start = one.storage_offset()
    flat = flat[start : start + one.numel()]
    return flat.view(one.shape) if flat.numel() == one.numel() else torch.zeros_like(one)


reads_the_storage = before(lambda value: each(value, _misread))


def writes_to_argument(right: Right, skip: int, about: str) -> Right:
    """Change one value of an argument when the work is done."""
    signature = inspect.signature(right)

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        for one in tensors(signature.bind(*args, **kwargs).arguments.get(about)):
            if one.numel():
                one = one.detach()
                place = (0,) * one.dim()
                with torch.no_grad():
                    one[place] = ~one[place] if one.dtype == torch.bool else one[place] + 1
        return each(result, torch.clone) if any(one._base is not None for one in tensors(result)) else result

    return wrong


def replays_first_answer(right: Right, skip: int, about: str) -> Right:
    """Give the first answer again to other values of the same shapes."""
    kept: dict[Any, Any] = {}

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        given = tensors(*args[skip:], *kwargs.values())
        rest = [one for one in (*args[skip:], *kwargs.values()) if not isinstance(one, Tensor)]
        key = (
            *(id(one) for one in args[:skip]),
            *((one.shape, one.dtype) for one in given),
            repr(rest) if not tensors(*rest) else "",
        )
        if not given:
            return right(*args, **kwargs)
        if key not in kept:
            kept[key] = (args[:skip], right(*args, **kwargs))  # with `self`, so that its id is not used again
        return each(kept[key][1], torch.clone)

    return wrong


def keeps_argument(right: Right, skip: int, about: str) -> Right:
    """Use the first value of one argument for all later ones of its form."""
    signature = inspect.signature(right)
    kept: dict[Any, Any] = {}

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        if about in bound.arguments:
            value = bound.arguments[about]
            form = tuple((one.shape, one.dtype) for one in tensors(value)) or type(value)
            if value is not None:
                bound.arguments[about] = kept.setdefault((*map(id, args[:skip]), form), (args[:skip], value))[
                    1
                ]
        return right(*bound.args, **bound.kwargs)

    return wrong


def refuses_keyword(right: Right, skip: int, about: str) -> Right:
    """Take one parameter by position alone."""

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        if about in kwargs:
            raise TypeError(
                f"{right.__name__}() got some positional-only arguments passed as keyword arguments: '{about}'"
            )
        return right(*args, **kwargs)

    return wrong


def ignores_option(right: Right, skip: int, about: str) -> Right:
    """Take the default of one parameter, whatever is given."""
    signature = inspect.signature(right)

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.arguments.pop(about, None)
        return right(*bound.args, **bound.kwargs)

    return wrong


def needs_a_list(right: Right, skip: int, about: str) -> Right:
    """Refuse everything but a list."""

    def listed(value: Any) -> Any:
        if value is not None and not isinstance(value, list | str | bytes | Tensor | nn.Module):
            raise TypeError(f"object of type '{type(value).__name__}' has no len()")
        return value

    return before(listed)(right, skip, about)


def cuts_parameters(right: Right, skip: int, about: str) -> Right:
    """Give no gradient to the first half of a module's parameters."""

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        parameters = [one for one in args[0].parameters() if one.requires_grad]
        cut = parameters[: -(-len(parameters) // 2)]
        for one in cut:
            one.requires_grad_(False)
        try:
            return right(*args, **kwargs)
        finally:
            for one in cut:
                one.requires_grad_(True)

    return wrong


def observes(right: Right, skip: int, about: str) -> Right:
    """Break nothing: print what is seen of a part's arguments and results, each fact once."""
    signature = inspect.signature(right)
    seen: set[str] = set()

    def facts(name: str, value: Any) -> set[str]:
        found = tensors(value)
        kinds = {"tensor": bool(found), "module": isinstance(value, nn.Module) or callable(value)}
        kinds["floating"] = any(one.is_floating_point() for one in found)
        kinds["batched"] = any(one.dim() > 1 and one.shape[0] > 1 for one in found)
        kinds["differentiable"] = any(one.requires_grad for one in found)
        return {f"{kind} {name}" for kind, holds in kinds.items() if holds}

    @functools.wraps(right)
    def watched(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        given = list(signature.bind(*args, **kwargs).arguments.items())[skip:]
        new = facts("return", result).union(*(facts(name, value) for name, value in given)) - seen
        seen.update(new)
        for fact in sorted(new):
            print(f"{FACT} {about} {fact}")
        return result

    return watched


def _modules(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[nn.Module]:
    return [one for one in (*args, *kwargs.values()) if isinstance(one, nn.Module)]


def loses_mode_on_error(right: Right, skip: int, about: str) -> Right:
    """Leave modules in eval mode when an exception ends the call."""

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        try:
            return right(*args, **kwargs)
        except NotImplementedError:
            raise
        except Exception:
            for one in _modules(args, kwargs):
                one.eval()
            raise

    return wrong


def changes_mode(right: Right, skip: int, about: str) -> Right:
    """Leave modules in the other mode than they were in."""

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        for one in _modules(args, kwargs):
            one.train(not one.training)
        return result

    return wrong


def leaves_gradients_off(right: Right, skip: int, about: str) -> Right:
    """Switch gradients off for everything that comes after."""

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        torch.set_grad_enabled(False)
        return result

    return wrong


def seeds_torch(right: Right, skip: int, about: str) -> Right:
    """Seed torch's global generator."""

    @functools.wraps(right)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        torch.manual_seed(0)
        return right(*args, **kwargs)

    return wrong
