"""What a check sees as the learner's module: proxies that turn Python into calls and answers into values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.utils.weak import WeakIdKeyDictionary

from grader.boundary import wire
from grader.boundary.channel import WorkerDied, WorkerTimeout
from grader.boundary.codec import MRO
from grader.boundary.session import Session, SubmissionMissing, SubmissionRaised, SubmissionUnsendable


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
    """The learner's module as a check sees it; every attribute is fetched from the worker."""

    def __init__(self, session: Session, calls: Calls) -> None:
        self.__dict__["_session"] = session
        self.__dict__["calls"] = calls
        self.__dict__["policy_advice"] = session.terms.advice

    def forbidden_uses(self) -> list[str]:
        """Return which operators that the kata excludes were used in this check."""
        return cast(list[str], self._session.forbidden_uses())

    def given(self, name: str) -> Any:
        """Return a module that the kata gives (`given`, `support`), imported beside the submission.

        What it returns is as little to be believed as what the submission returns: both share a process.
        """
        value = self._session.given(name)
        if isinstance(value, RemoteObject):
            value._name("", name, self.calls)  # its file's name tells a learner nothing
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        session = self._session
        try:
            value = session.named(name)
        except SubmissionRaised as error:
            _note(session, name, error)
            if error.type_name == "AttributeError":
                raise _missing(error) from None
            raise
        if isinstance(value, RemoteObject):
            value._name(name, name, self.calls)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self._session.set(wire.MODULE, name, value)

    def __repr__(self) -> str:
        return f"<submission {self._session.source.path.name}>"


class RemoteObject:
    """A function, class, module or any other object that stays in the worker."""

    __slots__ = (
        "__weakref__",
        "_calls",
        "_generation",
        "_kind",
        "_label",
        "_number",
        "_root",
        "_session",
        "kata_type",
        "kata_types",
    )

    kata_type: str
    """The dotted name of its type, as the worker tells it."""
    kata_types: tuple[str, ...]
    """Of its type and that type's bases, nearest first."""

    def __init__(self, session: Session, number: int, type_name: str, kind: str) -> None:
        put = object.__setattr__
        put(self, "_session", session)
        put(self, "_number", number)
        put(self, "_generation", session.generation)
        put(self, "_kind", kind)
        put(self, "kata_types", tuple(type_name.split(MRO)))
        put(self, "kata_type", self.kata_types[0])
        put(self, "_label", self.kata_type.rpartition(".")[2])
        put(self, "_root", "")
        put(self, "_calls", None)

    @staticmethod
    def number(value: RemoteObject, session: Session) -> int:
        """Return the handle, if it is one of the session's present worker."""
        if value._session is not session or value._generation != session.generation:
            raise WorkerDied("had ended already")
        return cast(int, value._number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        session = self._session
        try:
            value = session.get(RemoteObject.number(self, session), name)
        except SubmissionRaised as error:
            if error.type_name == "AttributeError":
                raise _missing(error) from None
            raise
        return self._adopt(value, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._session.set(RemoteObject.number(self, self._session), name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker; a class gives a proxy of the new object."""
        signature = self._label if self._kind in ("function", "class") else f"{self._root}.forward"
        result = self._run(None, args, kwargs, self._label, signature)
        if isinstance(result, RemoteObject) and self._kind == "class":
            arguments = [_brief(value) for value in args] + [
                f"{key}={_brief(value)}" for key, value in kwargs.items()
            ]
            result._name(f"{self._label}({', '.join(arguments)})", self._root, self._calls)
        return result

    def __len__(self) -> int:
        value = self._run("__len__", (), {}, f"len({self._label})", "")
        if not isinstance(value, int):
            return 0
        if value > wire.MAX_ITEMS:
            raise SubmissionUnsendable(
                f"a length of {value:,}; at most {wire.MAX_ITEMS:,} parts are gone through"
            )
        return value

    def __getitem__(self, key: Any) -> Any:
        return self._adopt(
            self._run("__getitem__", (key,), {}, f"{self._label}[...]", ""), f"[{_brief(key)}]"
        )

    def __iter__(self) -> Iterator[Any]:
        values = self._run("__iter__", (), {}, f"iter({self._label})", "")
        parts = values if isinstance(values, list) else []
        return iter([self._adopt(value, f"[{index}]") for index, value in enumerate(parts)])

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self.kata_type} in the submission>"

    @property
    def kata_label(self) -> str:
        """How a message speaks of it: `DecoderLM(13, 12)`, or nothing when a check has not made it itself."""
        return cast(str, self._label) if self._calls is not None else ""

    @property
    def kata_kind(self) -> str:
        """What the worker says it is: a function, a class, a module or an object."""
        return cast(str, self._kind)

    def stands_for(self, other: RemoteObject) -> None:
        """Let messages speak of calls of this as if they were calls of `other`."""
        self._name(other._label, other._root, other._calls)

    def _name(self, label: str, root: str, calls: Calls | None) -> None:
        put = object.__setattr__
        put(self, "_label", label)
        put(self, "_root", root)
        put(self, "_calls", calls)

    def _adopt(self, value: Any, name: str) -> Any:
        if isinstance(value, RemoteObject) and value._root == "":
            separator = "" if name.startswith("[") or not self._label else "."
            value._name(f"{self._label}{separator}{name}", self._root, self._calls)
        return value

    def _run(
        self, method: str | None, args: tuple[Any, ...], kwargs: dict[str, Any], label: str, signature: str
    ) -> Any:
        session = self._session

        def perform() -> tuple[Any, list[torch.Tensor]]:
            return cast(
                tuple[Any, list[torch.Tensor]],
                session.call(RemoteObject.number(self, session), method, args, kwargs, self._root),
            )

        return recorded(perform, self._calls, session, self._root, CallRecord(label, signature, args, kwargs))


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


def _missing(error: SubmissionRaised) -> SubmissionMissing:
    missing = SubmissionMissing.__new__(SubmissionMissing)
    missing.__dict__.update(error.__dict__)
    missing.args = error.args
    return missing


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"tensor{list(value.shape)}"
    if isinstance(value, RemoteObject):
        return cast(str, value._label)
    text = (
        repr(value)
        if isinstance(value, str | int | float | bool | None | torch.dtype | torch.device)
        else type(value).__name__
    )
    return text if len(text) <= 40 else text[:39] + "…"
