"""The `@check` decorator: what an author states of a check besides its code."""

from __future__ import annotations

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
    title: str,
    *,
    aspect: Aspect,
    points: float = 1.0,
    needs: Sequence[str] = (),
    follows: Sequence[str] = (),
    stand_ins: Sequence[str] = (),
    trained: bool = False,
    threshold: str | None = None,
    asked: str | Sequence[str] = (),
    on_workers_word: str = "",
    hidden: bool = False,
) -> Callable[[F], F]:
    """Make a pytest function a check.

    Args:
        title: a claim about the submission that stays true when it fails to hold ("future keys get zero weight").
        aspect: what it is about; a report groups by it.
        points: what it is worth.
        needs: checks of the same kata without which this one says nothing: when one of them did not pass, this
            check is skipped.
        follows: checks of the same kata. When one of them did not pass, this check is run all the same: where it
            holds it counts, and where it does not, that is put down to the one it follows.
        stand_ins: functions of the submission that this check does not judge, though what it judges may call them.
            Where it fails, and a check of one of these did, it is run once more with the author's in its place
            (`@stand_in` in checks.py; in hidden checks the reference's).
        trained: what it looks at comes from a model that was trained, and so depends on the processor's rounding; no
            fingerprint is taken of it.
        threshold: of a speed check, the name of its `[speed.NAME]` in kata.toml, which also holds its points.
        asked: the words of the stub or of a lesson that ask for it, as they stand there; more than one where it looks
            at several things.
        on_workers_word: why it is enough here what modules of `support` and `given` return, though a submission can
            replace them: most often that it is compared with what the check computed from inputs that it drew.
        hidden: of a kata that is written once, whether learners do not get it. `kata pack check` splits the file by it,
            and nothing else looks at it.

    Raises:
        ValueError: an unknown aspect, negative points, an empty title, a threshold for another aspect than performance.
    """
    if aspect not in get_args(Aspect):
        raise ValueError(f"aspect {aspect!r} is none of {', '.join(get_args(Aspect))}")
    # Refused at import, where the traceback shows the author's line; the host would meet it without one.
    if not title.strip() or points < 0:
        raise ValueError("a check needs a title and points of at least 0")
    if (threshold is not None) != (aspect == "performance"):
        raise ValueError("a check of performance has a threshold, and no other has")
    # A string is a sequence too: of letters, if it were not wrapped.
    words = (asked,) if isinstance(asked, str) else tuple(asked)
    info = CheckInfo(
        title,
        aspect,
        float(points),
        tuple(needs),
        trained,
        threshold,
        words,
        tuple(follows),
        tuple(stand_ins),
        on_workers_word,
    )

    def mark(function: F) -> F:
        # The function itself comes back, no wrapper: pytest reads its signature to find the fixtures.
        function.kata_check = info  # type: ignore[attr-defined]
        return function

    return mark
