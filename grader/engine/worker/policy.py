"""Note the use of operators that a kata excludes; they still work.

An operator is watched below every name that it has: its kernels are replaced in torch's dispatcher, once for the whole
process, by one that notes the use and then calls the kernel that was there. So values, gradients and dtypes stay as
they are, and scripts, custom operators, other threads and names put together at run time all come past.

This decides what a kata asks for, not what can do harm; the sandbox does that.
"""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from grader.engine.wire.uses import Note, overloads
from grader.notebooks import cell_prefix, place_of

_FRAMES = 100
"""How far out the submission's line is looked for."""

_ACCELERATORS = ("CUDA", "XPU", "MPS", "PrivateUse1")
_KINDS = ("Quantized", "Sparse", "SparseCsr", "NestedTensor")
_BACKENDS = (
    "CPU",
    "Meta",
    "MkldnnCPU",
    *_ACCELERATORS,
    *(f"{k}{on}" for k in _KINDS for on in ("CPU", "CUDA")),
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
def _registered(key: str) -> frozenset[str]:
    """Return the overloads that have a kernel under a key: asking for them one by one takes 15 µs each."""
    return frozenset(torch._C._dispatch_get_registrations_for_dispatch_key(key))


overloads()  # now, so that a zygote does it for all its workers
for _key in (*_BACKENDS, _COMPOSITE, "CompositeExplicitAutograd", *(pair[0] for pair in _TRANSFORMS)):
    _registered(_key)


def watch(operators: Sequence[str], note: Note, path: str = "") -> Callable[[], None]:
    """Have `note` called with the number of each operator that is used, and the line of the file at `path`.

    Returns what undoes it, for one-process runs; a worker just ends. The registrations last as long as that.
    """
    line = _liner(path)
    registrations: list[Any] = []
    with warnings.catch_warnings():  # torch warns of an override; this one is meant
        warnings.simplefilter("ignore")
        for number, operator in enumerate(operators):
            library = torch._C._dispatch_library("IMPL", operator.partition("::")[0], "", __file__, 0)
            # Held: what a library registered is taken back when it is freed.
            registrations.append(library)
            for overload in overloads().get(operator, ()):
                for key, found_at in _kernels(overload):
                    # What computes today is looked up before it is replaced, and called by the replacement.
                    found = torch._C._dispatch_get_computed_kernel_for_dispatch_key(
                        overload, torch._C._dispatch_key_parse(found_at)
                    )
                    kernel = _noting(found.call_boxed, functools.partial(note, number), line)
                    library.impl(overload.partition("::")[2], key, kernel, True)  # type: ignore[call-arg]

    def undo() -> None:
        for library in registrations:
            library.reset()

    return undo


def _kernels(overload: str) -> Iterable[tuple[str, str]]:
    """Return under which keys kernels have to be replaced, and where to find the one that is there."""

    def has(overload: str, key: str) -> bool:
        return overload in _registered(key)

    # It has no kernel of a backend: by the time one is called, only the operators that it is written in are
    # left.
    if has(overload, _COMPOSITE):
        return [(_COMPOSITE, "CPU"), *(pair for pair in _TRANSFORMS if has(overload, pair[0]))]
    keys = {key for key in _BACKENDS if has(overload, key)}
    if has(overload, "CompositeExplicitAutograd") and not overload.endswith("out"):
        # One kernel for all; an overload with `out` calls the one without.
        keys |= {"CPU", "Meta", *_ACCELERATORS}
    return [(key, key) for key in sorted(keys)] if keys != {"Meta"} else []


def _noting(
    kernel: Callable[..., Any], note: Callable[[int], object], line: Callable[[], int]
) -> Callable[..., Any]:
    def noting(keys: Any, *args: Any, **kwargs: Any) -> Any:
        # Before the kernel: it may raise, and the use was one all the same.
        note(line())
        return kernel(keys, *args, **kwargs)

    return noting


def _liner(path: str) -> Callable[[], int]:
    """Return what finds the line of a file that the innermost call comes from; 0 where there is none.

    Of a notebook it is a place, as `grader.notebooks` has it.
    """
    cell = cell_prefix(path)

    def line() -> int:
        frame: types.FrameType | None = sys._getframe(1)
        # Bounded, since an operator may be called at the bottom of a deep recursion, a million times.
        for _ in range(_FRAMES):
            if frame is None:
                break
            file = frame.f_code.co_filename
            if file == path:
                return frame.f_lineno
            # A notebook's cells are compiled under names of their own.
            if file.startswith(cell):
                return place_of(int(file[len(cell) :]), frame.f_lineno)
            frame = frame.f_back
        return 0

    return line


def run_compiled_eagerly() -> None:
    """Let `torch.compile` return what it is given: a confined worker has no compiler, and values are what counts."""

    def compile(model: Any = None, **options: Any) -> Any:
        if not announced:
            announced.append(print("torch.compile: while it is checked, this runs uncompiled"))
        return (lambda model: model) if model is None else model

    announced: list[None] = []
    torch.compile = compile
