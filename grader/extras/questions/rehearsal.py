"""Versions of a learner's module, each in a worker of its own, and what checks say of them. Nothing of it is a mark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grader.api import (
    WHOLE,
    CallRecord,
    Calls,
    CheckContext,
    Launcher,
    MessageContext,
    Outcome,
    PreconditionFailed,
    RemoteSubmission,
    RunConfig,
    Session,
    Source,
    SubmissionRaised,
    Suite,
    WorkerBackend,
    WorkerDied,
    WorkerTimeout,
    check_seed,
    clean,
    describe,
    describe_call,
    handle_id,
)
from grader.extras.questions.own_code import HITS, TAKE

MOST_CALLS, MOST_FACTS, MOST_TEXT = 12, 400, 60
"""Calls of a check that are noted, expressions whose values are read after each, letters of such a value."""
MOST_COUNTED = 24
"""Calls after which a check is given up: it would take longer than all others together."""
A_CALL = 40
"""What a call costs, counted in expressions that are evaluated: the grader draws, sends, and computes what is right."""
_SUMMED_UP = re.compile(r"\b(?:bool|u?int\d+|b?float\d+|complex\d+) \[")
"""A tensor of which a call shows dtype and shape alone."""
_GONE = (SubmissionRaised, WorkerDied, WorkerTimeout)
TIMEOUT_S = 5.0
"""For a changed line, which may make a loop endless; a check that passes takes a tenth of a second."""


@dataclass(frozen=True)
class NotedCall:
    """One call of a check: what was called, what it returned, and what the watched expressions were."""

    text: str
    result: str
    """Empty where it cannot be written in full."""
    facts: dict[int, list[str]]


class NotingCalls(Calls):
    """The calls of a check, noted as questions need them."""

    def __init__(self, take: Callable[[], dict[int, list[str]]]) -> None:
        super().__init__()
        self.noted: list[NotedCall] = []
        self.count = 0
        self._take = take

    def clear(self) -> None:
        """Forget the calls of an earlier check."""
        super().clear()
        self.noted, self.count = [], 0

    def add(self, record: CallRecord, result: Any) -> None:
        """Note a call; with too many the check ends as one that is skipped."""
        super().add(record, result)
        self.count += 1
        if self.count > MOST_COUNTED:
            raise PreconditionFailed("the module has to be called less often", f"{self.count} calls")
        if len(self.noted) < MOST_CALLS:
            names = list(self.parameters.get(record.signature, ()))
            lines = describe_call(record.label, names, record.args, record.kwargs)
            text = "\n".join(lines).removeprefix("called  ")
            # What a function returns for values that are not shown could only be guessed.
            shown = "" if _SUMMED_UP.search(text) else _in_full(result)
            self.noted.append(NotedCall(text, shown, self._take()))


@dataclass
class Version:
    """A module in a worker, which starts with the first check and ends with the stage."""

    suite: Suite
    backend: WorkerBackend
    watched: bool
    _hits: int = 0
    _runs: dict[tuple[str, int], tuple[Outcome, list[NotedCall], int]] = field(default_factory=dict)

    def end(self, item: pytest.Item, seed: int) -> Outcome:
        """Return how a check ends with a seed; it is run once."""
        return self._run(item, seed)[0]

    def calls(self, item: pytest.Item, seed: int) -> list[NotedCall]:
        """Return the first calls of a check."""
        return self._run(item, seed)[1]

    def noted(self, item: pytest.Item, seed: int) -> list[NotedCall]:
        """Return the first calls of a check if it has been run already."""
        return self._runs[item.name, seed][1] if (item.name, seed) in self._runs else []

    def cost(self, item: pytest.Item, seed: int) -> int:
        """Return what a check costs by what it calls and evaluates: about its time, and the same on every machine."""
        return self._run(item, seed)[2]

    def _run(self, item: pytest.Item, seed: int) -> tuple[Outcome, list[NotedCall], int]:
        key = item.name, seed
        if key not in self._runs:
            self._hits = 0
            outcome, calls = self._outcome(item, seed), self.backend.calls
            assert isinstance(calls, NotingCalls)
            with suppress(*_GONE):
                self.take()  # of the last calls nothing is noted, but they take time as well
            self._runs[key] = outcome, calls.noted, self._hits + A_CALL * calls.count
        return self._runs[key]

    def _outcome(self, item: pytest.Item, seed: int) -> Outcome:
        # Watched calls are compared, so their inputs are the same whatever the module's own random numbers are.
        context = CheckContext(self.backend, RunConfig(seed=0 if self.watched else seed))
        try:
            self.backend.begin(check_seed(seed, item.name))
            self.take()  # what was evaluated while it was loaded belongs to no call
        except _GONE as error:
            return Outcome("timeout", [clean(str(error))])
        outcome = self.suite.plugin.run(item, context)
        self.backend.session.take_output()
        return outcome

    def take(self) -> dict[int, list[str]]:
        """Return what the watched expressions were since the last time: bounded, and plain text."""
        if not self.watched:
            return {}
        session = self.backend.session
        record = CallRecord(TAKE, TAKE, (), {}, root=TAKE)
        with session.without_fingerprint():
            found, _ = session.call(handle_id(session.named(TAKE)), record)
        facts: dict[int, list[str]] = {}
        # The module is its author's, and may have returned anything in place of what our function does.
        for pair in found[:MOST_FACTS] if isinstance(found, list) else ():
            match pair:
                case [int(number), [str(count)]] if number == HITS and count[:12].isdecimal():
                    self._hits += int(count[:12])
                case [int(number), [*texts]] if number >= 0 and all(isinstance(text, str) for text in texts):
                    facts[number] = [clean(text, MOST_TEXT) for text in texts]
        return facts


@contextmanager
def stage(suite: Suite, launcher: Launcher, file: Path) -> Iterator[Callable[..., Version]]:
    """Yield what puts a module's text into a worker, in the file's place; the workers end with the block."""
    wording = MessageContext(file.name, suite.kata.signatures(), TIMEOUT_S)
    made: list[Version] = []

    def put(text: str, *, watched: bool = False) -> Version:
        session = Session(launcher, Source(file, text.encode()), suite.terms)
        # Code that passes has the time that the kata gives it, probes and a busy machine included.
        backend = WorkerBackend(session, None if watched else TIMEOUT_S, wording)
        version = Version(suite, backend, watched)
        backend.calls = NotingCalls(version.take)
        backend.submission = RemoteSubmission(session, backend.calls)
        made.append(version)
        return version

    try:
        yield put
    finally:
        for version in made:
            version.backend.session.close()


def raised_in(outcome: Outcome, file: str) -> list[int]:
    """Return the lines of the learner's file that an exception went through, the innermost last."""
    found = re.findall(rf"^{re.escape(file)}, line (\d+)", outcome.message or "", re.MULTILINE)
    return [int(number) for number in found] if outcome.status == "error" else []


def _in_full(result: Any) -> str:
    """Return a result as a question shows it; empty where that would leave something out."""
    import torch

    if type(result) is torch.Tensor:
        # Whole numbers only: the last digits of others differ between processors.
        numbers = result.dtype in (torch.bool, torch.int64, torch.int32)
        return str(result.tolist()) if numbers and 1 < result.numel() <= 16 else ""
    if not isinstance(result, str | int | bool | list | tuple) or result is None:
        return ""
    text = describe(result, WHOLE)
    return (
        text if len(text) <= MOST_TEXT and "<" not in text and "\N{HORIZONTAL ELLIPSIS}" not in text else ""
    )
