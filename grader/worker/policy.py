"""What "from scratch" excludes: forbidden operators are noted when they are used, and still work.

An operator is watched below every name that it has: its kernels are replaced in torch's dispatcher, once for the whole
process, by one that notes the use and then calls the kernel that was there. So values, gradients and dtypes stay as
they are, and `torch.ops`, `torch._C`, scripts, traces, compiled graphs, custom operators, other threads and modules
that call the operator inside all come past. Classes, and functions that are no operators, are watched by their name.

This decides what a kata asks for, not what can do harm; the sandbox does that.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch

Note = Callable[[int], object]
"""Told the number of a name when it is used."""

_ACCELERATORS = ("CUDA", "XPU", "MPS", "PrivateUse1")
_BACKENDS = (
    "CPU",
    "Meta",
    *_ACCELERATORS,
    "MkldnnCPU",
    "QuantizedCPU",
    "QuantizedCUDA",
    "SparseCPU",
    "SparseCUDA",
    "SparseCsrCPU",
    "SparseCsrCUDA",
    "NestedTensorCPU",
    "NestedTensorCUDA",
)
"""Where kernels compute; all else (autograd, vmap, autocast, modes) lies above and ends up in one of these."""
_COMPOSITE = "CompositeImplicitAutograd"
"""An operator that is written in others has one kernel for everything, under this key."""

_TRANSFORMS = (
    ("FuncTorchVmapMode", "FuncTorchVmapMode"),
    ("FuncTorchBatchedDecomposition", "FuncTorchBatched"),
    ("FuncTorchBatched", "FuncTorchBatched"),
)
"""Where vmap may have a kernel for such an operator, which takes it apart and never calls the one for everything."""


@functools.cache
def _overloads() -> dict[str, list[str]]:
    """Return the overloads of every operator that torch brings, by the operator's name such as `aten::gelu`."""
    found: dict[str, list[str]] = {}
    for name in torch._C._dispatch_get_all_op_names():
        found.setdefault(name.partition(".")[0], []).append(name)
    return found


_overloads()  # now, so that a zygote does it for all its workers


def operators_of(name: str) -> list[str]:
    """Return the operators behind a dotted name of torch's: its namesake and the one in place, if there are such.

    A name such as `aten::gelu` stands for itself.
    """
    if "::" in name:
        return [name] if name in _overloads() else []
    last = name.rpartition(".")[2]
    if not name.startswith("torch."):
        return []
    return [operator for operator in (f"aten::{last}", f"aten::{last}_") if operator in _overloads()]


class Recorder:
    """Watch names; whoever made it is told the number of each that is used."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._registrations: list[Any] = []
        self._kernels: list[Callable[..., Any]] = []
        self._watched: set[str] = set()
        self._undo: list[tuple[Any, str, Any]] = []

    def forbid(self, names: Iterable[str]) -> None:
        """Watch these names, dotted or of operators; one that this torch lacks is passed over."""
        for number, name in enumerate(names):
            operators = operators_of(name)
            if operators:
                self._watch_operators([one for one in operators if one not in self._watched], number)
                self._watched.update(operators)
            elif "::" not in name:
                self._watch_name(name, number)

    def restore(self) -> None:
        """Undo what `forbid` did (for one-process runs; a worker just ends)."""
        for owner, name, original in reversed(self._undo):
            setattr(owner, name, original)
        self._undo.clear()
        for registration in self._registrations:
            registration.reset()
        self._registrations.clear()
        self._kernels.clear()
        self._watched.clear()

    def keep(self) -> None:
        """Make what `forbid` did last as long as the process, out of reach of whoever looks for it there.

        The registrations stay without anything pointing at them, and the kernels off the lists that `gc` hands out, so
        that no search finds one to take back or to change.
        """
        for hidden in (*self._registrations, *self._kernels, self._note):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(hidden))
        for function in (*self._kernels, self._note):
            for part in _parts(function):
                ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(part))
        self._registrations.clear()
        self._kernels.clear()
        self._undo.clear()

    def _watch_operators(self, operators: list[str], number: int) -> None:
        with warnings.catch_warnings():  # torch warns of an override; this one is meant
            warnings.simplefilter("ignore")
            for operator in operators:
                registration = torch._C._dispatch_library(
                    "IMPL", operator.partition("::")[0], "", __file__, 0
                )
                self._registrations.append(registration)
                for overload in _overloads()[operator]:
                    for key, found_at in _kernels(overload):
                        found = torch._C._dispatch_get_computed_kernel_for_dispatch_key(
                            overload,
                            torch._C._dispatch_key_parse(found_at),
                        )
                        kernel = _noting(found.call_boxed, self._note, number)
                        self._kernels.append(kernel)
                        registration.impl(overload.partition("::")[2], key, kernel, True)  # type: ignore[call-arg]

    def _watch_name(self, name: str, number: int) -> None:
        try:
            owner, attribute = _owner(name)
        except ImportError:
            return
        target = getattr(owner, attribute, None)
        if target is None:
            return
        if isinstance(target, type):
            owner, attribute, target = target, "__init__", target.__init__  # type: ignore[misc]
        self._undo.append((owner, attribute, target))
        setattr(owner, attribute, _calling(target, self._note, number))


def _kernels(overload: str) -> Iterable[tuple[str, str]]:
    """Return under which keys kernels have to be replaced, and where to find the one that is there."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    if has(overload, _COMPOSITE):
        return [(_COMPOSITE, "CPU"), *(pair for pair in _TRANSFORMS if has(overload, pair[0]))]
    keys = {key for key in _BACKENDS if has(overload, key)}
    if has(overload, "CompositeExplicitAutograd") and not overload.endswith("out"):
        # One kernel for all; an overload with `out` calls the one without.
        keys |= {"CPU", "Meta", *_ACCELERATORS}
    return [(key, key) for key in sorted(keys)] if keys != {"Meta"} else []


def _noting(kernel: Callable[..., Any], note: Note, number: int) -> Callable[..., Any]:
    def noting(keys: Any, *args: Any, **kwargs: Any) -> Any:
        note(number)
        return kernel(keys, *args, **kwargs)

    return noting


def _calling(function: Callable[..., Any], note: Note, number: int) -> Callable[..., Any]:
    def calling(*args: Any, **kwargs: Any) -> Any:
        note(number)
        return function(*args, **kwargs)

    if isinstance(function, types.FunctionType):
        # With the names of the original around it, torch.jit.script still finds and compiles the original.
        calling = types.FunctionType(
            calling.__code__, function.__globals__, function.__name__, None, calling.__closure__
        )
    functools.update_wrapper(calling, function, updated=())
    return calling


def _parts(function: Any) -> Iterable[Any]:
    """Return a function and what it holds, as far as `gc` knows it."""
    cells = getattr(function, "__closure__", None) or ()
    held = (
        function,
        cells,
        getattr(function, "__defaults__", None),
        *cells,
        *(c.cell_contents for c in cells),
    )
    return [part for part in held if gc.is_tracked(part) and not isinstance(part, types.ModuleType)]


def _owner(name: str) -> tuple[Any, str]:
    """Return the module or class that holds the last part of a dotted name."""
    *path, last = name.split(".")
    owner: Any = importlib.import_module(path[0])
    for part in path[1:]:
        nested = getattr(owner, part, None)
        if nested is None and isinstance(owner, types.ModuleType):
            nested = importlib.import_module(f"{owner.__name__}.{part}")
        owner = nested
    return owner, last
