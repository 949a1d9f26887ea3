"""Make a mark again: the kept submission, the kept seed, the same terms. For disputes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from grader.catalogue import Kata
from grader.errors import EngineError
from grader.gradebook.model import Attempt
from grader.grading.run import Policy, setup_for, without_checks
from grader.grading.stations import grade, stations
from grader.grading.task import Refused, Stopped, Task, answer_decoder, encode
from grader.grading.terms import terms_of
from grader.reports.model import KataReport
from grader.submissions.model import Bundle

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


def replay(attempt: Attempt, bundle: Bundle | None, kata: Kata, policy: Policy) -> Replay:
    """Grade what was graded, once more.

    Args:
        attempt: the mark in question.
        bundle: what was handed in; None where nothing could be read.
        kata: as it is now.
        policy: as it was then: time-out, device, required isolation.

    Raises:
        EngineError: it cannot be graded, through no fault of the submission.
    """
    kept = attempt.report
    setup = setup_for([kata], policy)
    status = "found" if bundle is not None else "missing" if kept.status == "missing" else "error"
    task = Task(kata=kata.slug, seed=kept.seed, bundle=bundle, status=status, message=kept.message)  # type: ignore[arg-type]
    with stations():
        answer = answer_decoder.decode(grade(encode(setup), encode(task)))
    if isinstance(answer, Refused):
        raise EngineError(answer.message, answer.hint)
    if isinstance(answer, Stopped):
        again = without_checks(kata, policy, kept.seed, "timeout", answer.message)
    else:
        again = answer.report
    same_terms = bundle is None or terms_of(setup, kata.slug, kept.seed) == attempt.key.terms
    return Replay(
        kept, again, tuple(_differences(kept, again)), tuple(_changed(kept, again, same_terms=same_terms))
    )


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
        if name not in passing and getattr(one, name) != getattr(other, name)
    ]


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
        found.append("the kata's checks, its reference or what it gives to learners were edited since")
    return found
