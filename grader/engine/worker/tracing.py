"""What a call asks of torch: how many operators, and what they move. It explains a time and decides no mark."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry


class TraceLimitReached(BaseException):
    """Ends the call that is traced; no Exception, which a submission may catch."""


class _Trace(TorchDispatchMode):
    """Counts below autograd and above the kernels: what arrives there is what is computed, views included."""

    def __init__(self, most: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = most
        self.names: Counter[str] = Counter()
        self.moved = 0
        """Bytes that operators read and wrote; a view moves none."""
        self.moved_as_double = 0
        self.flops = 0
        """Floating-point operations of matrix products and their like."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nobody compiles here; else torch imports its compiler for the first operator, for a second. Seen with 2.13.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.names.total() >= self.most:
            # Raised out of the operator: nothing else ends a loop of the submission's from within.
            raise TraceLimitReached
        result = func(*args, **(kwargs or {}))
        self.names[str(func.overloadpacket).removeprefix("aten.")] += 1
        if (count := flop_registry.get(func.overloadpacket)) is not None:
            self.flops += count(*args, **(kwargs or {}), out_val=result)
        # A view reads and writes nothing, whatever sizes it has.
        if not func.is_view:
            for leaf in tree_leaves((args, kwargs, result)):
                if isinstance(leaf, torch.Tensor):
                    # What is broadcast is read once, however often it counts.
                    nbytes = min(leaf.numel() * leaf.element_size(), leaf.untyped_storage().nbytes())
                    self.moved += nbytes
                    self.moved_as_double += nbytes * (leaf.dtype in (torch.float64, torch.complex128))
        return result


_traces: list[Any] = []


def begin(most: int) -> None:
    """Trace what happens until `end`, or until so many operators were called."""
    trace: Any = _Trace(most)
    trace.__enter__()
    _traces.append(trace)


def end() -> list[Any]:
    """Return the operators' number, the bytes moved, those in double precision, the operations, the commonest names."""
    trace = _traces.pop()
    trace.__exit__(None, None, None)
    names = [name for name, _ in trace.names.most_common(3)]
    return [trace.names.total(), trace.moved, trace.moved_as_double, trace.flops, names]
