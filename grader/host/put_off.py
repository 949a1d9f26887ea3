"""Calls that need no answer wait until something is asked: they travel with it, and one exchange does for all.

A check says `module.to(device)`, `module.eval()`, `module.load_state_dict(state)` before it calls the module. Where
these are torch's own methods, what they return is known before they are made. What they raise is told when they are
made, as if it had come at once: by then a check has done nothing but work on its own side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from grader.errors import MachineFault
from grader.wire.messages import Before

MAX_BYTES = 1 << 18
"""Of arguments that wait. What is asked in the end still fits into shared memory."""
_RETURN_ITSELF = frozenset({"eval", "train", "to", "double", "float", "requires_grad_"})


class Waits(Protocol):
    """A session with calls that wait."""

    def catch_up(self) -> None:
        """Let the worker make them now."""
        ...


@dataclass(frozen=True)
class PutOff:
    """A call that waits."""

    before: Before
    noted: int
    """How many answers had been noted when it was put off."""
    made: Callable[[], None]
    """Told when it has been made."""
    raised: Callable[[], None]
    """Told when it raised: what was noted after it never was."""


waiting: set[Waits] = set()
"""The sessions with calls that wait."""


def catch_up() -> None:
    """Let every call be made that waits.

    Raises:
        SubmissionRaised, WorkerDied, WorkerTimeout: one ended so.
    """
    while waiting:
        waiting.pop().catch_up()


@contextmanager
def caught_up() -> Iterator[None]:
    """Let what is called inside also end inside, and what waits before it end before."""
    __tracebackhide__ = True
    catch_up()
    try:
        yield
    except (KeyboardInterrupt, MachineFault):
        raise
    except BaseException:
        catch_up()  # what it raises came first
        raise
    else:
        catch_up()


def answer_of(module: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what torch's own method of a module returns to these arguments, or `NotImplemented`: not known."""
    if method in _RETURN_ITSELF:
        known = all(arg is None or isinstance(arg, bool | str | torch.dtype | torch.device) for arg in args)
        return module if known and not kwargs else NotImplemented
    if method == "load_state_dict" and len(args) == 1 and not kwargs and type(args[0]) is dict:
        tensors = list(args[0].values())
        small = all(isinstance(one, torch.Tensor) and one.is_cpu for one in tensors)
        if small and sum(one.numel() * one.element_size() for one in tensors) <= MAX_BYTES:
            return [], []  # neither missing nor unexpected, or it raises
    return NotImplemented


def keeps_state(method: str, args: tuple[Any, ...]) -> bool:
    """Tell whether a module holds the same after such a call as before."""
    return method in ("eval", "train") or (
        method == "to" and len(args) == 1 and str(args[0]) == "cpu" and not isinstance(args[0], torch.dtype)
    )
