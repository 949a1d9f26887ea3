"""What was called, and with what, in a few bounded lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grader.engine.checks.draw import axes_of
from grader.engine.checks.text import WHOLE, clean, listed, sizes
from grader.engine.host.objects import RemoteObject, state_of
from grader.engine.host.value_text import written

NUMBERS = 12
"""Integer tensors of at most so many numbers are shown in full."""
_WIDTH = 110
_CALL = 3 * _WIDTH
"""The longest call; it is wrapped where it is shown."""


def dtype_name(dtype: torch.dtype) -> str:
    """Return `float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def is_tensor(value: object) -> bool:
    """Tell whether this is a plain tensor or a parameter, and no other subclass."""
    return type(value) in (Tensor, torch.nn.Parameter)


def is_array(value: object) -> bool:
    """Tell whether this is a NumPy array, and no subclass."""
    return type(value) is np.ndarray


def type_name(value: object) -> str:
    """Return the dotted name of a value's type: of a remote object the one it has over there."""
    if (there := _types_there(value)) is not None:
        return clean(there[0], 80)
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return clean(name, 80)


def type_names(value: object) -> tuple[str, ...]:
    """Return the dotted names of a value's type and its bases, nearest first."""
    if (there := _types_there(value)) is not None:
        return tuple(clean(name, 80) for name in there)
    bases = (f"{base.__module__}.{base.__qualname__}" for base in type(value).__mro__[1:])
    return (type_name(value), *bases)


def _types_there(value: object) -> tuple[str, ...] | None:
    if isinstance(value, RemoteObject):
        return state_of(value).types
    kind = getattr(value, "kata_type", None) if isinstance(value, Tensor) else None
    return (kind,) if isinstance(kind, str) else None


def describe(value: Any, limit: int = 80) -> str:
    """Return a value in one line: tensors by dtype and named axes, the rest by its value, bounded.

    >>> describe(torch.zeros(2, 5))
    'float32 [2, 5]'
    >>> describe(torch.tensor([[5, 0, 7]])), describe([1, "a", None])
    ('[[5, 0, 7]]', "[1, 'a', None]")
    """
    return clean(written(value, _described, limit), limit)


def _described(value: Any) -> str:
    """Return a value that is not plain in a few words."""
    if is_tensor(value):
        return _tensor(value)
    if is_array(value):
        return f"array {value.dtype} {sizes(value.shape)}"
    if type(value) in (torch.dtype, torch.device):
        return str(value)
    if isinstance(value, RemoteObject) and state_of(value).calls is not None and state_of(value).label:
        return _label(state_of(value).label, 60)
    return f"<{type_name(value).replace('torch._C.', 'torch.')}>"


def _tensor(value: Tensor) -> str:
    if _in_full(value):
        return str(value.tolist())
    axes = axes_of(value)
    where = "" if value.device.type == "cpu" else f" on {value.device}"
    layout = "" if value.layout != torch.strided or value.is_contiguous() else ", not contiguous"
    shape = sizes(tuple(value.shape), tuple(axes) if axes else ())
    return f"{dtype_name(value.dtype)} {shape}{where}{layout}"


def _in_full(value: Tensor) -> bool:
    if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
        return False
    rows = math.prod(size for size in value.shape if size)  # lists of nothing take room, too
    return value.layout == torch.strided and rows <= NUMBERS and value.device.type == "cpu"


def is_starred(name: str) -> bool:
    """Tell whether a parameter takes any number of arguments: `*masks`."""
    return name.startswith("*") and not name.startswith("**")


def _spread(names: Sequence[str], count: int) -> list[str]:
    """Return a name for each argument: those after `*masks` are masks[0], masks[1] and so on."""
    for place, name in enumerate(names):
        if is_starred(name):
            rest = [f"{name[1:]}[{number}]" for number in range(max(count - place, 0))]
            return [*names[:place], *rest]
    return list(names)


def _named(
    parameter_names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Return each argument with its name, "" where it has none."""
    names = [clean(name, 40) for name in _spread(parameter_names, len(args))][: len(args)]
    names += [""] * (len(args) - len(names))
    return [*zip(names, args, strict=True), *((clean(name, 40), value) for name, value in kwargs.items())]


def _label(name: str, room: int = _WIDTH - 10) -> str:
    """Return what was called within a line; what a class was made with gives way to the method called of it."""
    text = clean(name, WHOLE)
    head, opened, rest = text.partition("(")
    inside, closed, method = rest.rpartition(")")
    if len(text) <= room or not (opened and closed) or len(head) + len(method) > room // 2:
        return clean(text, room)
    shown: list[str] = []
    for argument in _arguments(inside):
        if len(f"{head}({', '.join([*shown, argument, '…'])}){method}") > room:
            break
        shown.append(argument)
    return f"{head}({', '.join([*shown, '…'])}){method}"


def _arguments(inside: str) -> list[str]:
    """Return the arguments in a label, at whose commas alone it may be cut: those in brackets part no arguments."""
    found: list[str] = []
    for part in inside.split(", "):
        if found and sum(map(found[-1].count, "([{")) > sum(map(found[-1].count, ")]}")):
            found[-1] += f", {part}"
        else:
            found.append(part)
    return found


def describe_call(
    name: str,
    parameter_names: Sequence[str] = (),
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the lines that say what was called: the call with small values in place, then the tensors.

    >>> describe_call("causal_mask", ["seq_len"], [5])
    ['called  causal_mask(seq_len=5)']
    >>> describe_call("gelu", ["x"], [torch.zeros(2, 3)])
    ['called  gelu(x)   x float32 [2, 3]']
    """
    inline: list[str] = []
    tensors: dict[str, list[str]] = {}
    for argument, value in _named(parameter_names, args, kwargs or {}):
        # A tensor is a name in the call, and its shape comes after it: its numbers would push the rest of
        # the call off the line.
        if is_tensor(value) and not _in_full(value):
            shown = argument or f"arg{len(inline) + 1}"
            inline.append(shown)
            tensors.setdefault(describe(value), []).append(shown)
        else:
            inline.append(f"{argument}={describe(value, 60)}" if argument else describe(value, 60))
    call = clean(f"called  {_label(name)}({', '.join(inline)})", _CALL)
    if not tensors:
        return [call]
    if len(tensors) == 1:
        ((text, names),) = tensors.items()
        who = "each" if len(names) > 1 else names[0]
        if len(call) + 4 + len(who) + len(text) <= _WIDTH:
            return [f"{call}   {who} {text}"]
    groups = {listed(names): text for text, names in tensors.items()}
    pad = max(len(names) for names in groups)
    return [
        call,
        *(clean(f"          {names.ljust(pad)}  {text}", _WIDTH) for names, text in groups.items()),
    ][:14]


def describe_changed(
    parameter_names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any], changed: Sequence[Tensor]
) -> list[str]:
    """Return the line that says which arguments a call wrote into; none where it left them alone.

    >>> x = torch.zeros(2)
    >>> describe_changed(["x"], [x], {}, [x])
    ['changed  x, which it was given: work on a new tensor, not in place']
    """
    if not changed:
        return []
    changes = listed(changed_arguments(parameter_names, args, kwargs, changed))
    return [clean(f"changed  {changes}, which it was given: work on a new tensor, not in place", WHOLE)]


def changed_arguments(
    parameter_names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any], changed: Sequence[Tensor]
) -> list[str]:
    """Return what the arguments are called that a call wrote into; where none is itself a tensor that changed, that."""
    names = [
        name or f"argument {place + 1}"
        for place, (name, value) in enumerate(_named(parameter_names, args, kwargs))
        # An array crosses as a tensor over its memory.
        if any(
            value is tensor or (is_array(value) and value.ctypes.data == tensor.data_ptr())
            for tensor in changed
        )
    ]
    return names or ["a tensor inside an argument"]
