"""What stays in the worker, as a check sees it: proxies that turn Python into calls and answers into values.

Gradients: one node of autograd's here stands for the graph of a call over there.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import torch

from grader.engine.host.calls import CallRecord, Calls, Conversation
from grader.engine.host.errors import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.engine.host.value_text import written
from grader.engine.wire import messages
from grader.engine.wire.codec import MRO
from grader.errors import PackError

EVERY_MODULES = frozenset({"eval", "train", "to", "load_state_dict", "state_dict", "named_parameters"})
"""Methods that every module has and checks call most: found and called in one exchange, not in two."""
_LABELLED = 40
"""Columns of an argument in a label: another one and a method have room in the same line."""


@dataclass
class Facts:
    """What the grader keeps of an object that stays in the worker."""

    session: Conversation
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
    """The learner's name that it was got from: `DecoderLM`."""
    path: str = ""
    """Where it is within that name: `DecoderLM.generate` of a method, whatever its object was made with."""
    calls: Calls | None = None
    """Where its calls are noted; None when a check has not got it from the submission by name."""
    of: tuple[RemoteObject, str] | None = None
    """Of a method that was not looked up: whose it is, and its name."""
    helper: str = ""
    """Where it came out of a module whose values the running check may not use: `probes.first_loss`."""


class RemoteObject:
    """A function, class, module or any other object that stays in the worker.

    Every name but `__kata__` is the learner's, see `RemoteSubmission`.
    """

    __slots__ = ("__kata__", "__weakref__")
    __kata__: Facts

    def __init__(self, session: Conversation, number: int, type_name: str, kind: str) -> None:
        types = tuple(type_name.split(MRO))
        facts = Facts(session, number, session.generation, kind, types, types[0].rpartition(".")[2])
        # Past our own `__setattr__`, which sets attributes over there.
        object.__setattr__(self, "__kata__", facts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        mine = state_of(self)
        # A given module's methods are looked up all the same: what they return is not believed.
        if mine.kind == "module" and name in EVERY_MODULES and not mine.helper:
            # -1 is nobody's number: it gets one only where it is handed over instead of called.
            method = RemoteObject(mine.session, -1, "builtins.method", "function")
            state_of(method).of = self, name
            return _adopt(self, method, name)
        return _adopt(self, mine.session.get(handle_id(self), name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        state_of(self).session.set(handle_id(self), name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker; a class gives a proxy of the new object."""
        mine = state_of(self)
        signature = mine.path if mine.kind in ("function", "class") else f"{mine.path}.forward"
        record = CallRecord(mine.label, signature, args, kwargs, root=mine.root)
        target, method = (self, None) if mine.of is None else mine.of
        with _noted(mine, record) as made:
            made += mine.session.call(handle_id(target), record, method)
        result = _out_of(mine, made[0])
        # An object is named by how it was made, since learners recognise it by that: `DecoderLM(13, 12)`.
        if isinstance(result, RemoteObject) and mine.kind == "class":
            label = f"{mine.label}({_made_with(mine.calls, mine.path, args, kwargs)})"
            set_label_of_call(result, label, mine.root, mine.calls, mine.path)
        return result

    def __len__(self) -> int:
        value = _call_method(self, "__len__", "len({})")
        if not isinstance(value, int):
            return 0
        # `for i in range(len(x))` in a check would go on for as long as the submission says.
        if value > messages.MAX_ITEMS:
            raise SubmissionUnsendable(
                f"a length of {value:,}; at most {messages.MAX_ITEMS:,} parts are gone through"
            )
        return value

    def __getitem__(self, key: Any) -> Any:
        return _adopt(self, _call_method(self, "__getitem__", "{}[...]", key), f"[{short_repr(key)}]")

    def __iter__(self) -> Iterator[Any]:
        values = _call_method(self, "__iter__", "iter({})")
        parts = values if isinstance(values, list) else []
        return iter([_adopt(self, value, f"[{index}]") for index, value in enumerate(parts)])

    def __enter__(self) -> Any:
        return _call_method(self, "__enter__", "with {}")

    def __exit__(self, *_: object) -> None:
        # What a check raises does not cross: the block in the worker ends as if nothing had been raised.
        _call_method(self, "__exit__", "with {}", None, None, None)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{state_of(self).types[0]} in the submission>"


def state_of(value: RemoteObject) -> Facts:
    """Return what the grader keeps of an object in the worker."""
    return cast(Facts, object.__getattribute__(value, "__kata__"))


def handle_id(value: RemoteObject, session: Conversation | None = None) -> int:
    """Return the handle, if it is one of the session's present worker.

    Raises:
        WorkerDied: that worker is gone.
    """
    mine = state_of(value)
    # Numbers begin anew in each worker: one of an earlier worker would name another object.
    if mine.session is not (session or mine.session) or mine.generation != mine.session.generation:
        raise WorkerDied("had ended already")
    if mine.of is None:
        return mine.number
    # Handed over instead of called: now it has to be known by a number.
    owner, name = mine.of
    found = mine.session.get(handle_id(owner), name)
    if not isinstance(found, RemoteObject):
        raise SubmissionUnsendable(f"something else than a method as {name}")
    return handle_id(found)


def label_calls_as(value: Any, other: Any) -> None:
    """Let messages speak of calls of `value` as if they were calls of `other`; in one process they do so anyway."""
    if isinstance(value, RemoteObject) and isinstance(other, RemoteObject):
        theirs, called = state_of(other), ("function", "class")
        path = theirs.path
        if state_of(value).kind in called and theirs.kind not in called:
            path += ".forward"
        set_label_of_call(value, theirs.label, theirs.root, theirs.calls, path)


def set_label(value: Any, label: str) -> None:
    """Let messages call an object in the worker by a name that tells a learner more than how it was made."""
    if isinstance(value, RemoteObject):
        mine = state_of(value)
        set_label_of_call(value, label, mine.root, mine.calls, mine.path)


def set_label_of_call(
    value: RemoteObject, label: str, root: str, calls: Calls | None, path: str = ""
) -> None:
    """Let messages speak of an object by a label, and note its calls as those of the required name `root`."""
    mine = state_of(value)
    mine.label, mine.root, mine.calls, mine.path = label, root, calls, path or root


def _adopt(owner: RemoteObject, value: Any, name: str) -> Any:
    if isinstance(value, RemoteObject) and state_of(value).root == "":
        mine = state_of(owner)
        separator = "" if name.startswith("[") or not mine.label else "."
        label, path = (f"{start}{separator}{name}" for start in (mine.label, mine.path))
        set_label_of_call(value, label, mine.root, mine.calls, path)
    return _out_of(state_of(owner), value, f".{name}")


def _out_of(mine: Facts, value: Any, name: str = "") -> Any:
    """Refuse a value that came out of such a module, and mark what stays in the worker.

    Raises:
        PackError: it is a value.
    """
    if mine.helper.endswith(".load_state_dict"):
        return [], []  # what torch's own returns, whatever the worker says: a check calls it for what it does
    # The module shares its process with the submission, which can find it and replace what it holds.
    for part in (value if isinstance(value, list | tuple) else (value,)) if mine.helper else ():
        if isinstance(part, RemoteObject):
            theirs = state_of(part)
            theirs.helper = theirs.helper or mine.helper + name  # `eval` returns what it is called of
        elif part is not None:
            raise forgeable(f"{mine.helper}{name} returned a value")
    return value


def forgeable(what: str) -> PackError:
    """Return the error of a check that believes what a submission can forge."""
    return PackError(
        f"{what}, which the submission can forge: compute it in the check from what the submission returns, "
        "or say in @check(on_workers_word=...) why it is enough here."
    )


def _call_method(value: RemoteObject, method: str, label: str, *args: Any) -> Any:
    mine = state_of(value)
    record = CallRecord(label.format(mine.label), "", args, {}, root=mine.root)
    with _noted(mine, record) as made:
        made += mine.session.call(handle_id(value), record, method)
    return _out_of(mine, made[0])


@contextmanager
def _noted(mine: Facts, record: CallRecord) -> Iterator[list[Any]]:
    """Note for the report what becomes of the call inside, which adds to the list what `Session.call` returns."""
    made: list[Any] = []
    try:
        yield made
    except (SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout) as error:
        if isinstance(error, SubmissionRaised):
            # What a helper module raises can be forged like a value: the check that expects it must know.
            error.helper = mine.helper
        if mine.calls is not None:
            mine.calls.add(replace(record, request=mine.session.made), None)
        record_outcome(mine.session, mine.root, error)
        raise
    result, changed = made
    if mine.calls is not None:
        done = replace(
            record, changed=tuple(changed), iterated=mine.session.iterated, request=mine.session.made
        )
        mine.calls.add(done, result)
    record_outcome(mine.session, mine.root, None)


def record_outcome(session: Conversation, root: str, error: Exception | None) -> None:
    """Note what became of an attempt to use a required name."""
    outcomes = session.stats
    if isinstance(error, WorkerDied | WorkerTimeout):
        outcomes.died += isinstance(error, WorkerDied)
    else:
        outcomes.answered += 1
    if root in session.terms.required:
        if isinstance(error, SubmissionRaised) and error.not_written:
            outcomes.not_written.add(root)
        else:
            outcomes.written.add(root)


def is_definition(value: object) -> bool:
    """Return whether this is a function or class of the submission's own."""
    return isinstance(value, RemoteObject) and state_of(value).kind in ("function", "class")


def short_repr(value: Any) -> str:
    """Return a value as a label of a call has it: as Python would write it, a tensor by its shape alone."""
    text = written(value, _word_for, _LABELLED)
    return text if len(text) <= _LABELLED else text[: _LABELLED - 1] + "…"


def _word_for(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"tensor{list(value.shape)}"
    if isinstance(value, RemoteObject):
        return state_of(value).label
    return repr(value) if isinstance(value, torch.dtype | torch.device) else type(value).__name__


def _made_with(calls: Calls | None, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return in a label what a class was made with."""
    names = list(calls.parameters.get(path, ())) if calls is not None else []
    # Sizes and the like are known by their place: `DecoderLM(13, 12)`. Lists are not, so with one all have
    # their names.
    named = any(isinstance(value, list | tuple | dict) for value in args) and len(names) >= len(args)
    if not named or any(name.startswith("*") for name in names[: len(args)]):
        names = [""] * len(args)
    pairs = [*zip(names, args, strict=False), *kwargs.items()]
    return ", ".join(f"{name}={short_repr(value)}" if name else short_repr(value) for name, value in pairs)


_ANCHOR = torch.zeros((), requires_grad=True)
"""Makes autograd keep a node also where no argument requires grad; nothing ever flows into it."""


class _Crossing(torch.autograd.Function):
    """The autograd node on the grader's side of a call: backward goes over and comes back."""

    @staticmethod
    def forward(
        ctx: Any,
        session: Conversation,
        graph: Graph,
        outputs: list[torch.Tensor],
        anchor: torch.Tensor,
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        # Weakly: a node belongs to the tensors that it made, and the session holds some of these. Python's
        # collector does not see that they hold their node, so neither would ever be freed.
        ctx.session, ctx.graph = weakref.ref(session), graph
        # An output without a cotangent has none over there either; zeros would cross for nothing.
        ctx.set_materialize_grads(False)
        ctx.inputs = [(tensor.shape, tensor.dtype) for tensor in inputs]
        return tuple(outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        session: Conversation = ctx.session()
        gradients = session.backward(ctx.graph.number, list(cotangents), ctx.graph.of)
        expected = ctx.inputs
        # torch would refuse them itself, and the check would be taken for broken.
        if len(gradients) != len(expected) or any(
            gradient is not None and (gradient.shape != shape or gradient.dtype != dtype)
            for gradient, (shape, dtype) in zip(gradients, expected, strict=True)
        ):
            session.violation("its gradients do not fit its inputs")
        return (None, None, None, None, *gradients)


class Graph:
    """A graph that a call left in the worker; forgotten there when nobody here needs it."""

    def __init__(self, session: Conversation, number: int) -> None:
        self.number = number
        self.of = session.asked_of
        self._session = weakref.ref(session)
        self._age = session.age

    def __del__(self) -> None:
        # At whatever moment Python frees it, perhaps in the middle of a request: it is noted, and goes along
        # with the next.
        session = self._session()
        if session is not None:
            session.forget(self.number, self._age)


def attach(session: Conversation, graph: int, value: Any, inputs: list[torch.Tensor]) -> Any:
    """Hang the tensors of `value` that carry a gradient in the worker on one node here."""
    outputs: dict[int, torch.Tensor] = {}
    _collect(value, outputs)
    # The worker encoded tensors in the order in which they are met, and kept those that require grad.
    found = list(outputs.values())
    if not found:
        return value
    # Detached: what was decoded are leaves, and the node is to be all the history that they have.
    plain = [tensor.detach() for tensor in found]
    attached = _Crossing.apply(session, Graph(session, graph), plain, _ANCHOR, *inputs)  # type: ignore[no-untyped-call]
    for before, after in zip(found, attached, strict=True):
        # An attribute of ours, which torch does not carry over to what a function returns.
        if kind := getattr(before, "kata_type", None):
            after.kata_type = kind
    return _replace(value, dict(zip(outputs, attached, strict=True)))


def _collect(value: Any, found: dict[int, torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        if value.requires_grad:
            found.setdefault(id(value), value)
    elif isinstance(value, list | tuple):
        for part in value:
            _collect(part, found)
    elif isinstance(value, dict):
        for key, part in value.items():
            _collect(key, found)
            _collect(part, found)


def _replace(value: Any, by: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return by.get(id(value), value)
    if isinstance(value, list | tuple):
        return type(value)(_replace(part, by) for part in value)
    if isinstance(value, dict):
        return {_replace(key, by): _replace(part, by) for key, part in value.items()}
    return value
