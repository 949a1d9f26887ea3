"""One submission under examination: its worker, its clock, and what has become of its calls."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import torch

from grader.devices import known
from grader.errors import MachineFault, PackError
from grader.host.autograd import attach
from grader.host.calls import Outcomes
from grader.host.channel import Channel
from grader.host.deadline import Deadline
from grader.host.endings import (
    BudgetSpent,
    StillHangs,
    SubmissionMissing,
    SubmissionRaised,
    SubmissionUnsendable,
    WorkerDied,
    WorkerTimeout,
    could_be,
)
from grader.host.launcher import Job, Launcher, WorkerProcess
from grader.host.lent import Loans
from grader.host.names import NamesFound, excluded_operators, read_names, told
from grader.host.objects import RemoteObject, facts_of, handle_of
from grader.host.put_off import MAX_BYTES, PutOff, keeps_state, waiting
from grader.host.shared import Shared, SharedArguments, can_share
from grader.host.source import Source
from grader.host.stopwatch import Sample, Stopwatch
from grader.host.terms import Terms
from grader.wire import messages, uses
from grader.wire.codec import MRO, Decoder, Encoder

MAX_OBSERVED = 4096
MAX_OBSERVED_BYTES = 64 << 20
"""Of values that are kept to recognise a mistake by: a check may get hundreds of megabytes in every call."""
PART_BYTES = 64
"""What each part of a list, tuple or dict is taken to weigh."""
MAX_NUMBER = 1 << 31
"""Handles are numbers that a worker counts up."""
HUNG_PART = 10
"""A function that has not answered once is given such a part of a check's time from then on, and at least a second:
an endless loop is not waited for in every check that calls it, and one that was only slow there goes on."""
START_S = 30.0
"""How long a worker may take to be ready; a fresh interpreter imports torch first."""


_UNTIMED: AbstractContextManager[Sample | None] = nullcontext()
_SHORT = frozenset({"OSError", "MemoryError"})
"""What is raised where a system has too little of something: by a submission's fault or the machine's."""


_TELL_STATE = frozenset({"state_dict", "named_parameters", "parameters", "named_buffers", "buffers"})


@dataclass(frozen=True)
class State:
    """What a module of the submission holds, as opposed to what it computes."""

    value: Any


class Session:
    """Hold a live worker with the submission loaded; replace it after a death. Grader side."""

    def __init__(
        self,
        launcher: Launcher,
        source: Source,
        terms: Terms,
        *,
        device: str = "cpu",
        on_start: Callable[[WorkerProcess], None] | None = None,
        tell: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self.source = source
        self.terms = terms
        self.stopwatch: Stopwatch | None = None
        """Times every exchange while it is set."""
        self.outcomes = Outcomes()
        self.asked: set[str] = set()
        """The submission's own names that this check has asked for."""
        self.isolation = "none"
        self.doubtful = False
        """Whether something ended as it also would on a machine that has run out of what it needs."""
        self.killed = False
        """Whether a worker was ended by SIGKILL that was not ours."""
        self.deadline = Deadline(math.inf)
        self.observed: list[Any] = []
        """What the worker answered in this check, in order, for recognising a mistake; bounded."""
        self._states: set[int] = set()
        """The handles of methods that tell a module's state."""
        self._observed_bytes = 0
        self.recorded: list[bytes] | None = None
        """What the live worker was asked, where somebody wants to make it again: frames, without what it asked back."""
        self.generation = 0
        """Counts workers; a proxy of an earlier one is stale."""
        self._launcher = launcher
        self._device = device
        self._on_start = on_start
        self._tell = tell
        """Told how many seconds it may be until the next check begins."""
        self._channel: Channel | None = None
        self._hung: set[str] = set()
        """The required names that did not answer in time."""
        self._release: list[int] = []
        self._begin: int | None = None
        self._alike = False
        self.asked_of = ""
        """The required name that the running call is made of; it says whose a use is where only some are watched."""
        self.called: set[str] = set()
        """The names that were called in this check."""
        self.asked_uses = False
        """Whether this check asked for what was used."""
        self._uses: dict[str, int] = {}
        """Forbidden operators that were used, with the line where it is known."""
        self.as_left = False
        """Whether calls go on in the gradient mode that the submission left behind."""
        self._loans = Loans()
        self._answering = False
        self._named: dict[str, Any] = {}
        """The submission's functions and classes, looked up once in the life of a worker."""
        self._shared: Shared | None = None
        """Where the arguments of calls lie, for the live worker."""
        self._waiting: list[PutOff] = []
        """Calls that go with the next request."""
        self._waiting_of = ""
        self._open: Encoder | None = None
        """Holds their arguments."""
        self._lead = 0
        """How many tensors are theirs."""
        self._made: tuple[int, str] | None = None
        """The module that the latest request made, and of which required name."""
        self._told: tuple[int, Decoder, Any] | None = None
        """What that one holds, if it came along."""
        self._asked_state: set[str] = set()
        """Required names of which a module was last asked for what it holds right after it was made."""
        self._proxies: WeakValueDictionary[int, Any] = WeakValueDictionary()
        """One object over there is one proxy here, so that a check may ask `layers[0] is not layers[1]`."""
        self._ends = Deadline(terms.submission_timeout_s)

    def begin(self, seed: int, timeout_s: float | None = None, *, alike: bool = False) -> None:
        """Start a check: set its deadline, make sure that a worker is there, seed it.

        With `alike` the modules it makes get parameters that do not hang on how the submission initialises them.

        Raises:
            BudgetSpent, WorkerTimeout, WorkerDied, SubmissionRaised: it did not load (again).
        """
        self._ends.extend(self.deadline.waited())
        left = self._ends.left()
        self.deadline = Deadline(min(timeout_s or self.terms.check_timeout_s, left))
        if left <= 0:
            raise BudgetSpent
        self._forget_waiting()
        self.observed.clear()
        self._states.clear()
        self.asked.clear()
        self._observed_bytes = 0
        self._loans = Loans()
        self.as_left = False
        self._tell(self.deadline.left())
        again = self._channel is not None
        self.asked_of = ""
        self.called.clear()
        self.asked_uses = False
        if self._channel is not None and self._channel.alive:
            self.deadline.follow(self._channel.process.pid)
        else:
            self._start()
            if again:
                self.take_output()  # what is printed while loading was told the first time
        self._begin, self._alike = seed, alike

    def take_output(self) -> str:
        """Return what the submission printed since the last time, without the names of its folders.

        Those are drawn anew for every run, and warnings print them: equal runs would have unequal reports.
        """
        if self._channel is None:
            return ""
        text = self._channel.take_output()
        for folder in (self.source.path.parent, self._channel.process.scratch):
            if folder != folder.parent:  # the root is part of every path
                text = text.replace(f"{folder}/", "")
        return text

    def forbidden_uses(self) -> list[str]:
        """Return what is used that is forbidden: in calls of this check or an earlier one, or by name in the source.

        Where the terms say `within`, only calls of those names and what they reach count. What the submission does
        while it is loaded is a test of its own and no use.
        """
        self.asked_uses = bool(self.terms.forbid)
        self.catch_up()
        return self.uses()

    def uses(self) -> list[str]:
        """Return what is known by now to be used; `forbidden_uses` lets the calls that wait be made first."""
        if not self.terms.forbid:
            return []
        return told(self._uses, self.reading)

    @cached_property
    def reading(self) -> NamesFound:
        """What the names in the source say."""
        return read_names(self.source, self.terms)

    @cached_property
    def _operators(self) -> list[str]:
        """The operators that the worker watches."""
        return excluded_operators(self.terms)

    def close(self) -> None:
        """End the worker."""
        if self._channel is not None:
            self._channel.close()
        self._share_no_more()
        self._forget_waiting()

    @property
    def process(self) -> WorkerProcess | None:
        """The live worker's process."""
        return self._channel.process if self._channel is not None and self._channel.alive else None

    def settle(self) -> None:
        """Exchange something trivial, so that what the worker had left to do is done; for before a clock starts."""
        self.get(messages.MODULE, "__name__")
        self.observed.clear()

    def lent(self, number: int) -> Callable[..., Any]:
        """Return what the running check lends."""
        return self._loans.find(number) or _not_lent

    # What proxies use -------------------------------------------------------------------------------------------

    @property
    def made(self) -> int:
        """How many requests were made, where they are recorded."""
        return len(self.recorded or ())

    def given(self, name: str) -> Any:
        """Return a module that runs next to the submission."""
        return self._value(*self._ask(messages.Import(name=name), []))

    def named(self, name: str) -> Any:
        """Return an attribute of the submission itself; functions and classes are looked up once."""
        self.asked.add(name)
        found = self._named.get(name)
        if found is None:
            found = self.get(messages.MODULE, name)
            if _kept(found):
                self._named[name] = found
        return found

    def get(self, target: int, name: str) -> Any:
        """Return an attribute of a handle.

        Raises:
            SubmissionMissing: it has none of that name.
        """
        value = self._value(*self._ask(messages.Get(target=target, name=name), []), attribute=True)
        if name in _TELL_STATE and isinstance(value, RemoteObject):
            self._states.add(handle_of(value))
        return value

    def note_method(self, method: Any) -> None:
        """Note a method that was not asked for, as if the worker had answered with it."""
        self._observe(method)

    def set(self, target: int, name: str, value: Any) -> None:
        """Set an attribute of a handle."""
        if target == messages.MODULE:
            self._named.pop(name, None)
        encoder = self._encoder()
        data = encoder.encode(value)
        request = messages.Set(target=target, name=name, value=data, tensors=encoder.tensors)
        self._checked(*self._ask(request, encoder.buffers))

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
        """Let a call wait for the next request, of which nothing but its end is told; return whether it can.

        Args:
            answer: what torch's own method answers, if it does not raise.
            of: see `call`.
            made: told when it has been made.
            raised: told when it raised.
        """
        if self.stopwatch is not None or self._channel is None or not self._channel.alive or self._answering:
            return False
        if self._waiting and self._waiting_of != of:
            self.catch_up()
        encoder = self._encoder()
        first = len(encoder.tensors)
        data = encoder.encode(args)
        encoder.part()
        grad = torch.is_grad_enabled()
        for head in encoder.tensors[first:] if not grad else ():
            head.requires_grad = False
        self.asked_of = self._waiting_of = of
        self.called.add(of)
        before = messages.Before(target, method, data, None if self.as_left else grad)
        self._open, self._lead = encoder, len(encoder.tensors)
        self._waiting.append(PutOff(before, len(self.observed), made, raised))
        waiting.add(self)
        self._observe(answer)
        if not keeps_state(method, args):
            self._told = None
        if sum(head.nbytes for head in encoder.tensors) > MAX_BYTES:
            self.catch_up()
        return True

    def catch_up(self) -> None:
        """Let the worker make the calls that wait."""
        waiting.discard(self)
        if self._waiting:
            with self._patience(self._waiting_of):
                self._checked(*self._ask(messages.CatchUp(), []))

    def _forget_waiting(self) -> None:
        waiting.discard(self)
        self._waiting, self._open, self._lead = [], None, 0
        self._made = self._told = None

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
        """Call a handle; return its value and those tensors among the arguments that it changed.

        `of` is the required name that the call is made of; `makes` says that it is a class.
        """
        if self._waiting_of != of:
            self.catch_up()
        self.asked_of = of
        self.called.add(of)
        if method == "state_dict" and not (args or kwargs) and self._made == (target, of):
            self._asked_state.add(of)
            if self._told is not None and self._told[0] == target:
                _, decoder, data = self._told
                self._made = self._told = None
                return self._observe(State(self._decode(decoder, data)), decoder).value, []
        elif self._made is not None:
            self._asked_state.discard(self._made[1])
        encoder = self._encoder()
        lead = self._lead
        grad = torch.is_grad_enabled()
        request = messages.Call(
            target=target,
            method=method,
            args=encoder.encode(tuple(args)),
            kwargs=encoder.encode(dict(kwargs)),
            tensors=encoder.tensors,
            grad=None if self.as_left else grad,
            state=makes and of in self._asked_state,
        )
        if not grad:
            for head in encoder.tensors[lead:]:
                head.requires_grad = False
        with self._patience(of):
            if self.stopwatch is None and self.recorded is None and can_share(encoder.tensors[lead:]):
                lent = self._lend(encoder.buffers)
                request.shared, request.place = lent.size, lent.place
                reply, payload = self._ask(request, [], lent)
                seen = lent.changed(encoder.tensors)
            else:
                reply, payload = self._ask(request, encoder.buffers)
                seen = set()
        done = self._checked(reply, payload)
        decoder = self._decoder(done, payload)
        value = self._decode(decoder, done.value)
        tells_state = target in self._states or method in _TELL_STATE
        self._observe(State(value) if tells_state else value, decoder, payload)
        self._advance(encoder.generators, decoder, done.generators)
        if makes and isinstance(value, RemoteObject) and facts_of(value).plain:
            self._made = handle_of(value), of
            self._told = (handle_of(value), decoder, done.state) if done.state is not None else None
        if done.graph is not None and grad:
            inputs = [tensor for tensor in encoder.sent[lead:] if tensor.requires_grad]
            value = attach(self, done.graph, value, inputs)
        told = {index for index in done.changed if index < len(encoder.sent)}
        changed = [encoder.sent[index] for index in sorted(seen | told) if index >= lead]
        return value, changed

    def backward(
        self, graph: int, cotangents: list[torch.Tensor | None], of: str = ""
    ) -> list[torch.Tensor | None]:
        """Push cotangents through a graph in the worker; return the gradients of the call's inputs."""
        if self._waiting_of != of:
            self.catch_up()
        self.asked_of = of
        encoder = self._encoder()
        data = encoder.encode(cotangents)
        request = messages.Backward(graph=graph, cotangents=data, tensors=encoder.tensors)
        value = self._value(*self._ask(request, encoder.buffers))
        if not isinstance(value, list) or not all(
            part is None or isinstance(part, torch.Tensor) for part in value
        ):
            self.violation("its gradients are invalid")
        return value

    def forget(self, number: int, generation: int) -> None:
        """Let the worker drop a handle or graph with the next request."""
        if generation == self.generation and len(self._release) < 10_000:
            self._release.append(number)

    @contextmanager
    def unnoted(self) -> Iterator[None]:
        """Forget what is answered inside, for recognising a mistake; an exception that ends it counts."""
        self.catch_up()
        noted, nbytes = len(self.observed), self._observed_bytes
        yield
        self.catch_up()
        del self.observed[noted:]
        self._observed_bytes = nbytes

    # ------------------------------------------------------------------------------------------------------------

    @contextmanager
    def _patience(self, name: str) -> Iterator[None]:
        """Wait for a call of a required name for as long as the check has; for less, if it once did not answer."""
        kept, short_s = self.deadline, max(self.terms.check_timeout_s / HUNG_PART, 1.0)
        shortened = name in self._hung and kept.left() > short_s and self.process is not None
        if shortened and self.process is not None:
            self.deadline = Deadline(short_s)
            self.deadline.follow(self.process.pid)
        try:
            yield
        except BudgetSpent:
            raise
        except WorkerTimeout:
            self._hung.update({name} - {""})
            if shortened:
                raise StillHangs(name, short_s) from None
            raise
        finally:
            self.deadline = kept

    def _take_uses(self, request: messages.Request) -> None:
        """Read which operators were used in one exchange: they count where a check called for it."""
        assert self._channel is not None
        within = self.terms.within
        counts = not isinstance(request, messages.Load) and (not within or self.asked_of in within)
        data, closed = self._channel.take_uses()
        for name, line in uses.read(data, self._operators) if self._operators else ():
            if counts or name == uses.CLOSED:
                self._uses[name] = self._uses.get(name) or line
        if closed and self._operators:
            self._uses.setdefault(uses.CLOSED, 0)

    def _lend(self, buffers: list[Any]) -> SharedArguments:
        """Put arguments where the worker can change them."""
        lent = self._shared.lend(buffers) if self._shared is not None else None
        if lent is None:  # none yet, or it is full
            self._share_no_more()
            self._shared = Shared()
            lent = self._shared.lend(buffers)
        assert lent is not None
        return lent

    def _share_no_more(self) -> None:
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def _start(self) -> None:
        self.generation += 1
        if self.recorded is not None:
            self.recorded = []
        self._share_no_more()
        self._forget_waiting()
        self._release.clear()
        self._proxies.clear()
        self._named.clear()
        self._begin = None
        terms = self.terms
        folders = (self.source.path.parent, *terms.read, *filter(None, (terms.given, terms.support)))
        job = Job(
            read=tuple(map(str, folders)),
            memory_bytes=terms.memory_bytes,
            device=self._device,
            gpu_bytes=terms.gpu_bytes,
            preload=terms.preload,
        )
        started = time.monotonic()
        self._tell(START_S + self.deadline.left())
        process = self._launcher.launch(job)
        self._channel = Channel(process)
        try:
            reached = self._channel.hello(Deadline(max(self.deadline.left(), START_S)))
        except (WorkerDied, WorkerTimeout) as error:
            how = error.how if isinstance(error, WorkerDied) else "was not ready in time"
            raise MachineFault(
                f"A worker could not get ready: before it saw the submission, it {how}.",
                self._channel.take_output().strip() or None,
            ) from error
        process.celled = reached == "full"
        if self._on_start is not None:
            self._on_start(process)
        self.isolation = reached
        ours = time.monotonic() - started  # starting a worker is not the learner's time
        self.deadline.extend(ours)
        self.deadline.follow(process.pid)
        if self.generation == 1:  # what makes us start another is the submission's own affair
            self._ends.extend(ours)
        self._tell(self.deadline.left())
        if terms.forbid:
            watch = messages.Watch(operators=self._operators, path=str(self.source.path))
            self._checked(*self._ask(watch, []))
        request = messages.Load(
            module=terms.module,
            path=str(self.source.path),
            size=len(self.source.data),
            notebook=self.source.is_notebook,
            given=str(terms.given) if terms.given else None,
            support=str(terms.support) if terms.support else None,
            required=list(terms.required),
        )
        reply, payload = self._ask(request, [self.source.data])
        try:
            self._checked(reply, payload)
        except SubmissionRaised:
            self._channel.close()
            raise

    def _ask(
        self, request: messages.Request, buffers: list[Any], arguments: SharedArguments | None = None
    ) -> tuple[messages.AnyReply, bytearray]:
        """Send a request and return its answer; meanwhile answer what the worker asks of what is lent."""
        channel = self._channel
        if channel is None or not channel.alive:
            raise WorkerDied("had ended already")
        if self._answering:
            raise PackError("a lent function may not call the submission: it is in the middle of a call")
        put_off, self._waiting = self._waiting, []
        if put_off:
            buffers = self._put_before(request, put_off, buffers)
        self._made = self._told = None
        request.release, self._release = self._release, []
        request.begin, self._begin = self._begin, None
        request.alike = request.begin is not None and self._alike
        if self.recorded is not None:
            self.recorded.append(b"".join(messages.pack(request, buffers)))
        shared = self._shared if arguments is not None else None
        descriptor = shared.descriptor if shared is not None and not shared.sent else None
        try:
            if self.stopwatch is not None:
                channel.attend(self.deadline)  # so that a look that is due now does not fall into the sample
            with self.stopwatch.sample() if self.stopwatch is not None else _UNTIMED as sample:
                reply, payload = channel.ask(request, buffers, self.deadline, descriptor)
                if shared is not None and arguments is not None:
                    shared.sent = True
                    shared.hold(request.id, arguments)
                while isinstance(reply, messages.Ask):
                    answer, lent = self._answer(reply, payload)
                    reply, payload = channel.ask(answer, lent, self.deadline)
        except (WorkerDied, WorkerTimeout) as error:
            if isinstance(error, WorkerDied):
                self.doubtful, self.killed = True, self.killed or error.killed
            self._take_uses(request)
            raise
        if sample is not None:
            sample.sent, sample.received = sum(memoryview(buffer).nbytes for buffer in buffers), len(payload)
        if reply.free and self._shared is not None:
            self._shared.take_back(reply.free)
        self._take_uses(request)
        self._settle(put_off, reply)
        if (refusal := self._loans.take_refusal()) is not None:
            raise refusal
        return reply, payload

    def _put_before(self, request: messages.Request, put_off: list[PutOff], buffers: list[Any]) -> list[Any]:
        """Let a request make the calls that wait; return the tensors to send with it."""
        assert self._open is not None
        waiting.discard(self)
        request.before, request.lead = [one.before for one in put_off], self._lead
        if request.tensors is not self._open.tensors:  # it has none of its own
            request.tensors, buffers = self._open.tensors, self._open.buffers
        self._open, self._lead = None, 0
        return buffers

    def _settle(self, put_off: list[PutOff], reply: messages.AnyReply) -> None:
        """Note what became of calls that waited."""
        failed = reply.before if isinstance(reply, messages.Raised) else -1
        if failed >= len(put_off):
            self.violation("it reported an exception of a call that was not made")
        for one in put_off if failed < 0 else put_off[:failed]:
            one.made()
        if failed >= 0:
            put_off[failed].raised()
            del self.observed[put_off[failed].noted :]

    def _answer(self, ask: messages.Ask, payload: bytearray) -> tuple[messages.Answer, list[Any]]:
        function = self._loans.find(ask.function)
        if function is None:
            self.violation("it called a function that was not lent to it, or called it too often")
        decoder = self._decoder(ask, payload)
        arguments = self._decode(decoder, ask.value)
        if not isinstance(arguments, list):
            self.violation("it called a function with invalid arguments")
        self._observe(arguments, decoder, payload)
        encoder = self._encoder()
        self._answering = True
        try:
            with torch.no_grad():
                value = encoder.encode(function(*arguments))
        except Exception as error:  # the call goes on to its end, so that the worker stays of use
            self._loans.refusal = self._loans.refusal or error
            return messages.Answer(refused=True), []
        finally:
            self._answering = False
        return messages.Answer(value=value, tensors=encoder.tensors), encoder.buffers

    def _encoder(self) -> Encoder:
        return self._open or Encoder(self._handle, towards_worker=True, lend=self._loans.number)

    def _value(self, reply: messages.AnyReply, payload: bytearray, attribute: bool = False) -> Any:
        done = self._checked(reply, payload, attribute)
        decoder = self._decoder(done, payload)
        return self._observe(self._decode(decoder, done.value), decoder, payload)

    def _observe(self, value: Any, decoder: Decoder | None = None, payload: bytes | bytearray = b"") -> Any:
        if len(self.observed) < MAX_OBSERVED:
            nbytes = len(payload) + (decoder.steps * PART_BYTES if decoder is not None else 0)
            fits = self._observed_bytes + nbytes <= MAX_OBSERVED_BYTES
            self._observed_bytes += nbytes if fits else 0
            self.observed.append(value if fits else "more than is kept")
        return value

    def _checked(
        self, reply: messages.AnyReply, payload: bytearray, attribute: bool = False
    ) -> messages.Done:
        if isinstance(reply, messages.Done):
            return reply
        if isinstance(reply, messages.Raised):
            if not could_be(reply.bases):
                self.violation("its exception has a class that cannot exist")
            missing = attribute and reply.before < 0 and reply.bases[0] == "AttributeError"
            kind = SubmissionMissing if missing else SubmissionRaised
            raised = kind(reply, self.terms.memory_bytes)
            self._observe(raised)
            self.doubtful |= not _SHORT.isdisjoint(reply.bases) or "can't start new thread" in reply.message
            if raised.type_name == "OutOfMemoryError":  # torch's own, of an accelerator's memory
                raised.memory_bytes = self.terms.gpu_bytes
            raise raised
        if isinstance(reply, messages.Unsendable):
            raise SubmissionUnsendable(reply.reason, reply.device)
        self.violation("it answered what it was not asked")

    def _decoder(self, done: messages.Done | messages.Ask, payload: bytearray) -> Decoder:
        def handle(number: int, type_name: str, kind: str) -> RemoteObject:
            if not 0 <= number < MAX_NUMBER:
                raise messages.ProtocolError("an invalid handle")
            plain = kind == "plain"
            kind = "module" if plain else kind
            known: RemoteObject | None = self._proxies.get(number)
            told = facts_of(known) if known is not None else None
            if known is None or told is None or told.kind != kind or MRO.join(told.types) != type_name:
                known = self._proxies[number] = RemoteObject(self, number, type_name, kind)
            facts_of(known).plain = plain
            return known

        return Decoder(done.tensors, payload, handle, present=known)

    def _decode(self, decoder: Decoder, data: Any) -> Any:
        try:
            with messages.Uncollected():
                return decoder.decode(data)
        except messages.ProtocolError as error:
            self.violation(str(error))

    def _advance(self, generators: list[torch.Generator], decoder: Decoder, states: list[int]) -> None:
        if not states:
            return
        try:
            for generator, index in zip(generators, states, strict=True):
                generator.set_state(decoder.tensor(index))
        except (messages.ProtocolError, ValueError, RuntimeError, TypeError):
            self.violation("its random states are invalid")

    def violation(self, what: str) -> NoReturn:
        """End a worker whose answer makes no sense."""
        assert self._channel is not None
        self._channel.violation(what)

    def _handle(self, value: Any) -> tuple[int, str, str] | None:
        return (handle_of(value, self), "", "") if isinstance(value, RemoteObject) else None


def _not_lent(*_: object) -> None:
    raise RuntimeError("the check does not answer this call")


def _kept(found: Any) -> bool:
    """Tell whether this is the submission's own function or class, of which a worker has one all its life."""
    return isinstance(found, RemoteObject) and facts_of(found).kind in ("function", "class")
