"""What "from scratch" excludes: forbidden operators are recorded when they are used, and still work.

This decides what a kata asks for, not what can do harm; the sandbox does that.
"""

from __future__ import annotations

import functools
import importlib
import math
import types
import warnings
from collections.abc import Callable
from typing import Any

import torch


class Recorder:
    """Remember which forbidden operators were used, in the order of first use."""

    def __init__(self) -> None:
        self.used: dict[str, None] = {}
        self._libraries: list[torch.library.Library] = []
        self._undo: list[tuple[Any, str, Any]] = []

    def forbid(self, names: list[str]) -> None:
        """Watch these dotted names; a name that this torch lacks is passed over."""
        for name in names:
            self._watch(name)
        if any(name.endswith("scaled_dot_product_attention") for name in names):
            self._watch_fused_attention()

    def restore(self) -> None:
        """Undo what `forbid` did (for one-process runs; a worker just ends)."""
        for owner, name, original in reversed(self._undo):
            setattr(owner, name, original)
        self._undo.clear()
        self._libraries.clear()

    def _record(self, name: str) -> None:
        self.used.setdefault(name)

    def _watch(self, name: str) -> None:
        try:
            owner, attribute = _owner(name)
        except ImportError:
            return
        target = getattr(owner, attribute, None)
        if target is None:
            return
        if isinstance(target, type):
            self._replace(target, "__init__", self._recording(target.__init__, name))  # type: ignore[misc]
        else:
            self._replace(owner, attribute, self._recording(target, name))

    def _recording(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(function, updated=())
        def recorded(*args: Any, **kwargs: Any) -> Any:
            self._record(name)
            return function(*args, **kwargs)

        return recorded

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _watch_fused_attention(self) -> None:
        """Catch the operator below every alias: torch.ops, torch._C, nn.MultiheadAttention, jit, threads."""
        name = "torch.nn.functional.scaled_dot_product_attention"

        def attention(
            query: torch.Tensor,
            key: torch.Tensor,
            value: torch.Tensor,
            attn_mask: torch.Tensor | None = None,
            dropout_p: float = 0.0,
            is_causal: bool = False,
            *,
            scale: float | None = None,
            enable_gqa: bool = False,
        ) -> torch.Tensor:
            self._record(name)
            if (
                attn_mask is not None and attn_mask.dtype == torch.bool
            ):  # the operator below takes numbers only
                zeros = torch.zeros((), dtype=query.dtype, device=query.device)
                attn_mask = zeros.masked_fill(~attn_mask, -math.inf)
            output: torch.Tensor = torch.ops.aten._scaled_dot_product_attention_math(
                query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
            )[0]
            return output

        library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
        with warnings.catch_warnings():  # torch warns of an override; this one is meant
            warnings.simplefilter("ignore")
            library.impl(  # type: ignore[no-untyped-call]
                "scaled_dot_product_attention", attention, "CompositeImplicitAutograd", allow_override=True
            )
        self._libraries.append(library)


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
