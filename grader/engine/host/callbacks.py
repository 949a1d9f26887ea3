"""Functions of a check that a submission may call: they run in the grader, and the worker only asks for their answers.

What a helper in the worker writes down is the submission's word, as both share a process. What is asked of a lent
function is seen by the grader itself: which values came, in which order, and what they were answered with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MAX_ASKS = 20_000
"""How often a submission may ask in one check; time alone would allow more than can be looked through."""


class Lent:
    """A callback: a function that stays in the grader and can be called from the worker."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        """Answer, where the call is made again in the check's own process."""
        return self.function(*arguments)


class CallbackRegistry:
    """Callbacks of one check, by number."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Lent] = {}
        self._numbers: dict[Lent, int] = {}
        self.requests = 0
        self.refusal: Exception | None = None
        """What a lent function first raised: what the check ends with, whatever becomes of the call."""

    def number(self, value: object) -> int | None:
        """Return what the worker knows it by, or None when it is nothing to be lent."""
        if type(value) is not Lent:
            return None
        number = self._numbers.setdefault(value, len(self._numbers) + 1)
        self._callbacks[number] = value
        return number

    def find(self, number: int) -> Lent | None:
        """Return what a worker asks for, or None when it is not lent or was asked too often."""
        self.requests += 1
        return self._callbacks.get(number) if self.requests <= MAX_ASKS else None

    def take_refusal(self) -> Exception | None:
        """Return what was raised since the last time."""
        refusal, self.refusal = self.refusal, None
        return refusal
