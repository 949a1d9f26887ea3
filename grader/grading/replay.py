"""Make a mark again: the kept submission, the kept seed, the same terms. For disputes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from grader.catalogue import Kata
from grader.errors import EngineError
from grader.gradebook.records import Attempt
from grader.grading.cache_key import terms_of
from grader.grading.processes import grade, grading_processes
from grader.grading.run import RunPolicy, setup_for, without_checks
from grader.grading.task import NotGraded, Stopped, Task, answer_decoder, encode
from grader.reports.report import KataReport
from grader.submissions.submission import Bundle

_PASSING = {"duration_s", "learner", "file", "versions", "isolation", "output", "checks"}
"""What a mark does not consist of; checks are compared one by one."""


@dataclass(frozen=True)
class Replay:
    """A mark made again, beside the kept one."""

    kept: KataReport
    again: KataReport
    differences: tuple[str, ...]
    """Where the marks differ; empty when they are the same."""
    changed: tuple[str, ...]
    """What is not as it was when the mark was made: the kata, a version, the isolation."""
    unsteady: int = 0
    """How many messages quote numbers that the answer does not give twice."""


def replay(attempt: Attempt, bundle: Bundle | None, kata: Kata, policy: RunPolicy) -> Replay:
    """Grade what was graded, once more.

    Args:
        attempt: the mark in question.
        bundle: what was handed in; None where nothing could be read.
        kata: as it is now.
        policy: as it was then: time-out, device, required isolation.

    Raises:
        EngineError: it cannot be graded, through no fault of the submission.
    """
    with grading_processes():
        return mark_again(attempt, bundle, kata, policy)


def mark_again(attempt: Attempt, bundle: Bundle | None, kata: Kata, policy: RunPolicy) -> Replay:
    """Do what `replay` does at grading processes that the caller keeps: many marks pay for starting them once."""
    kept = attempt.report
    again = setup_and_grade(kata, policy, kept.seed, bundle, kept)
    setup = setup_for([kata], policy)
    same_terms = bundle is None or terms_of(setup, kata.slug, kept.seed) == attempt.key.terms
    return Replay(
        kept,
        again,
        tuple(_differences(kept, again)),
        tuple(_changed(kept, again, same_terms=same_terms)),
        _unsteady(kept, again),
    )


def setup_and_grade(
    kata: Kata, policy: RunPolicy, seed: int, bundle: Bundle | None, kept: KataReport | None = None
) -> KataReport:
    """Grade one submission; `kept` says why there is none.

    Raises:
        EngineError: it cannot be graded, through no fault of the submission.
    """
    status = "found" if bundle is not None else "missing" if kept and kept.status == "missing" else "error"
    message = kept.message if kept is not None else None
    task = Task(kata=kata.slug, seed=seed, bundle=bundle, status=status, message=message)  # type: ignore[arg-type]
    answer = answer_decoder.decode(grade(encode(setup_for([kata], policy)), encode(task)))
    if isinstance(answer, NotGraded):
        raise EngineError(answer.message, answer.hint)
    if isinstance(answer, Stopped):
        return without_checks(kata, policy, seed, answer.status, answer.message)
    return answer.report


def _differences(kept: KataReport, again: KataReport) -> list[str]:
    found = _fields("", kept, again, _PASSING)
    before, after = ({check.id: check for check in report.checks} for report in (kept, again))
    for name in {**before, **after}:
        if name not in after or name not in before:
            found.append(f"{name}: {'new' if name in after else 'gone'}")
        else:
            passing = {"output", "name"} | (
                {"speed", "message"} if before[name].aspect == "performance" else set()
            )
            found += _fields(f"{before[name].name}: ", before[name], after[name], passing)
    return found


def _fields(where: str, one: Any, other: Any, passing: set[str]) -> list[str]:
    return [
        f"{where}{name.replace('_', ' ')} was {_short(getattr(one, name))}, is {_short(getattr(other, name))}"
        for name in msgspec.structs.asdict(one)
        if name not in passing and not _means_the_same(name, getattr(one, name), getattr(other, name))
    ]


def _means_the_same(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a field say the same: of a message what it says, not the numbers that it quotes.

    A message quotes what the learner's code returned or raised. That may be a clock, an address or the system's random
    bytes, of which one may be right by chance, and sums differ in their last digits with the number of threads. The
    place of the first difference is such a number too. What they decide stands beside them: status, points, mistake.
    """
    if name == "location" and one and other:
        return bool(one.keys() == other.keys())
    if name in ("message", "likely") and isinstance(one, str) and isinstance(other, str):
        return _said(one) == _said(other)
    return bool(one == other)


def _said(message: str) -> str:
    """Return what a message says, without its numbers and without where and how often they differ most."""
    return _MOST.sub("", _NUMBER.sub("#", message))


def _unsteady(kept: KataReport, again: KataReport) -> int:
    """Return how many messages quote numbers that differ by more than rounding."""
    after = {check.id: check.message or "" for check in again.checks}
    pairs = [
        (check.message or "", after.get(check.id, ""))
        for check in kept.checks
        if check.aspect != "performance"
    ]
    return sum(not _close(*pair) for pair in [*pairs, (kept.message or "", again.message or "")])


def _close(one: str, other: str) -> bool:
    if one == other:
        return True
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=False)
    return all(a == b or math.isclose(_value(a), _value(b), rel_tol=1e-3, abs_tol=1e-6) for a, b in numbers)


def _value(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan  # an address


_MOST = re.compile(r"(?:all |# of )?# values? differs?|, there|(?: at |(?<= ))\[[^\]\n]*\]")
"""How `expect` tells of many values: how many differ, and where most. It follows the numbers."""
# Addresses first: 0x7f3a is one word. Letters before a number belong to a name, as in float32 and w_1.
_NUMBER = re.compile(
    r"0x[0-9a-f]+|(?<![A-Za-z_0-9.])[-+\u2212]?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|inf|nan)(?![A-Za-z_0-9])",
    re.IGNORECASE,
)


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else text[:79] + "…"


def _changed(kept: KataReport, again: KataReport, *, same_terms: bool) -> list[str]:
    found = [
        f"{name} was {before}, is {again.versions.get(name, 'gone')}"
        for name, before in kept.versions.items()
        if again.versions.get(name) != before
    ]
    if kept.isolation != again.isolation:
        found.append(f"isolation was {kept.isolation}, is {again.isolation}")
    if not same_terms and not found:
        found.append("the kata's checks, its reference or its files for learners have been edited since")
    if numbers := _unsteady(kept, again):
        what = "the numbers in 1 message" if numbers == 1 else f"the numbers in {numbers} messages"
        found.append(f"{what}: the answer does not produce the same numbers twice")
    return found
