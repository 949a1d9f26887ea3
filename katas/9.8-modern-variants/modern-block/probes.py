"""What the checks bring into the worker: a reader that keeps caches there, so that a change to one of them is seen.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

NAMES = ("the first cache", "the second cache", "the third cache", "the fourth cache")


class reader:
    """Read texts with a model, and keep the cache of each text that was begun, under its name."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.caches: dict[str, Any] = {}

    def __call__(self, tokens: Tensor, cache: str | None = None) -> Any:
        """Begin a text, or go on from a cache by its name; return the logits."""
        result = self.model(tokens) if cache is None else self.model(tokens, self.caches[cache])
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError("forward returned no pair (logits, cache), so there is no cache to continue with")
        if cache is None:
            self.caches[NAMES[len(self.caches)]] = result[1]
        return result[0]
