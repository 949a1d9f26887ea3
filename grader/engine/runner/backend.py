"""What checks are handed: the submission, in a worker that is seeded for each check, and all else they may ask for."""

from __future__ import annotations

import random
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import torch

from grader.engine.checks.draw import Draw
from grader.engine.host.calls import Calls
from grader.engine.host.remote import RemoteSubmission
from grader.engine.host.session import Session
from grader.engine.runner.outcome import UNSAID, MessageContext
from grader.errors import PackError

if TYPE_CHECKING:
    from grader.engine.runner.failure_context import Look
    from grader.engine.timing.speed import Speed


@dataclass(frozen=True)
class RunConfig:
    """How a run is done: the same for all its submissions and checks."""

    seed: int = 0
    fail_fast: bool = False
    name: bool = True
    """Whether mistakes are named, for which checks run again: not needed where only passes are counted."""
    timeout_s: float | None = None
    """What a check may take; None for what its kata grants."""
    device: str = "cpu"
    tell: Callable[[float], None] = lambda seconds: None
    """Called at every stage with the seconds that it may take; beyond that the grader's own work is watched."""
    timed_s: float = 3600.0
    """What a check of speed may take: it waits until the device is free."""
    draws: int = 3
    """How many draws of a check are tried when the reference fails them: 1 in the gate, which looks for such draws."""
    look: Look | None = None
    """Called with every check that goes wrong, for the person who wrote the submission: then there are no marks."""


class WorkerBackend:
    """A submission in a worker."""

    def __init__(
        self, session: Session, timeout_s: float | None = None, wording: MessageContext = UNSAID
    ) -> None:
        self.calls = Calls()
        self.submission = RemoteSubmission(session, self.calls)
        self.session = session
        self.wording = wording
        self._timeout_s = timeout_s

    def begin(self, seed: int, *, alike: bool = False) -> None:
        """Start a check: clock, seeds, a live worker."""
        self.calls.clear()
        # A check that draws from the global generators draws the same again; not what the worker's own are to give.
        _seed_here(seed + 1)
        self.session.begin(seed, self._timeout_s, alike=alike)

    def stop_worker(self) -> None:
        """End the worker."""
        self.calls.clear()
        self.session.close()

    def rests_on_policy(self) -> bool:
        """Return whether the check called a name that may not use what the kata excludes."""
        terms = self.session.terms
        return bool(terms.forbid or terms.blocks) and (
            not terms.within or not self.session.log.called.isdisjoint(terms.within)
        )


def _seed_here(seed: int) -> None:
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    # torch.manual_seed (2.13) would also leave a note, with a whole traceback, for each kind of accelerator that is not
    # there yet: a third of a small check's time.
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(seed)


def no_reference() -> types.ModuleType:
    """Refuse: where the reference must not come."""
    raise PackError("the fixture `reference` is for hidden checks alone")


@dataclass(frozen=True)
class CheckContext:
    """What the fixtures of the running check hand out; `config` has the seed of its draw."""

    backend: WorkerBackend
    config: RunConfig
    reference: Callable[[], types.ModuleType] = no_reference
    given_speed: Speed | None = None
    """Only speed checks have it."""

    @property
    def speed(self) -> Speed:
        """What decides about speed and memory.

        Raises:
            PackError: the check has no threshold.
        """
        if self.given_speed is None:
            raise PackError("the fixture `speed` is for checks with a threshold")
        return self.given_speed


FIXTURES: Mapping[str, Callable[[CheckContext, pytest.Item], Any]] = {
    "submission": lambda context, item: context.backend.submission,
    "draw": lambda context, item: Draw(context.config.seed, item.name, torch.device(context.config.device)),
    "seed": lambda context, item: context.config.seed,
    "device": lambda context, item: torch.device(context.config.device),
    "reference": lambda context, item: context.reference(),
    "speed": lambda context, item: context.speed,
}
"""What a check may ask for: the learner's module; random inputs, seeded by the run's seed and the check's name; that
seed; where inputs live; the solution (hidden checks only); what decides about speed (checks with a threshold only)."""
