"""What a failed comparison says, as data: made by `expect`, worded once, printed by the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from grader.engine.checks.text import LINE, WHOLE, clean
from grader.engine.host.errors import SubmissionRaised

Relations = Mapping[str, Callable[[], object]]
Stated = Relations | Callable[[], Relations]
Stage = Literal[
    "type",
    "shape",
    "dtype",
    "device",
    "layout",
    "nan",
    "values",
    "gradient",
    "arguments",
    "raises",
    "names",
    "policy",
    "speed",
]
PROPERTIES: frozenset[Stage] = frozenset({"dtype", "device", "layout", "arguments"})
"""Stages at which the numbers themselves may be right: a slip that every function of an answer may share."""
NOT_SAID = object()
"""In place of an expected value where there is none."""
IN_PLACE = "+=, an assignment into it or an operation that ends in _ works in place: make a new one instead"
CUT_OFF = (
    "something on the way is not used, requires no gradient, or is detached: .detach(), .data, .item(), NumPy, "
    "torch.tensor(...) and torch.no_grad() let no gradient through"
)
"""What causes a gradient that does not arrive; one that is wrong has other causes."""
LINES = 40
"""Lines of the longest message."""


@dataclass(frozen=True)
class Failure:
    """The first stage at which a result is not what was expected.

    Lines are cut to `WHOLE` columns, stripped of control characters and at most `LINES` in number, so
    nothing that a submission returns can flood or repaint a terminal.
    """

    stage: Stage
    summary: tuple[str, ...]
    """What differs, most important line first."""
    location: dict[str, int] | None = None
    """The first wrong value's index by axis name."""
    picture: tuple[str, ...] = ()
    """Expected and yours side by side, with a legend."""
    guess: str = ""
    """The line of the summary that supposes how a few numbers came about: what names the mistake replaces it."""
    cause: str = ""
    """What most likely made it fail, said where no catalogued mistake is recognised."""

    def __post_init__(self) -> None:
        # the picture gives way only to a summary of its own bounded length
        object.__setattr__(
            self, "summary", _bounded(tuple(line for line in self.summary if line), LINES // 2)
        )
        object.__setattr__(self, "picture", _bounded(self.picture, LINES - len(self.summary)))

    def lines(self) -> list[str]:
        """Return the message without the called, seed and repeat lines, which the caller knows."""
        return [*self.summary, *(f"  {line}".rstrip()[:LINE] for line in self.picture)]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _bounded(lines: tuple[str, ...], limit: int) -> tuple[str, ...]:
    shown = tuple(clean(line.rstrip(), WHOLE) for line in lines[: limit + 1])
    return (
        shown if len(shown) <= limit else (*shown[: limit - 1], f"… {len(lines) - limit + 1} lines left out")
    )


class CheckFailure(AssertionError):
    """Raised when a check finds the submission wrong; `subject` is the value that was looked at."""

    def __init__(
        self,
        failure: Failure,
        subject: object = NOT_SAID,
        used: Sequence[str] = (),
        expected: object = NOT_SAID,
        name: str = "",
    ) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.subject = subject
        self.expected = expected
        """What `subject` should have been, where that is a value."""
        self.name = name
        """What the message calls `subject`."""
        self.used = tuple(used)
        """What the kata excludes and was used."""
        self.relations: list[Stated] = []
        """What shows the cause, by the sentence that says it, the nearest first; see `supposing`."""


class PreconditionFailed(Exception):
    """Raised when a check cannot decide, because a precondition does not hold: another check says which."""

    def __init__(self, first: str, why: str) -> None:
        super().__init__(first)
        self.first = first
        """What has to hold first."""
        self.why = why


def policy_breach(used: Sequence[str], advice: str, when: str = "") -> list[str]:
    """Say what was used that the kata excludes, and what to write instead."""
    return [f"used {', '.join(clean(name, 80) for name in used[:3])}{when}", f"  {advice}"]


def fail_policy(used: Sequence[str], advice: str, when: str = "") -> NoReturn:
    """Fail the check because something was used that the kata excludes; `when` begins with a space."""
    __tracebackhide__ = True
    raise CheckFailure(Failure("policy", tuple(policy_breach(used, advice, when))), used=used)


def fail(
    *lines: str,
    stage: Stage = "values",
    location: dict[str, int] | None = None,
    subject: object = NOT_SAID,
    cause: str = "",
) -> NoReturn:
    """Fail the check with the author's own lines, for what no expectation covers; `cause` as in `supposing`."""
    __tracebackhide__ = True
    raise CheckFailure(Failure(stage, lines, location, cause=cause), subject)


@contextmanager
def supposing(causes: str | Stated, stage: Stage | None = None) -> Iterator[None]:
    """Say of a failure or an exception inside what caused it, completing "likely …", where nothing else does.

    Args:
        causes: the sentence, for a check whose failure has one cause; or relations by sentence, which show the cause in
            any design, or what returns them. A relation returns what the mistake gives in place of the tensor that
            failed (or a list of what forms of it give), or whether it holds. All of it is called after a failure only,
            and may call the submission. Of two that hold both are reported, and of more none.
        stage: what it failed at, whatever showed it.
    """
    __tracebackhide__ = True
    try:
        yield
    except (CheckFailure, SubmissionRaised) as error:
        if not isinstance(causes, str):
            error.relations.append(causes)
        elif isinstance(error, CheckFailure):
            failure = error.failure
            error.failure = replace(failure, cause=failure.cause or causes, stage=stage or failure.stage)
        else:
            error.supposed, error.stage = error.supposed or causes, error.stage or stage or ""
        raise
