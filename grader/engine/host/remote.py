"""What a check sees as the learner's module."""

from __future__ import annotations

from typing import Any, cast

from grader.engine.host.calls import Calls
from grader.engine.host.errors import SubmissionRaised
from grader.engine.host.objects import RemoteObject, record_outcome, set_label_of_call
from grader.engine.host.session import Session
from grader.engine.wire import messages


class RemoteSubmission:
    """The learner's module as a check sees it; every attribute is fetched from the worker.

    What we keep of it stands under a name with two underscores at both ends, and what can be done with it are functions
    of this module: every other name is the learner's.
    """

    __slots__ = ("__kata__",)
    __kata__: SubmissionContext

    def __init__(self, session: Session, calls: Calls) -> None:
        object.__setattr__(self, "__kata__", SubmissionContext(session, calls))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        proxied = context_of(self)
        try:
            value = proxied.session.named(name)
        except SubmissionRaised as error:
            # Missing or raising, it says as much as a call of it: whether the name has been written.
            record_outcome(proxied.session, name, error)
            raise
        if isinstance(value, RemoteObject):
            set_label_of_call(value, name, name, proxied.calls)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        session = context_of(self).session
        session.set(messages.MODULE, name, value)

    def __repr__(self) -> str:
        return f"<submission {context_of(self).session.source.path.name}>"


class SubmissionContext:
    """What the learner's module is made of here: its session, and the calls of the running check."""

    def __init__(self, session: Session, calls: Calls) -> None:
        self.session = session
        self.calls = calls

    def given(self, name: str) -> Any:
        """Return a module that runs next to the submission; see `grader.engine.checks.given_module`."""
        value = self.session.given(name)
        self.calls.given.add(name)
        if isinstance(value, RemoteObject):
            set_label_of_call(value, "", name, self.calls)  # its file's name tells a learner nothing
        return value


def context_of(submission: Any) -> SubmissionContext:
    """Return the session and the calls that a proxy of the learner's module uses."""
    return cast(SubmissionContext, object.__getattribute__(submission, "__kata__"))
