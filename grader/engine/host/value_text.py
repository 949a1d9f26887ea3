"""Plain values as Python would write them, bounded in items, depth and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch

ITEMS = 6
"""Of a list, tuple or dict so many items are written; the rest are counted."""
_DEPTH = 3
_CHARACTERS = 60
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    torch.Size: ("(", ")"),
    dict: ("{", "}"),
}


def written(value: Any, other: Callable[[Any], str], limit: int) -> str:
    """Return a plain value as Python would write it; what is in it and is not plain, `other` describes.

    Whole items are left out until the rest fits within `limit`; with one left the caller has to cut.

    >>> merges = [(b"k", b"p"), (b"b", b"c"), (b"u", b"w")]
    >>> written(merges, repr, 60), written(merges, repr, 40)
    ("[(b'k', b'p'), (b'b', b'c'), (b'u', b'w')]", "[(b'k', b'p'), (b'b', b'c'), … 1 more]")
    """
    # Whole items, since half of one reads like another value.
    for items in range(ITEMS, 0, -1):
        text = _written(value, other, items)
        if len(text) <= limit:
            break
    return text


def integer_repr(value: int) -> str:
    """Return a whole number as Python writes it, or how large it is where that would be long: Python may refuse to."""
    return str(value) if value.bit_length() <= 128 else f"an int of {value.bit_length()} bits"


def _written(value: Any, other: Callable[[Any], str], items: int, depth: int = 0) -> str:
    kind = type(value)  # never isinstance: what a subclass prints is not bounded
    if kind in (str, bytes):
        return repr(value[:_CHARACTERS]) + ("…" if len(value) > _CHARACTERS else "")
    if kind is int:
        return integer_repr(value)
    if kind in (bool, float, complex, type(None)):
        return repr(value)
    if kind not in _BRACKETS:
        return other(value)
    if depth >= _DEPTH:
        return "…"
    # Only the outermost gets shorter: of pairs in a list both parts are worth more than one pair more.
    texts = list(islice(_parts(value, other, depth + 1), items))
    if len(value) > items:
        texts.append(f"… {len(value) - items} more")
    opening, closing = _BRACKETS[kind]
    comma = "," if opening == "(" and len(value) == 1 else ""
    return f"{opening}{', '.join(texts)}{comma}{closing}"


def _parts(value: Any, other: Callable[[Any], str], depth: int) -> Iterator[str]:
    for part in value:
        text = _written(part, other, ITEMS, depth)
        yield f"{text}: {_written(value[part], other, ITEMS, depth)}" if type(value) is dict else text
