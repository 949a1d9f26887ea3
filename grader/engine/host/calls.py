"""The calls of a check, as messages tell them, what became of them, and the functions that a check lends.

Functions of a check that a submission may call run in the grader, and the worker asks for their results. What a helper
in the worker writes down is the submission's word, as both share a process. What is asked of a lent function is seen by
the grader itself: which values came, in which order, and what they were answered with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, cast

import torch
from torch.utils.weak import WeakIdKeyDictionary

from grader.engine.host.source import Terms

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
    stats: CallStats
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

    @property
    def age(self) -> tuple[int, int]:
        """Which worker and which check this is."""

    def forget(self, number: int, age: tuple[int, int]) -> None:
        """Let a graph go."""

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
        own = [record for record in reversed(self._recent) if record.root not in self.given]
        return next((record for record in own if not _is_torchs(record)), next(iter(own), self.last))


def _is_torchs(record: CallRecord) -> bool:
    """Tell whether it is a method that every module has, such as `parameters`, or what `model.layers[0]` calls.

    What is wrong came of another call.
    """
    method = record.signature.rpartition(".")[2]
    has = hasattr(torch.nn.Module, method) and method not in ("forward", record.signature)
    return has or not record.signature


def is_idle(value: object, call: CallRecord | None) -> bool | None:
    """Return whether a result took no work: it is one number everywhere, or an argument. None where nothing tells."""
    if not isinstance(value, torch.Tensor) or value.numel() < 2:
        return None
    if bool((value == value.flatten()[0]).all()):
        return True
    given = [] if call is None else [*call.args, *call.kwargs.values()]
    alike = [tensor for tensor in given if isinstance(tensor, torch.Tensor) and tensor.dtype == value.dtype]
    return any(torch.equal(tensor, value) for tensor in alike if tensor.device == value.device)


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

    def __or__(self, other: CallStats) -> CallStats:
        return CallStats(
            self.not_written | other.not_written,
            self.written | other.written,
            self.answered + other.answered,
            self.died + other.died,
            self.still | other.still,
            self.works | other.works,
        )

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


MAX_ASKS = 20_000
"""How often a submission may ask in one check; time alone would allow more than can be looked through."""


class Lent:
    """A callback: a function that stays in the grader and can be called from the worker."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        """Answer, where the call is made again in the check's own process."""
        return self.function(*arguments)


class CallbackRegistry:
    """Callbacks of one check, by number."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Lent] = {}
        self._numbers: dict[Lent, int] = {}
        self.requests = 0
        self.refusal: Exception | None = None
        """What a lent function first raised: what the check ends with, whatever becomes of the call."""

    def number(self, value: object) -> int | None:
        """Return what the worker knows it by, or None when it is nothing to be lent."""
        if type(value) is not Lent:
            return None
        number = self._numbers.setdefault(value, len(self._numbers) + 1)
        self._callbacks[number] = value
        return number

    def find(self, number: int) -> Lent | None:
        """Return what a worker asks for, or None when it is not lent or was asked too often."""
        self.requests += 1
        return self._callbacks.get(number) if self.requests <= MAX_ASKS else None

    def take_refusal(self) -> Exception | None:
        """Return what was raised since the last time."""
        refusal, self.refusal = self.refusal, None
        return refusal
