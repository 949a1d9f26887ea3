"""What stays in the worker, as a check sees it: proxies that turn Python into calls and answers into values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch

from grader.errors import PackError
from grader.host import put_off
from grader.host.calls import CallRecord, Calls, Outcomes
from grader.host.endings import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.host.terms import Terms
from grader.wire import messages
from grader.wire.codec import MRO

METHODS = frozenset({
    "eval", "train", "to", "double", "float", "zero_grad", "requires_grad_", "state_dict", "load_state_dict",
    "parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules",
})  # fmt: skip
"""What every module has, and checks only call: its call asks for it as well, which is one exchange instead of two."""


class Conversation(Protocol):
    """What these need of a session."""

    generation: int
    outcomes: Outcomes
    terms: Terms

    @property
    def made(self) -> int:
        """How many requests were made, where they are recorded."""
        ...

    def get(self, target: int, name: str) -> Any:
        """Return an attribute of a handle."""
        ...

    def set(self, target: int, name: str, value: Any) -> None:
        """Set an attribute of a handle."""
        ...

    def note_method(self, method: Any) -> None:
        """Note an answer that was not asked for: a method that every module has."""
        ...

    def call(
        self,
        target: int,
        method: str | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        of: str = "",
        *,
        makes: bool = False,
    ) -> tuple[Any, list[torch.Tensor]]:
        """Call a handle; return its value and those tensors among the arguments that it changed."""
        ...

    def put_off(
        self,
        target: int,
        method: str,
        args: tuple[Any, ...],
        answer: Any,
        of: str,
        made: Callable[[], None],
        raised: Callable[[], None],
    ) -> bool:
        """Let a call wait for the next request; return whether it can."""
        ...

    def unnoted(self) -> AbstractContextManager[None]:
        """Forget what is answered inside, for recognising a mistake."""
        ...


@dataclass
class Facts:
    """What the grader keeps of an object that stays in the worker."""

    session: Conversation
    number: int | None
    """Its handle; None of a method that was not asked for yet."""
    generation: int
    kind: str
    """What the worker says it is: a function, a class, a module or an object."""
    types: tuple[str, ...]
    """The dotted names of its type and that type's bases, as the worker tells them, nearest first."""
    label: str
    """How a message speaks of it: `DecoderLM(13, 12)`."""
    root: str = ""
    """The learner's name that it was got from: `DecoderLM`."""
    path: str = ""
    """Where it stands behind that name: `DecoderLM.generate` of a method, whatever its object was made with."""
    calls: Calls | None = None
    """Where its calls are noted; None when a check has not got it from the submission by name."""
    plain: bool = False
    """Of a module: whether `METHODS` are torch's own, as the worker says."""
    helper: str = ""
    """Where it came out of a module whose values the running check may not use: `probes.first_loss`."""
    method_of: tuple[RemoteObject, str] | None = None
    """Of one of `METHODS`: whose it is, and its name."""


class RemoteObject:
    """A function, class, module or any other object that stays in the worker.

    Every name but `__kata__` is the learner's, see `RemoteSubmission`.
    """

    __slots__ = ("__kata__", "__weakref__")
    __kata__: Facts

    def __init__(self, session: Conversation, number: int | None, type_name: str, kind: str) -> None:
        types = tuple(type_name.split(MRO))
        facts = Facts(session, number, session.generation, kind, types, types[0].rpartition(".")[2])
        object.__setattr__(self, "__kata__", facts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        mine = facts_of(self)
        if mine.kind == "module" and name in METHODS:
            handle_of(self)  # it has to be there still
            method = RemoteObject(mine.session, None, f"builtins.method{MRO}builtins.object", "function")
            facts_of(method).method_of = self, name
            mine.session.note_method(method)
            return _adopt(self, method, name)
        return _adopt(self, mine.session.get(handle_of(self), name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        facts_of(self).session.set(handle_of(self), name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker; a class gives a proxy of the new object."""
        mine = facts_of(self)
        signature = mine.path if mine.kind in ("function", "class") else f"{mine.path}.forward"
        result = _run(self, None, args, kwargs, mine.label, signature)
        if isinstance(result, RemoteObject) and mine.kind == "class":
            arguments = [brief(value) for value in args] + [
                f"{key}={brief(value)}" for key, value in kwargs.items()
            ]
            call_it(result, f"{mine.label}({', '.join(arguments)})", mine.root, mine.calls, mine.path)
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
        return _adopt(self, _run(self, "__getitem__", (key,), {}, label, ""), f"[{brief(key)}]")

    def __iter__(self) -> Iterator[Any]:
        values = _run(self, "__iter__", (), {}, f"iter({facts_of(self).label})", "")
        parts = values if isinstance(values, list) else []
        return iter([_adopt(self, value, f"[{index}]") for index, value in enumerate(parts)])

    def __enter__(self) -> Any:
        return _run(self, "__enter__", (), {}, f"with {facts_of(self).label}", "")

    def __exit__(self, *_: object) -> None:
        # What a check raises does not cross: the block in the worker ends as if nothing had been raised.
        _run(self, "__exit__", (None, None, None), {}, f"with {facts_of(self).label}", "")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{facts_of(self).types[0]} in the submission>"


def facts_of(value: RemoteObject) -> Facts:
    """Return what the grader keeps of an object in the worker."""
    return cast(Facts, object.__getattribute__(value, "__kata__"))


def handle_of(value: RemoteObject, session: Conversation | None = None) -> int:
    """Return the handle, if it is one of the session's present worker.

    Raises:
        WorkerDied: that worker is gone.
    """
    mine = facts_of(value)
    if mine.session is not (session or mine.session) or mine.generation != mine.session.generation:
        raise WorkerDied("had ended already")
    if mine.number is None:
        assert mine.method_of is not None
        owner, name = mine.method_of
        asked = mine.session.get(handle_of(owner), name)
        if not isinstance(asked, RemoteObject):
            raise TypeError(f"{name!r} of {facts_of(owner).label} is not a method")
        # One object over there may stand for itself here: what was made of it must not forget it.
        mine.number, mine.method_of = handle_of(asked), (asked, "")
    return mine.number


def stand_for(value: Any, other: Any) -> None:
    """Let messages speak of calls of `value` as if they were calls of `other`; in one process they do so anyway."""
    if isinstance(value, RemoteObject) and isinstance(other, RemoteObject):
        theirs, called = facts_of(other), ("function", "class")
        path = theirs.path
        if facts_of(value).kind in called and theirs.kind not in called:
            path += ".forward"
        call_it(value, theirs.label, theirs.root, theirs.calls, path)


def speak_of(value: Any, label: str) -> None:
    """Let messages call an object in the worker by a name that tells a learner more than how it was made."""
    if isinstance(value, RemoteObject):
        mine = facts_of(value)
        call_it(value, label, mine.root, mine.calls, mine.path)


def call_it(value: RemoteObject, label: str, root: str, calls: Calls | None, path: str = "") -> None:
    """Let messages speak of an object by a label, and note its calls as those of the required name `root`."""
    mine = facts_of(value)
    mine.label, mine.root, mine.calls, mine.path = label, root, calls, path or root


def _adopt(owner: RemoteObject, value: Any, name: str) -> Any:
    if isinstance(value, RemoteObject) and facts_of(value).root == "":
        mine = facts_of(owner)
        separator = "" if name.startswith("[") or not mine.label else "."
        label, path = (f"{start}{separator}{name}" for start in (mine.label, mine.path))
        call_it(value, label, mine.root, mine.calls, path)
    return _out_of(facts_of(owner), value, f".{name}")


def _out_of(mine: Facts, value: Any, name: str = "") -> Any:
    """Refuse a value that came out of such a module, and mark what stays in the worker.

    It shares its process with the submission, which can find it and replace what it holds.

    Raises:
        PackError: it is a value.
    """
    for part in (value if isinstance(value, list | tuple) else (value,)) if mine.helper else ():
        if isinstance(part, RemoteObject):
            facts_of(part).helper = mine.helper + name
        elif part is not None:
            raise forgeable(f"{mine.helper}{name} returned a value")
    return value


def forgeable(what: str) -> PackError:
    """Return the error of a check that believes what a submission can forge."""
    return PackError(
        f"{what}, which the submission can forge: compute it in the check from what the submission returns, "
        "or say in @check(on_workers_word=...) why it is enough here."
    )


def _run(
    value: RemoteObject,
    method: str | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    label: str,
    signature: str,
) -> Any:
    """Make a call and note what became of it, for the report."""
    mine = facts_of(value)
    session, calls = mine.session, mine.calls
    target = value
    if mine.number is None and mine.method_of is not None and method is None:
        target, method = mine.method_of
        if facts_of(target).plain:
            record = CallRecord(label, signature, args, kwargs, root=mine.root)
            known = put_off.answer_of(target, method, args, kwargs)
            if known is not NotImplemented and _put_off(target, method, known, mine, record):
                if calls is not None:
                    calls.add(record, known)
                return known
    makes = mine.kind == "class" and method is None
    try:
        result, changed = session.call(handle_of(target), method, args, kwargs, mine.root, makes=makes)
    except (SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout) as error:
        if isinstance(error, SubmissionRaised):
            error.helper = mine.helper
            if error.put_off:
                raise
        if calls is not None:
            calls.add(CallRecord(label, signature, args, kwargs, root=mine.root, request=session.made), None)
        note(session, mine.root, error)
        raise
    if calls is not None:
        record = CallRecord(label, signature, args, kwargs, tuple(changed), mine.root, session.made)
        calls.add(record, result)
    note(session, mine.root, None)
    return _out_of(mine, result)


def _put_off(target: RemoteObject, method: str, known: Any, mine: Facts, record: CallRecord) -> bool:
    """Let a call wait, if it can; what is noted of it is noted when it is made."""
    session, calls, root = mine.session, mine.calls, mine.root
    number = facts_of(target).number
    if number is None or facts_of(target).generation != session.generation:
        return False

    def made() -> None:
        note(session, root, None)

    def raised() -> None:
        note(session, root, None)
        if calls is not None:
            calls.back_to(record)

    return session.put_off(number, method, record.args, known, root, made, raised)


def note(session: Conversation, root: str, error: Exception | None) -> None:
    """Note what became of an attempt to use a required name."""
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


def brief(value: Any) -> str:
    """Return a value in a word, as a label of a call has it."""
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
