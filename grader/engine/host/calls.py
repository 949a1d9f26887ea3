"""The calls of a check, as messages tell them, and what became of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, cast

import torch
from torch.utils.weak import WeakIdKeyDictionary

from grader.engine.host.limits import Terms

MAX_OBSERVED = 4096
MAX_OBSERVED_BYTES = 64 << 20
"""Of values that are kept to recognise a mistake by: a check may get hundreds of megabytes in every call."""
_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, dict, set)


@dataclass(frozen=True)
class CallRecord:
    """One call of a check, as a failure message tells it."""

    label: str
    """What was called, as written in the check: `causal_mask`, `MultiHeadAttention(12, 3)`."""
    signature: str
    """Where its parameter names stand: `causal_mask`, `MultiHeadAttention.forward`."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    changed: tuple[torch.Tensor, ...] = ()
    iterated: bool = False
    """Whether it returned an iterator, of which a check sees a list."""
    root: str = ""
    """The name that what was called was got by, of the submission or of what is given."""
    request: int = 0
    """How many requests had been made with it, where they are recorded to be made again."""


class Conversation(Protocol):
    """What objects that stay in a worker need of the session that they belong to."""

    terms: Terms
    outcomes: CallStats
    generation: int
    """Which of the session's workers answers now."""
    asked_of: str
    iterated: bool

    @property
    def made(self) -> int:
        """How many requests were made."""

    def get(self, target: int, name: str) -> Any:
        """Return an attribute of a handle."""

    def set(self, target: int, name: str, value: Any) -> None:
        """Set an attribute of a handle."""

    def call(
        self, target: int, record: CallRecord, method: str | None = None
    ) -> tuple[Any, list[torch.Tensor]]:
        """Call a handle or one of its methods; return the result, and the arguments that were changed."""

    def backward(
        self, graph: int, cotangents: list[torch.Tensor | None], of: str = ""
    ) -> list[torch.Tensor | None]:
        """Return the gradients of a call's inputs."""

    def forget(self, number: int, generation: int) -> None:
        """Let a handle or a graph go."""

    def without_fingerprint(self) -> AbstractContextManager[None]:
        """Forget what is answered inside, for recognising a mistake."""

    def violation(self, what: str) -> NoReturn:
        """End a worker whose answer makes no sense."""


class Calls:
    """The calls of one check, and which of them a result came from."""

    def __init__(self) -> None:
        # Bounded: a check may call ten thousand times, and each record keeps its arguments alive.
        self._recent: deque[CallRecord] = deque(maxlen=64)
        self._origin = WeakIdKeyDictionary()
        self._plain: deque[tuple[object, CallRecord]] = deque(maxlen=64)
        """Results that are not tensors, which nothing can refer to weakly, and their calls."""
        self.parameters: Mapping[str, Sequence[str]] = {}
        """What the arguments of a call are called, by its signature, as far as anybody has said so."""
        self.given: set[str] = set()
        """Modules that are given along with the submission: what is called of them is not the learner's."""
        self.on_workers_word = True
        """Whether what these return may be used; a check that does not say so may not."""

    @property
    def last(self) -> CallRecord | None:
        """The latest call."""
        return self._recent[-1] if self._recent else None

    def __iter__(self) -> Iterator[CallRecord]:
        return iter(self._recent)

    def clear(self) -> None:
        """Forget the calls of an earlier check."""
        self._recent.clear()
        self._plain.clear()
        self._origin = WeakIdKeyDictionary()

    def add(self, record: CallRecord, result: Any) -> None:
        """Remember a call, and what it gave."""
        self._recent.append(record)
        if result is None or isinstance(result, _PLAIN):
            self._plain.append((result, record))
        for part in result if isinstance(result, list | tuple) else (result,):
            if isinstance(part, torch.Tensor):
                # By the tensor itself: a check does not say which call gave it its result.
                self._origin[part] = record

    def origin(self, value: Any) -> CallRecord | None:
        """Return the call that gave `value`, or else the latest, of something of the learner's if there was one."""
        part = value
        while isinstance(part, torch.Tensor):
            if part in self._origin:
                return cast(CallRecord, self._origin[part])
            part = part._base  # a slice of a result came from the same call
        if not isinstance(value, torch.Tensor):
            for given, record in reversed(self._plain):
                # By identity: equal numbers may come from different calls.
                if given is value:
                    return record
        # A message about a given helper would blame somebody for code that is not theirs.
        own = (record for record in reversed(self._recent) if record.root not in self.given)
        return next(own, self.last)


def is_idle(value: object, call: CallRecord | None) -> bool | None:
    """Return whether a result took no work: it is one number everywhere, or an argument. None where nothing tells."""
    if not isinstance(value, torch.Tensor) or value.numel() < 2:
        return None
    if bool((value == value.flatten()[0]).all()):
        return True
    given = [] if call is None else [*call.args, *call.kwargs.values()]
    alike = [one for one in given if isinstance(one, torch.Tensor) and one.dtype == value.dtype]
    return any(torch.equal(one, value) for one in alike if one.device == value.device)


@dataclass
class CallStats:
    """Statistics of the calls to each required name: how many raised NotImplementedError, how many returned."""

    not_written: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    answered: int = 0
    died: int = 0
    still: set[str] = field(default_factory=set)
    """Names that returned a tensor."""
    works: set[str] = field(default_factory=set)
    """Those of which one took work."""

    def note(self, call: CallRecord, value: Any) -> None:
        """Note whether a result took work."""
        if call.root not in self.works:
            parts = value if isinstance(value, list | tuple) else (value,)
            idle = {is_idle(part, call) for part in parts} - {None}
            (self.works if False in idle else self.still).update({call.root} if idle else ())


@dataclass(frozen=True)
class State:
    """What a module of the submission holds, as opposed to what it computes."""

    value: Any


class CheckLog:
    """What one check asked of a submission, and what it was answered."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """The submission's own names that were asked for."""
        self.called: set[str] = set()
        """Those that were called."""
        self.asked_uses = False
        """Whether the check asked for what was used that is excluded."""
        self.observed: list[Any] = []
        """What the worker answered, in order, for recognising a mistake; bounded."""
        self._bytes = 0

    def observe(self, value: Any, nbytes: int) -> None:
        """Note an answer, unless there are too many of them or they are too large."""
        if len(self.observed) < MAX_OBSERVED:
            fits = self._bytes + nbytes <= MAX_OBSERVED_BYTES
            self._bytes += nbytes if fits else 0
            # A place of its own all the same, so that later answers keep their numbers.
            self.observed.append(value if fits else "more than is kept")

    def mark(self) -> tuple[int, int]:
        """Return what `back_to` takes to forget the answers from here on."""
        return len(self.observed), self._bytes

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget the answers since."""
        place, self._bytes = mark
        del self.observed[place:]
