"""What a check brings into the worker: ids that can be read once, and have no length.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def once(decode: Callable[[Iterable[int]], str], ids: Sequence[int]) -> str:
    """Return what `decode` gives for these ids, one after the other."""
    return decode(number for number in ids)
