"""What a check sees as the learner's module: proxies that turn Python into calls and answers into values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch.utils.weak import WeakIdKeyDictionary

from grader.host.channel import WorkerDied, WorkerTimeout
from grader.host.session import Session, SubmissionRaised, SubmissionUnsendable
from grader.wire import messages
from grader.wire.codec import MRO


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


class Calls:
    """The calls of one check, and which of them a result came from."""

    def __init__(self) -> None:
        self._recent: deque[CallRecord] = deque(maxlen=64)
        self._origin = WeakIdKeyDictionary()

    @property
    def last(self) -> CallRecord | None:
        """The latest call."""
        return self._recent[-1] if self._recent else None

    def __iter__(self) -> Iterator[CallRecord]:
        return iter(self._recent)

    def clear(self) -> None:
        """Forget the calls of an earlier check."""
        self._recent.clear()
        self._origin = WeakIdKeyDictionary()

    def add(self, record: CallRecord, result: Any) -> None:
        """Remember a call, and the tensors among its results."""
        self._recent.append(record)
        for part in result if isinstance(result, list | tuple) else (result,):
            if isinstance(part, torch.Tensor):
                self._origin[part] = record

    def origin(self, value: Any) -> CallRecord | None:
        """Return the call that gave `value`, or else the latest."""
        while isinstance(value, torch.Tensor):
            if value in self._origin:
                return cast(CallRecord, self._origin[value])
            value = value._base  # a slice of a result came from the same call
        return self.last


class RemoteSubmission:
    """The learner's module as a check sees it; every attribute is fetched from the worker.

    What we keep of it stands under a name with two underscores at both ends, and what can be done with it are functions
    of this module: every other name is the learner's.
    """

    __slots__ = ("__kata__",)
    __kata__: Submission

    def __init__(self, session: Session, calls: Calls) -> None:
        object.__setattr__(self, "__kata__", _Remotely(session, calls))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kept = cast(_Remotely, behind(self))
        try:
            value = kept.session.named(name)
        except SubmissionRaised as error:
            _note(kept.session, name, error)
            raise
        if isinstance(value, RemoteObject):
            _call_it(value, name, name, kept.calls)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        session = cast(_Remotely, behind(self)).session
        session.set(messages.MODULE, name, value)

    def __repr__(self) -> str:
        return f"<submission {cast(_Remotely, behind(self)).session.source.path.name}>"


class Submission(Protocol):
    """What stands behind the learner's module, wherever that runs."""

    calls: Calls
    advice: str
    """What to write instead of what the kata excludes."""

    def forbidden_uses(self) -> list[str]:
        """Return which operators that the kata excludes were used in this check."""
        ...

    def given(self, name: str) -> Any:
        """Return a module that the kata gives (`given`, `support`), imported beside the submission.

        What it returns is as little to be believed as what the submission returns: both share a process.
        """
        ...

    def as_left(self) -> AbstractContextManager[None]:
        """Let the calls inside go on in the gradient mode that the latest call left behind."""
        ...


def behind(submission: Any) -> Submission:
    """Return what stands behind the learner's module."""
    return cast(Submission, object.__getattribute__(submission, "__kata__"))


class _Remotely:
    """Behind a module that runs in a worker."""

    def __init__(self, session: Session, calls: Calls) -> None:
        self.session = session
        self.calls = calls
        self.advice = session.terms.advice

    def forbidden_uses(self) -> list[str]:
        return self.session.forbidden_uses()

    def given(self, name: str) -> Any:
        value = self.session.given(name)
        if isinstance(value, RemoteObject):
            _call_it(value, "", name, self.calls)  # its file's name tells a learner nothing
        return value

    @contextmanager
    def as_left(self) -> Iterator[None]:
        self.session.as_left = True
        try:
            yield
        finally:
            self.session.as_left = False


@dataclass
class Facts:
    """What the grader keeps of an object that stays in the worker."""

    session: Session
    number: int
    """Its handle."""
    generation: int
    kind: str
    """What the worker says it is: a function, a class, a module or an object."""
    types: tuple[str, ...]
    """The dotted names of its type and that type's bases, as the worker tells them, nearest first."""
    label: str
    """How a message speaks of it: `DecoderLM(13, 12)`."""
    root: str = ""
    calls: Calls | None = None
    """Where its calls are noted; None when a check has not got it from the submission by name."""


class RemoteObject:
    """A function, class, module or any other object that stays in the worker.

    Every name but `__kata__` is the learner's, see `RemoteSubmission`.
    """

    __slots__ = ("__kata__", "__weakref__")
    __kata__: Facts

    def __init__(self, session: Session, number: int, type_name: str, kind: str) -> None:
        types = tuple(type_name.split(MRO))
        facts = Facts(session, number, session.generation, kind, types, types[0].rpartition(".")[2])
        object.__setattr__(self, "__kata__", facts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _adopt(self, facts_of(self).session.get(handle_of(self), name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        facts_of(self).session.set(handle_of(self), name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker; a class gives a proxy of the new object."""
        mine = facts_of(self)
        signature = mine.label if mine.kind in ("function", "class") else f"{mine.root}.forward"
        result = _run(self, None, args, kwargs, mine.label, signature)
        if isinstance(result, RemoteObject) and mine.kind == "class":
            arguments = [_brief(value) for value in args] + [
                f"{key}={_brief(value)}" for key, value in kwargs.items()
            ]
            _call_it(result, f"{mine.label}({', '.join(arguments)})", mine.root, mine.calls)
        return result

    def __len__(self) -> int:
        value = _run(self, "__len__", (), {}, f"len({facts_of(self).label})", "")
        if not isinstance(value, int):
            return 0
        if value > messages.MAX_ITEMS:
            raise SubmissionUnsendable(
                f"a length of {value:,}; at most {messages.MAX_ITEMS:,} parts are gone through"
            )
        return value

    def __getitem__(self, key: Any) -> Any:
        label = f"{facts_of(self).label}[...]"
        return _adopt(self, _run(self, "__getitem__", (key,), {}, label, ""), f"[{_brief(key)}]")

    def __iter__(self) -> Iterator[Any]:
        values = _run(self, "__iter__", (), {}, f"iter({facts_of(self).label})", "")
        parts = values if isinstance(values, list) else []
        return iter([_adopt(self, value, f"[{index}]") for index, value in enumerate(parts)])

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{facts_of(self).types[0]} in the submission>"


def facts_of(value: RemoteObject) -> Facts:
    """Return what the grader keeps of an object in the worker."""
    return cast(Facts, object.__getattribute__(value, "__kata__"))


def handle_of(value: RemoteObject, session: Session | None = None) -> int:
    """Return the handle, if it is one of the session's present worker.

    Raises:
        WorkerDied: that worker is gone.
    """
    mine = facts_of(value)
    if mine.session is not (session or mine.session) or mine.generation != mine.session.generation:
        raise WorkerDied("had ended already")
    return mine.number


def stand_for(value: Any, other: Any) -> None:
    """Let messages speak of calls of `value` as if they were calls of `other`; in one process they do so anyway."""
    if isinstance(value, RemoteObject) and isinstance(other, RemoteObject):
        theirs = facts_of(other)
        _call_it(value, theirs.label, theirs.root, theirs.calls)


def speak_of(value: Any, label: str) -> None:
    """Let messages call an object in the worker by a name that tells a learner more than how it was made."""
    if isinstance(value, RemoteObject):
        mine = facts_of(value)
        _call_it(value, label, mine.root, mine.calls)


def _call_it(value: RemoteObject, label: str, root: str, calls: Calls | None) -> None:
    mine = facts_of(value)
    mine.label, mine.root, mine.calls = label, root, calls


def _adopt(owner: RemoteObject, value: Any, name: str) -> Any:
    if isinstance(value, RemoteObject) and facts_of(value).root == "":
        mine = facts_of(owner)
        separator = "" if name.startswith("[") or not mine.label else "."
        _call_it(value, f"{mine.label}{separator}{name}", mine.root, mine.calls)
    return value


def _run(
    value: RemoteObject,
    method: str | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    label: str,
    signature: str,
) -> Any:
    mine = facts_of(value)
    session = mine.session

    def perform() -> tuple[Any, list[torch.Tensor]]:
        return session.call(handle_of(value), method, args, kwargs, mine.root)

    return recorded(perform, mine.calls, session, mine.root, CallRecord(label, signature, args, kwargs))


def recorded(
    perform: Callable[[], tuple[Any, list[torch.Tensor]]],
    calls: Calls | None,
    session: Session,
    root: str,
    record: CallRecord,
) -> Any:
    """Make a call and note what became of it, for the report."""
    try:
        value, changed = perform()
    except (SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout) as error:
        if calls is not None:
            calls.add(record, None)
        _note(session, root, error)
        raise
    if calls is not None:
        if changed:
            record = CallRecord(record.label, record.signature, record.args, record.kwargs, tuple(changed))
        calls.add(record, value)
    _note(session, root, None)
    return value


def _note(session: Session, root: str, error: Exception | None) -> None:
    outcomes = session.outcomes
    if isinstance(error, WorkerDied | WorkerTimeout):
        outcomes.died += isinstance(error, WorkerDied)
    else:
        outcomes.answered += 1
    if root in session.terms.required:
        if isinstance(error, SubmissionRaised) and error.not_written:
            outcomes.not_written.add(root)
        else:
            outcomes.written.add(root)


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"tensor{list(value.shape)}"
    if isinstance(value, RemoteObject):
        return facts_of(value).label
    text = (
        repr(value)
        if isinstance(value, str | int | float | bool | None | torch.dtype | torch.device)
        else type(value).__name__
    )
    return text if len(text) <= 40 else text[:39] + "…"
