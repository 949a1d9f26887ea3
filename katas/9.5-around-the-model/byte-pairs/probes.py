"""What a check brings into the worker: ids that can be read once, and have no length; lists that are looked at again.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def once(decode: Callable[[Iterable[int]], str], ids: Sequence[int]) -> str:
    """Return what `decode` gives for these ids, one after the other."""
    return decode(number for number in ids)


def left(
    made: Callable[..., Any], merges: list[tuple[bytes, bytes]], special: list[str], text: str
) -> tuple[list[tuple[bytes, bytes]], list[str], list[int]]:
    """Return what is in the lists that a tokenizer was made of, after it has read a text; then ids without lists."""
    tokenizer = made(merges, special)
    tokenizer.encode(text).clear()
    kept = list(merges), list(special)
    merges.clear()
    special.clear()
    return (*kept, tokenizer.encode(text))
