"""The `@check` decorator: what an author states of a check besides its code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

Aspect = Literal[
    "shape",
    "values",
    "masks",
    "gradient",
    "stability",
    "dtype",
    "parameters",
    "mode",
    "arguments",
    "errors",
    "scratch",
    "causality",
    "padding",
    "cache",
    "learning",
    "performance",
]
F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[..., Any] | str
"""A check as another names it: the function, or its name where it is in another file."""
Checks = Check | Sequence[Check]
_QUOTES = re.compile(r"^> (.+(?:\n(?!> ).+)*)", re.MULTILINE)


@dataclass(frozen=True)
class CheckInfo:
    """What the report needs to know of a check."""

    title: str
    aspect: str
    points: float
    needs: tuple[str, ...]
    trained: bool = False
    threshold: str | None = None
    asked: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    on_workers_word: str = ""


def check(
    *,
    aspect: Aspect,
    points: float = 1.0,
    needs: Checks = (),
    follows: Checks = (),
    stand_ins: Sequence[str] = (),
    trained: bool = False,
    threshold: str | None = None,
    on_workers_word: str = "",
    hidden: bool = False,
) -> Callable[[F], F]:
    """Make a pytest function a check; its docstring says what it demands, and who asks for that.

    The first line is the title: a claim about the submission that stays true when it fails to hold. `{NAME}` in it is a
    constant of the file. Lines that begin with `> ` quote the stub or a lesson, word for word; a line without that mark
    continues the quote above it. What else is written there is for who reads the file.

        @check(aspect="masks", points=2, follows=test_shape)
        def test_future(submission, draw):
            \"\"\"future keys get zero weight

            > Query i sees the keys 0 to i.
            \"\"\"

    Args:
        aspect: what it is about; a report groups by it.
        points: what it is worth.
        needs: checks of the same kata without which this one says nothing: when one of them did not pass, this
            check is skipped. One or several, or its name where it is in another file.
        follows: checks of the same kata. When one of them did not pass, this check is run all the same: where it
            holds it counts, and where it does not, that is put down to the one it follows. As in `needs`.
        stand_ins: functions of the submission that this check does not judge, though what it judges may call them.
            Where it fails, and a check of one of these did, it is run once more with the author's in its place
            (`@stand_in` in checks.py; in hidden checks the reference's).
        trained: what it looks at comes from a model that was trained, and so depends on the processor's rounding; no
            fingerprint is taken of it.
        threshold: of a speed check, the name of its `[speed.NAME]` in kata.toml, which also holds its points.
        on_workers_word: why it is enough here what modules of `support` and `given` return, though a submission can
            replace them: most often that it is compared with what the check computed from inputs that it drew.
        hidden: of a kata that is written once, whether learners do not get it. `kata pack check` splits the file by it,
            and nothing else looks at it.

    Raises:
        ValueError: an unknown aspect, negative points, a threshold for another aspect than performance; when it is
            put above a function, one without a title, or whose title names a constant that is not above it.
    """
    if aspect not in get_args(Aspect):
        raise ValueError(f"aspect {aspect!r} is none of {', '.join(get_args(Aspect))}")
    # Refused at import, where the traceback shows the author's line; the host would meet it without one.
    if points < 0:
        raise ValueError("a check needs points of at least 0")
    if (threshold is not None) != (aspect == "performance"):
        raise ValueError("a check of performance has a threshold, and no other has")

    def mark(function: F) -> F:
        title, quotes = _stated(function)
        # The function itself comes back, no wrapper: pytest reads its signature to find the fixtures.
        function.kata_check = CheckInfo(  # type: ignore[attr-defined]
            title=title,
            aspect=aspect,
            points=float(points),
            needs=_names(needs),
            trained=trained,
            threshold=threshold,
            asked=quotes,
            follows=_names(follows),
            stand_ins=tuple(stand_ins),
            on_workers_word=on_workers_word,
        )
        return function

    return mark


def _names(checks: Checks) -> tuple[str, ...]:
    """Return the names of one check or several."""
    several = [checks] if isinstance(checks, str) or callable(checks) else checks
    return tuple(check if isinstance(check, str) else check.__name__ for check in several)


def _stated(function: Callable[..., Any]) -> tuple[str, tuple[str, ...]]:
    """Return the title of a check and the words that ask for it."""
    # None without a docstring, and of every function where Python is told to leave them out.
    title, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n")
    if not title:
        raise ValueError(
            f"{function.__name__} needs a docstring that begins with its title (python -OO has none)"
        )
    try:
        title = title.format_map(function.__globals__) if "{" in title else title
    except KeyError as error:
        raise ValueError(f"the title of {function.__name__} names {error}, which is not above it") from error
    return title, tuple(re.sub(r"\n *", " ", quote) for quote in _QUOTES.findall(rest))
