"""How a call of a submission can end without a value."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from grader.engine.wire import messages


class WorkerTimeout(Exception):
    """The worker did not answer in time and was killed."""

    def __init__(self, trace: str = "") -> None:
        super().__init__()
        self.trace = trace
        """Where it was, as its faulthandler wrote it just before."""
        self.frame: messages.StackFrame | None = None
        """The learner's innermost line in that."""


class WorkerDied(Exception):
    """The worker ended, or had to be ended, instead of answering; `how` says it for the learner."""

    def __init__(self, how: str, *, killed: bool = False) -> None:
        super().__init__(how)
        self.how = how
        self.killed = killed
        """Whether it was SIGKILL, which the machine sends too when memory runs out."""


class BudgetSpent(WorkerTimeout):
    """The submission used up its time over all checks."""


class StillHangs(WorkerTimeout):
    """A call was given less time since one of an earlier check did not answer, and did not answer either."""

    def __init__(self, name: str, seconds: float, earlier: str) -> None:
        super().__init__()
        self.name, self.seconds, self.earlier = name, seconds, earlier


class SubmissionRaised(Exception):
    """The learner's code raised; everything in here is text that a worker sent."""

    def __init__(self, reply: messages.ExceptionReply, memory_bytes: int | None = None) -> None:
        self.type_names = tuple(reply.bases)
        """Of its class and that class's bases, nearest first; bare names are Python's own exceptions."""
        self.type_name = reply.bases[0].rpartition(".")[2]
        super().__init__(f"{self.type_name}: {reply.message}")
        self.message = reply.message
        self.frames = tuple(reply.frames)
        self.own = reply.own
        self.shim = reply.shim
        """The line of the pack's shim that raised, as the worker says."""
        self.hint = reply.hint
        self.memory_bytes = memory_bytes
        """What the submission may use."""
        self.helper = ""
        """What was called, where the submission can make that raise anything; see `Facts.helper`."""
        self.supposed = self.stage = ""
        """What a check supposes to be the cause, and the property that it asked about."""
        self.relations: list[Any] = []
        """What shows the cause, as the check states it."""

    @property
    def not_written(self) -> bool:
        """Whether this is the stub's own NotImplementedError rather than one from a library."""
        return self.type_names[0] == "NotImplementedError" and self.own


class SubmissionMissing(SubmissionRaised, AttributeError):
    """The submission lacks an attribute that a check asked for."""


def is_valid_mro(names: Sequence[str]) -> bool:
    """Tell whether a class may have these bases: after an exception of Python's own come its own bases, in order."""
    # A worker could send any list of names, such as one that is a ValueError and an IndexError and no
    # Exception.
    for place, name in enumerate(names):
        # A class of the submission's own, or of a library: of these nothing is known here.
        if "." in name:
            continue
        known = getattr(builtins, name, None)
        if not isinstance(known, type):
            return False
        rest = iter(names[place:])
        if not all(base.__name__ in rest for base in known.__mro__):
            return False
    return names[-1] == "object" and "BaseException" in names


class SubmissionUnsendable(Exception):
    """A call returned something that cannot be compared: too large, too deep, without values."""

    def __init__(self, reason: str, device: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.device = device
        """`meta` for a tensor that is there: it has a shape and a device, and no values."""
