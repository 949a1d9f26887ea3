"""Lets code run on the meta device without `torch._dynamo`: for the `preload` of a kata that uses `expect_device`.

There torch runs many operators by references in Python (`torch._refs`). Each of them is exempt from being traced by
`torch._dynamo`, and for that imports it at its first call, which takes most of a second and changes nothing as long as
nobody traces. Seen in torch 2.13, `torch._compile._disable_dynamo`: what it has exempted it keeps on the function, as
`__dynamo_disable`. Here that is what calls the function as it is until dynamo has been imported, and then lets torch
go on as it would have. Where torch does something else, this changes nothing.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

KEPT = "__dynamo_disable"


def spare_dynamo() -> None:
    """Exempt what is exempt without importing dynamo."""
    wrap: Callable[..., Any] | None = getattr(getattr(torch, "_compile", None), "_disable_dynamo", None)
    code = getattr(wrap(_nothing), "__code__", None) if wrap is not None else None
    if code is None:
        return
    # All that was wrapped has this one code, and functions keep no list of themselves.
    for wrapped in gc.get_referrers(code):
        if isinstance(wrapped, types.FunctionType):
            function = inspect.getclosurevars(wrapped).nonlocals.get("fn")
            if callable(function) and getattr(function, KEPT, None) is None:
                setattr(function, KEPT, functools.partial(_untraced, function))


def _untraced(function: Any, *args: Any, **kwargs: Any) -> Any:
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is None or not hasattr(dynamo, "disable"):  # not there, or half imported
        return function(*args, **kwargs)
    disabled = dynamo.disable(function, True, wrapping=False)
    setattr(function, KEPT, disabled)
    return disabled(*args, **kwargs)


def _nothing() -> None: ...


importlib.import_module("torch.fx.experimental.symbolic_shapes")  # which the references import, with sympy
spare_dynamo()
