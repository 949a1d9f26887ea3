"""Options that are wrong, and near what is right."""

from __future__ import annotations

import ast
import re

_NUMBER = re.compile(r"-?\d+")


def facts_near(fact: str) -> list[str]:
    """Return what might have been there in place of a shape and dtype, or of a small value."""
    dtype, bracket, inside = fact.partition(" [")
    if not bracket:
        return [_shifted(fact, step) for step in (1, -1, 2, 3)]
    sizes = [int(part) for part in inside.rstrip("]").split(", ") if part]
    shapes = [sizes[::-1], [*sizes, 1], [1, *sizes], sizes[1:], sizes[:-1], [size + 1 for size in sizes]]
    others = [name for name in ("float32", "int64", "bool") if name != dtype]
    return [f"{dtype} {shape}" for shape in shapes] + [f"{others[0]} {sizes}"]


def results_near(text: str) -> list[str]:
    """Return what might have been returned in place of a small result: turned round, in part, the opposite."""
    try:
        # Text that the learner's code returned is never evaluated.
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return []
    if not isinstance(value, list | tuple) or not value:
        return facts_near(text)
    rows = [row for row in value if isinstance(row, list)]
    square = len(rows) == len(value) and all(len(row) == len(rows) for row in rows)
    turned = [list(column) for column in zip(*rows, strict=True)] if square else value[1:]
    others = [value[::-1], turned, _opposite(value), _opposite(value[::-1]), value[:-1], [*value, value[-1]]]
    return [str(other) for other in others]


def _shifted(text: str, step: int) -> str:
    return _NUMBER.sub(lambda found: str(int(found[0]) + step), text)


def _opposite(value: object) -> object:
    """Return every bool inverted, and every number one larger."""
    if isinstance(value, list | tuple):
        return type(value)(_opposite(part) for part in value)
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value
