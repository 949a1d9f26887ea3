"""Words and numbers as a learner reads them: bounded, printable, never a whole tensor."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.engine.host.value_text import integer_repr
from grader.words import plural

LINE = 110
"""Columns of the longest line of a message."""


_COLOURS = re.compile(r"\x1b\[[\d;]*m")
"""What torch writes into its longer messages, for a terminal alone."""
WHOLE = 1000
"""Columns of a line of an exception's own message, whose remedy is at its end; wrapped where it is shown."""


def clean(text: str, limit: int = LINE) -> str:
    """Return `text` as printable characters of at most `limit` columns; a cut ends in an ellipsis.

    >>> clean("two\\nlines")
    'two\\\\nlines'
    >>> clean("abcdefgh", limit=5)
    'abcd…'
    """
    text = text[: limit + 1]  # a character takes at least one column, except marks, which we may cut early
    text = text.replace("\t", "  ")
    # What a submission prints may hold sequences that a terminal obeys.
    if not text.isprintable():
        text = _COLOURS.sub("", text)
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    if text.isascii():
        return text if len(text) <= limit else text[: limit - 1] + "…"
    widths = [2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text]
    if sum(widths) <= limit:
        return text
    used = fitting = 0
    while used + widths[fitting] <= limit - 1:
        used += widths[fitting]
        fitting += 1
    return text[:fitting] + "…"


def number(value: object, digits: int = 3) -> str:
    """Return a bool, int, float or complex as text, floats with `digits` decimals.

    >>> number(0.41234), number(-1e9), number(float("-inf")), number(True)
    ('0.412', '-1.000e9', '-inf', 'True')
    """
    # Before int: True is one.
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return integer_repr(value)
    if isinstance(value, complex):
        return f"({number(value.real, digits)}, {number(value.imag, digits)}j)"
    if not isinstance(value, float):
        return "?"
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:.{digits}f}"
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def pair(got: object, want: object, tolerance: float = 0.0) -> tuple[str, str]:
    """Return both numbers with just as many digits as it takes to tell them apart.

    What rounding leaves of a 0 is 0: less than a tolerance for rounding, and another on each processor.

    >>> pair(0.41234, 1.0), pair(1.0000001, 1.0), pair(-9e-08, -4.2, 1e-06)
    (('0.412', '1.000'), ('1.0000001', '1.0000000'), ('0.000', '-4.200'))
    """
    if (
        isinstance(got, float)
        and isinstance(want, float)
        and abs(got) <= tolerance < abs(want) / 1000 < math.inf
    ):
        got = 0.0
    # Up to 17 significant digits, with which a double is told from every other.
    for digits in range(3, 17):
        texts = number(got, digits), number(want, digits)
        if texts[0] != texts[1]:
            return texts
    return repr(got) if isinstance(got, float) else number(got), number(want, 17)


def short(value: float) -> str:
    """Return a magnitude in as few characters as say it: a tolerance, a factor.

    >>> short(1.19e-5), short(1e-5), short(0.5), short(24.0)
    ('1.2e-5', '1e-5', '0.5', '24')
    """
    if value == 0 or 1e-2 <= abs(value) < 1e4:
        return f"{value:.3g}" if abs(value) < 1e3 else f"{value:.0f}"
    if not math.isfinite(value):
        return str(value)
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


def listed(items: Sequence[str], limit: int = 6) -> str:
    """Join with commas and a last "and"; what is over `limit` is counted.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], limit=2)
    ('a, b and c', 'a, b and 1 more')
    """
    if len(items) > limit:
        return f"{', '.join(items[:limit])} and {len(items) - limit} more"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def axis_names(axes: str | Iterable[str] | None, ndim: int) -> tuple[str, ...]:
    """Return one name an axis: those given when they are as many as the axes, else `axis 0`, `axis 1`, …"""
    names = tuple(axes.split() if isinstance(axes, str) else axes or ())
    return names if len(names) == ndim else tuple(f"axis {i}" for i in range(ndim))


def is_unnamed(name: str) -> bool:
    """Tell whether `axis_names` made this name up."""
    return name.startswith("axis ")


def label(name: str, index: int | str, *, several: bool = False) -> str:
    """Return an index of an axis in words, or several: `query 3`, or `index 3 of axis 1` where axes have no names.

    >>> label("query", "0 and 3", several=True), label("axis 1", "0 and 3", several=True)
    ('queries 0 and 3', 'indices 0 and 3 of axis 1')
    """
    if is_unnamed(name):
        return f"{'indices' if several else 'index'} {index} of {name}"
    return f"{plural(name) if several else name} {index}"


Span = range | None
"""Which indices of the learner's own axis are compared; None is all of them, and nothing is known to lie beyond."""

_SLICED = re.compile(r"(.+)\[([-\d:, ]*:[-\d:, ]*)\]")


def unsliced(name: str, shape: Sequence[int]) -> tuple[str, list[Span]]:
    """Return what a check cut a value of this shape from, and which indices of that the value holds.

    A check says so in the value's name. Where it does not, or counts from an end, the name stays as it is.

    >>> unsliced("buckets[:, 8:]", (2, 3))
    ('buckets', [None, range(8, 11)])
    >>> unsliced("weights", (2, 3)), unsliced("output[:, -1:]", (2, 1))
    (('weights', [None, None]), ('output[:, -1:]', [None, None]))
    """
    whole: list[Span] = [None] * len(shape)
    found = _SLICED.fullmatch(name)
    parts = [part.strip().split(":") for part in found[2].split(",")] if found else []
    if found is None or len(parts) > len(shape) or any(len(part) not in (2, 3) for part in parts):
        return name, whole
    spans = list(whole)
    for axis, (start, stop, *step) in enumerate(parts):
        by = (step or [""])[0] or "1"
        # A negative index counts from an end that this does not know.
        if not (start or "0").isdecimal() or not by.isdecimal() or by == "0":
            return name, whole
        if start or stop or step:
            first = int(start or 0)
            spans[axis] = range(first, first + int(by) * shape[axis], int(by))
    return found[1], spans


@dataclass(frozen=True)
class Axes:
    """What the axes of a compared tensor are called, and which of the learner's own indices it holds."""

    names: Sequence[str]
    spans: Sequence[Span] = ()
    """One an axis; none at all where nothing was cut off."""
    grid: bool = False
    """Whether the last two index the same kind of thing (rows that look at columns), so that indices compare."""

    def __post_init__(self) -> None:
        if not self.spans:
            object.__setattr__(self, "spans", (None,) * len(self.names))

    def own(self, index: Sequence[int]) -> list[int]:
        """Return the indices that a value of a slice has in what the slice was cut from, as the learner counts."""
        return [i if span is None else span[i] for i, span in zip(index, self.spans, strict=True)]

    def place(self, name: str, index: Sequence[int]) -> str:
        """Return the place of a value, in words, in what a check calls `name`."""
        return place(name, self.names, self.own(index))

    def location(self, index: Sequence[int]) -> dict[str, int]:
        """Return the index of each axis by its name."""
        return dict(zip(self.names, self.own(index), strict=True))


_ENDS_IN_A_NUMBER = re.compile(r" \S*\d$")
"""Of such a name no `[…]` is a part; of `x1` it may be."""
_BEFORE_CONDITIONS = re.compile(
    r"(?!what |whether |how ).+?(?=, (?![^\[(]*[\])])| (?:with|without|in|under|where|at|after|when|for) "
    r"|(?<!gradient)(?<!sum)(?<!share)(?<!loss)(?<!step) of )"
)


def place(name: str, axes: Sequence[str], index: Sequence[int]) -> str:
    """Return where a value stands: in its axes' names where they have any, and before what the name says of it.

    >>> place("gradient of w_q", ["batch", "key"], [0, 3]), place("output in float16", ["time"], [2])
    ('gradient of w_q[batch 0, key 3]', 'output[time 2] in float16')
    """
    if not index:
        return name
    inside = ", ".join(str(i) if is_unnamed(a) else f"{a} {i}" for a, i in zip(axes, index, strict=True))
    found = _BEFORE_CONDITIONS.match(name)
    head = found[0] if found else name
    return f"{head}{' ' if _ENDS_IN_A_NUMBER.search(head) else ''}[{inside}]{name[len(head) :]}"


def sizes(shape: Sequence[int | None], axes: Sequence[str] = ()) -> str:
    """Return a shape with its axes' names where there are any.

    >>> sizes((2, 5)), sizes((2, None), ("batch", "time"))
    ('[2, 5]', '[batch 2, time any]')
    """
    texts = ["any" if n is None else str(n) for n in shape]
    if len(axes) == len(shape):
        texts = [
            text if is_unnamed(axis) else f"{axis} {text}" for axis, text in zip(axes, texts, strict=True)
        ]
    return f"[{', '.join(texts[:12])}{', …' if len(texts) > 12 else ''}]"


def quantity(value: float) -> str:
    """Return a large number with the SI prefix of its unit, which follows.

    >>> quantity(16_777_216) + "B", quantity(12) + "B"
    ('16.8 MB', '12 B')
    """
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g} "
