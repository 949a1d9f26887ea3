"""The order people expect: learner 2 before learner 10, kata 9.9 before 9.10."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> tuple[object, ...]:
    """Return what sorts text by words and numbers; equal only for equal text."""
    parts: list[object] = []
    for index, part in enumerate(_DIGITS.split(text.casefold())):
        digits = part.lstrip("0")
        parts.append((len(digits), digits) if index % 2 else part)
    return (parts, text)


def number_key(number: str) -> tuple[object, ...]:
    """Return what sorts dotted numbers; what is none comes where its text would."""
    return natural_key(number)
