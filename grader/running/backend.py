"""The backends of a check: a submission in a worker, or one in this process for debugging."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch

from grader.host.calls import Calls, Outcomes
from grader.host.endings import WorkerTimeout
from grader.host.local import LocalSubmission, told
from grader.host.local import begin as begin_locally
from grader.host.remote import RemoteSubmission, behind
from grader.host.session import Session
from grader.host.source import Source


class Backend(Protocol):
    """What the plugin asks of a submission, wherever it runs."""

    calls: Calls
    submission: Any
    folder: Path | None
    """Where the learner's own files lie, when they run in this process."""

    @property
    def isolation(self) -> str:
        """How far the submission is confined."""
        ...

    @property
    def outcomes(self) -> Outcomes:
        """What became of its calls."""
        ...

    def begin(self, seed: int, *, alike: bool = False) -> None:
        """Start a check: clock, seeds, a live worker; see `Session.begin`."""
        ...

    def understand(self, error: BaseException) -> BaseException:
        """Return what a check's exception says of the submission."""
        ...

    def rest(self) -> None:
        """End what runs of it; the next check starts it again."""
        ...

    def take_output(self) -> str:
        """Return what was printed during the check."""
        ...

    def observed(self) -> Sequence[Any]:
        """Return what it answered during the check, for recognising a mistake."""
        ...

    def asked(self) -> Collection[str]:
        """Return which of its names the check asked for."""
        ...

    def rests_on_policy(self) -> bool:
        """Return whether the check called a name that may not use what the kata excludes."""
        ...

    def asked_uses(self) -> bool:
        """Return whether the check itself judged what was used."""
        ...

    def uses(self) -> list[str]:
        """Return what was used in any check that the kata excludes, at the end of all."""
        ...


class WorkerBackend:
    """The real thing: a submission in a worker."""

    folder: Path | None = None

    def __init__(self, session: Session, timeout_s: float | None = None) -> None:
        self.calls = Calls()
        self.submission = RemoteSubmission(session, self.calls)
        self._session = session
        self._timeout_s = timeout_s

    @property
    def isolation(self) -> str:
        """How far the worker is confined."""
        return self._session.isolation

    @property
    def outcomes(self) -> Outcomes:
        """What became of its calls."""
        return self._session.outcomes

    def begin(self, seed: int, *, alike: bool = False) -> None:
        """Start a check: clock, seeds, a live worker."""
        self.calls.clear()
        # A check that draws from the global generators draws the same again; not what the worker's own are to give.
        _seed_here(seed + 1)
        self._session.begin(seed, self._timeout_s, alike=alike)

    def understand(self, error: BaseException) -> BaseException:
        """Return the exception: what the submission raised arrives as SubmissionRaised already."""
        return error

    def rest(self) -> None:
        """End the worker."""
        self.calls.clear()
        self._session.close()

    def take_output(self) -> str:
        """Return what was printed during the check."""
        return self._session.take_output()

    def observed(self) -> Sequence[Any]:
        """Return what it answered during the check, for recognising a mistake."""
        return self._session.log.observed

    def asked(self) -> Collection[str]:
        """Return which of its names the check asked for."""
        return self._session.log.asked

    def rests_on_policy(self) -> bool:
        """Return whether the check called a name that may not use what the kata excludes."""
        terms = self._session.terms
        return bool(terms.forbid) and (
            not terms.within or not self._session.log.called.isdisjoint(terms.within)
        )

    def asked_uses(self) -> bool:
        """Return whether the check itself judged what was used."""
        return self._session.log.asked_uses

    def uses(self) -> list[str]:
        """Return what was used in any check that the kata excludes."""
        return self._session.forbidden_uses()


class InProcessBackend:
    """A submission in this process: for a debugger, never for marks."""

    isolation = "none"

    def __init__(self, submission: LocalSubmission, source: Source) -> None:
        self._source = source
        self.folder: Path | None = source.path.parent
        self.calls = behind(submission).calls
        self.submission = submission
        self.outcomes = Outcomes()

    def begin(self, seed: int, *, alike: bool = False) -> None:
        """Seed everything; there is no worker."""
        begin_locally(self.submission)
        _seed_here(seed)

    def understand(self, error: BaseException) -> BaseException:
        """Return what a worker would have told of an exception that passed through the submission."""
        if isinstance(error, WorkerTimeout):
            return error
        raised = told(error, self._source)
        if raised.not_written:
            self.outcomes.not_written.add(raised.message)
        return raised if raised.frames else error

    def rest(self) -> None:
        """Do nothing: it is in this process."""

    def take_output(self) -> str:
        """Return nothing: what is printed has gone to the terminal."""
        return ""

    def observed(self) -> Sequence[Any]:
        """Return nothing: in a debugger nobody needs to be told."""
        return ()

    def asked(self) -> Collection[str]:
        """Return nothing: in a debugger there are no marks."""
        return ()

    def rests_on_policy(self) -> bool:
        """Return False: there are no marks to withhold."""
        return False

    def asked_uses(self) -> bool:
        """Return False: there are no marks to withhold."""
        return False

    def uses(self) -> list[str]:
        """Return nothing: there are no marks to withhold."""
        return []


def _seed_here(seed: int) -> None:
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    # torch.manual_seed (2.13) would also leave a note, with a whole traceback, for each kind of accelerator that is not
    # there yet: a third of a small check's time.
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(seed)
