"""One submission under examination: its worker, its clock, and what has become of its calls."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import torch

from grader.devices import known
from grader.engine.host.calls import CallbackRegistry, CallRecord, CallStats, CheckLog, State
from grader.engine.host.channel import Answer, AnswerDigest, Channel, OffScript
from grader.engine.host.deadline import Deadline, Sample, Stopwatch
from grader.engine.host.errors import (
    BudgetSpent,
    SubmissionMissing,
    SubmissionRaised,
    SubmissionUnsendable,
    WorkerDied,
    WorkerTimeout,
    is_valid_mro,
)
from grader.engine.host.launcher import Launcher, WorkerConfig, WorkerProcess
from grader.engine.host.objects import RemoteObject, attach, handle_id, is_definition, state_of
from grader.engine.host.patience import Patience
from grader.engine.host.policy import excluded_names, uses_listed
from grader.engine.host.script import MAX_SCRIPT, RecordedPass, Script, Scripts
from grader.engine.host.source import Source, Terms, innermost
from grader.engine.wire import messages, uses
from grader.engine.wire.codec import MRO, Decoder, Encoder
from grader.errors import MachineFault, PackError

PART_BYTES = 64
"""What each part of a list, tuple or dict is taken to weigh, of what is kept to recognise a mistake by."""
MAX_NUMBER = 1 << 31
"""Handles are numbers that a worker counts up."""
START_S = 30.0
"""How long a worker may take to be ready; a fresh interpreter imports torch first."""


SLOWER, SLOWEST_S, MORE = 10.0, 1.0, 1 << 20
"""A script may take so many times as long as the check did, at least this long, and so many bytes more."""
_UNTIMED: AbstractContextManager[Sample | None] = nullcontext()
_SHORT = frozenset({"OSError", "MemoryError"})
"""What is raised where a system has too little of something: by a submission's fault or the machine's."""


_TELL_STATE = frozenset(
    {"state_dict", "load_state_dict", "named_parameters", "parameters", "named_buffers", "buffers"}
)


class Session:
    """Hold a live worker with the submission loaded; replace it after a death. Grader side."""

    def __init__(
        self,
        launcher: Launcher,
        source: Source,
        terms: Terms,
        *,
        device: str = "cpu",
        tell: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self.source = source
        self.terms = terms
        self._launcher = launcher
        self._device = device
        self._tell = tell
        """Told how many seconds it may be until the next check begins."""
        self.on_start: Callable[[WorkerProcess], None] | None = None
        """Told of every worker before it sees the submission."""
        self.stopwatch: Stopwatch | None = None
        """Times every exchange while it is set."""
        # What holds from one check to the next.
        self._past = CallStats()
        """What became of calls in earlier checks."""
        self._by_script = True
        """Whether scripts are sent: not to a submission that once did more than reply."""
        self.isolation = "none"
        self.doubtful = False
        """Whether something ended as it also would on a machine that has run out of what it needs."""
        self.killed = False
        """Whether a worker was ended by SIGKILL that was not ours."""
        self._ends = Deadline(terms.submission_timeout_s)
        self.patience = Patience(source, terms.required)
        self._uses: dict[str, int] = {}
        """Forbidden operators that were used, with the line where it is known."""
        self.users: set[str] = set()  # the required names in whose calls that was; all where nobody knows
        self.around: dict[str, int] = {}
        """What was asked for that may lead around what is excluded, with the line where it is known."""
        # What belongs to the running check.
        self.deadline, self._limit_s = Deadline(math.inf), math.inf
        self.log = CheckLog()
        """What it asked for, and what the worker answered."""
        self.stats = CallStats()
        """What became of its calls."""
        self.off_script = False
        """Whether it made another request than its script."""
        self.asked_of = ""
        """The required name that the running call is made of; it says whose a use is where only some are watched."""
        self._as_left = self._same_tensors = False
        self.iterated = False
        """Whether the latest call returned an iterator, whose parts were read."""
        self._chosen = False
        """Whether it has asked for a name already."""
        self._seed, self._check, self._began = 0, 0, 0.0
        self._begin: int | None = None
        """Its seed, until the worker has been told."""
        self._alike = self._answering = False
        self._handed: set[str] = set()
        """The names that the objects among a request's values were got by."""
        self._loans = CallbackRegistry()
        # What belongs to the live worker.
        self._open = False
        """Whether what the kata excludes is there, for names that may use it."""
        self.recorded: list[bytes] | None = None
        """The requests made of it, where somebody wants to repeat them: frames, without its own requests."""
        self.generation = 0
        """Counts workers; a proxy of an earlier one is stale."""
        self._channel: Channel | None = None
        self._printed = ""
        """What the check's earlier worker printed."""
        self._release: list[int] = []
        """Handles and graphs that it may forget."""
        self._states: set[int] = set()
        """The handles of methods that tell a module's state."""
        self._named: dict[str, Any] = {}
        """The submission's functions and classes, looked up once."""
        self._required: dict[str, RemoteObject] = {}
        """Those that came with the reply to loading, not looked up yet."""
        self._proxies: WeakValueDictionary[int, Any] = WeakValueDictionary()
        """One object over there is one proxy here, so that a check may ask `layers[0] is not layers[1]`."""

    def begin(
        self, seed: int, timeout_s: float | None = None, *, alike: bool = False, keep: bool = False
    ) -> None:
        """Start a check: set its deadline, make sure that a worker is there, seed it.

        With `alike` the modules it makes get parameters that do not depend on how the submission initialises them. With
        `keep` its requests are recorded for a script.

        Raises:
            BudgetSpent, WorkerTimeout, WorkerDied, SubmissionRaised: it did not load (again).
        """
        # What the last check waited for a core that others had is given back to the whole submission, too.
        self._ends.extend(self.deadline.waited())
        left = self._ends.left()
        self._limit_s = min(timeout_s or self.terms.check_timeout_s, left)
        self.deadline = Deadline(self._limit_s)
        if left <= 0:
            raise BudgetSpent
        self.log = CheckLog()
        self._past, self.stats = self.outcomes, CallStats()
        self._forget_objects()
        self._loans = CallbackRegistry()
        self._tell(self.deadline.left())
        again = self._channel is not None
        self.asked_of, self._chosen = "", False
        if self._channel is not None and self._channel.alive:
            self.deadline.follow(self._channel.process.pid)
        else:
            self._start()
            if again:
                self.take_output()  # what is printed while loading was told the first time
        self._seed = self._begin = seed
        self._alike, self._began = alike, time.monotonic()
        self.off_script = False
        assert self._channel is not None
        self._channel.begin(seed, keep=keep)

    def _forget_objects(self) -> None:
        """Forget the objects of the last check: the worker does, and uses their numbers again."""
        self._release.clear()
        self._states.clear()
        self._check += 1
        self._proxies.clear()
        known = (*self._named.values(), *self._required.values())
        self._proxies.update({handle_id(value): value for value in known})

    @property
    def outcomes(self) -> CallStats:
        """What became of all calls."""
        return self._past | self.stats

    def renew(self) -> None:
        """Go on with the running check in a new worker, seeded alike: nothing that the submission did is left there.

        Raises:
            WorkerTimeout, WorkerDied, SubmissionRaised: it did not load again.
        """
        printed, unasked = self.take_output(), self._channel is not None and self._channel.requests == []
        self.close()
        self._start()
        self.take_output()  # what is printed while loading was told the first time
        self._printed, self._begin = printed, self._seed
        assert self._channel is not None
        # Requests to two workers make no script.
        self._channel.begin(self._seed, keep=unasked)

    def load_again(self) -> None:
        """Load the submission once more, in the live worker if there is one: what its modules have kept is gone.

        It takes a tenth of what another worker does, which the next check starts where this fails.
        """
        channel = self._channel
        if channel is None or not channel.alive:
            return
        self.generation += 1  # what is known of its objects says nothing of those to come
        self._forget_names()
        self._forget_objects()
        self.deadline = Deadline(min(self.terms.check_timeout_s, self._ends.left()))
        self.deadline.follow(channel.process.pid)
        channel.begin(0, keep=False)  # a check that failed has replies ahead of it
        try:
            self._load(channel)
        except (SubmissionRaised, WorkerDied, WorkerTimeout):
            channel.close()
        self.take_output()  # what is printed while loading was told the first time

    def _choose_worker(self, name: str) -> None:
        """Have a name asked for of a worker in which what is excluded is away, or is there, as that name may use it.

        Nothing that is away is in a worker, for somebody to find. What one check makes lives in one worker: once it
        has asked for a name that may use it, all others are asked for there as well.
        """
        open_now = name not in self.terms.within or (self._chosen and self._open)
        self._chosen = True
        if open_now != self._open:
            self._open = open_now
            started = time.monotonic()
            self.renew()
            self._ends.extend(time.monotonic() - started)  # no fault of the submission's

    def take_output(self) -> str:
        """Return what the submission printed since the last time, without the names of its folders."""
        if self._channel is None:
            return ""
        text, self._printed = self._printed + self._channel.take_output(), ""
        # They are drawn anew for every run, and warnings print them: equal runs would have unequal reports.
        for folder in (self.source.root, self._channel.process.scratch):
            if folder != folder.parent:  # the root is part of every path
                text = text.replace(f"{folder}/", "")
        return text

    def forbidden_uses(self) -> list[str]:
        """Return what calls of this check or an earlier one asked for although it is excluded.

        Where the terms say `within`, only calls of those names and what they reach count. What the submission does
        while it is loaded is a test of its own and no use.
        """
        self.log.asked_uses = bool(self.terms.forbid or self.terms.blocks)
        return uses_listed(self._uses)

    def close(self) -> None:
        """End the worker."""
        if self._channel is not None:
            self._channel.close()

    @property
    def process(self) -> WorkerProcess | None:
        """The live worker's process."""
        return self._channel.process if self._channel is not None and self._channel.alive else None

    def sync(self) -> None:
        """Exchange something trivial, so that what the worker had left to do is done; for before a clock starts."""
        self.get(messages.MODULE, "__name__")
        self.log.observed.clear()

    @property
    def made(self) -> int:
        """How many requests were made of the live worker, where they are recorded."""
        return len(self.recorded or ())

    def callback(self, number: int) -> Callable[..., Any]:
        """Return what the running check lends.

        Raises:
            PackError: it lends nothing of that number.
        """
        if (function := self._loans.find(number)) is None:
            raise PackError("a call asks for more than the check lends")
        return function

    # What proxies use -------------------------------------------------------------------------------------------

    def given(self, name: str) -> Any:
        """Return a module that runs next to the submission."""
        return self._value(*self._ask(messages.Import(name=name), []))

    def named(self, name: str) -> Any:
        """Return an attribute of the submission itself; functions and classes are looked up once."""
        self.log.names.add(name)
        adaptation = self.terms.adaptation
        if adaptation is not None and name in self.terms.required and name not in adaptation.own_names:
            raise PackError(
                f"it asks for {name}, which {adaptation.shim.name} does not define: list it in `not_asked`"
            )
        if self.terms.within:
            self._choose_worker(name)
        # A check asks for the same function again and again: each look-up would be an exchange of its own.
        found = self._named.get(name)
        if found is None and (required := self._required.pop(name, None)) is not None:
            # Its name came with the answer to loading.
            found = self._named[name] = self._observe(required)
        if found is None:
            found = self.get(messages.MODULE, name)
            if is_definition(found):  # of which a worker has one all its life
                self._named[name] = found
        return found

    def get(self, target: int, name: str) -> Any:
        """Return an attribute of a handle.

        Raises:
            SubmissionMissing: it has none of that name.
        """
        value = self._value(*self._ask(messages.Get(target=target, name=name), []), attribute=True)
        if name in _TELL_STATE and isinstance(value, RemoteObject):
            self._states.add(handle_id(value))
        return value

    def set(self, target: int, name: str, value: Any) -> None:
        """Set an attribute of a handle."""
        if target == messages.MODULE:
            # What was looked up is another object from here on: a stand-in takes the place of a function so.
            self._named.pop(name, None)
            self._required.pop(name, None)
            self._cannot_follow()
        encoder = self._encoder()
        data = encoder.encode(value)
        request = messages.Set(target=target, name=name, value=data, tensors=encoder.tensors)
        self._checked(*self._ask(request, encoder.buffers))

    def call(
        self, target: int, record: CallRecord, method: str | None = None
    ) -> tuple[Any, list[torch.Tensor]]:
        """Call a handle, or one of its methods such as `__len__`.

        Returns:
            What it returned, and those tensors among the arguments that it changed.
        """
        # Until the next call, whatever is used that is excluded is a use of this name's.
        of = self.asked_of = record.root
        self.log.called.add(of)
        grad = torch.is_grad_enabled()
        encoder = self._encoder()
        request = messages.Call(
            target=target,
            method=method,
            args=encoder.encode(record.args),
            kwargs=encoder.encode(record.kwargs),
            tensors=encoder.tensors,
            grad=None if self._as_left else grad,
            same_tensors=self._same_tensors,
        )
        if not grad:  # else the worker would keep a graph that nothing here can ask for
            for head in encoder.tensors:
                head.requires_grad = False
        with self._waiting(of):
            reply, payload = self._ask(request, encoder.buffers)
        # What it returned, noted before anything else can go wrong with it.
        done = self._checked(reply, payload)
        decoder = self._decoder(done, payload)
        value = self._decode(decoder, done.value)
        tells_state = target in self._states or method in _TELL_STATE
        if not tells_state:
            self.stats.note(record, value)
        self._observe(State(value) if tells_state else value, decoder, payload)
        # What it did besides: drew random numbers, recorded gradients, changed its arguments.
        self._advance(encoder.generators, decoder, done.generators)
        self.iterated = done.iterated
        if done.graph is not None and grad:
            inputs = [tensor for tensor in encoder.sent if tensor.requires_grad]
            value = attach(self, done.graph, value, inputs)
        return value, [
            encoder.sent[index] for index in sorted(set(done.changed)) if index < len(encoder.sent)
        ]

    def backward(
        self, graph: int, cotangents: list[torch.Tensor | None], of: str = ""
    ) -> list[torch.Tensor | None]:
        """Push cotangents through a graph in the worker; return the gradients of the call's inputs."""
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

    @property
    def age(self) -> tuple[int, int]:
        """Which worker and which check this is: numbers of graphs mean nothing in others."""
        return self.generation, self._check

    def forget(self, number: int, age: tuple[int, int]) -> None:
        """Let the worker drop a graph with the next request."""
        if age == self.age and len(self._release) < 10_000:
            self._release.append(number)

    # Scripts ------------------------------------------------------------------------------------------------------

    def note_pass(self, scripts: Scripts, check: str, seed: int) -> None:
        """Record the conversation with which the check has just passed, if a later one can be like it."""
        channel, log = self._channel, self.log
        if channel is None or not channel.is_silent() or self._uses or self.around:
            return
        if channel.requests and sum(map(len, channel.requests)) < MAX_SCRIPT:
            noted = frozenset(log.names), frozenset(log.called), log.asked_uses, self.stats
            recorded = RecordedPass(tuple(channel.requests), tuple(channel.replies.all), *noted)
            script = scripts.add(check, seed, self._open, recorded)
            script.seconds = max(script.seconds, time.monotonic() - self._began)
            script.most = max(script.most, channel.replies.size)

    def note_failure(self, scripts: Scripts, check: str, seed: int) -> None:
        """Record up to where the conversation in which the check has just failed was like one of those it passed."""
        script = scripts.find(check, seed)
        if script is not None and self._channel is not None and self._channel.requests:
            script.add_failure(self._channel.requests)

    def follow(self, script: Script) -> bool:
        """Send a check's script; return whether a submission has passed with these replies.

        If none has, the check that is run next finds the replies in place, and no call is made twice.

        Raises:
            WorkerTimeout, WorkerDied, SubmissionRaised: it did not load again, where the check needs another worker.
        """
        if not self._by_script:
            return False
        if script.opened != self._open:
            self._open = script.opened
            self.renew()
        channel = self._channel
        assert channel is not None
        # Enough for a slow submission; one that hangs gets the check's whole time later, call by call.
        patience = self.deadline.within(max(script.seconds * SLOWER, SLOWEST_S))
        replies, passes, place = AnswerDigest(), script.passes, 0
        # Those that made the same requests so far, and had the same replies, go on alike.
        while passes and place < len(passes[0].requests):
            if not (frames := script.next_requests(passes, place)):
                return False
            answers = self._sent(frames, MORE + 4 * script.most - replies.size, patience)
            if not answers:
                return False
            for answer in answers:
                replies.add(answer)
            channel.ahead.extend(zip(frames, answers, strict=True))
            place += len(frames)
            passes = [recorded for recorded in passes if recorded.replies[place - 1] == replies.all[-1]]
        if not passes:
            return False
        channel.ahead.clear()
        self._begin, passed = None, passes[0]
        self.log.names, self.log.called = set(passed.names), set(passed.called)
        self.log.asked_uses, self.stats = passed.asked_uses, CallStats() | passed.stats
        return True

    def _sent(self, frames: list[bytes], most: int, patience: Deadline) -> list[Answer]:
        """Send requests in one go and return the replies; none where a submission did more than reply."""
        channel, began = self._channel, time.monotonic()
        assert channel is not None
        answers: list[Answer] = []
        with suppress(WorkerTimeout, WorkerDied, MemoryError):
            answers = channel.ask_all(frames, most, patience)
        used, closed = channel.take_uses()
        if answers and channel.is_silent() and not (used or closed):
            return answers
        channel.take_output()
        # Call by call it shows in which call that happened, and there is the whole time again, to load as well.
        ours = time.monotonic() - began
        self.deadline.extend(ours)
        self._ends.extend(ours)
        self._by_script = False
        self.renew()
        return []

    @contextmanager
    def calling(self, *, as_left: bool = False, same_tensors: bool = False) -> Iterator[None]:
        """Let calls inside go on in the gradient mode that the submission left behind, or refill earlier tensors."""
        before = self._as_left, self._same_tensors
        self._as_left, self._same_tensors = before[0] or as_left, before[1] or same_tensors
        try:
            yield
        finally:
            self._as_left, self._same_tensors = before

    @contextmanager
    def without_fingerprint(self) -> Iterator[None]:
        """Forget what is answered inside, for recognising a mistake; an exception that ends it counts."""
        before = self.log.mark()
        yield
        self.log.back_to(before)

    @contextmanager
    def off_the_record(self) -> Iterator[None]:
        """Log nothing of what is asked inside: it explains the check's failure and is not a part of the check."""
        before, self.log = self.log, CheckLog()
        try:
            yield
        finally:
            self.log = before

    # ------------------------------------------------------------------------------------------------------------

    @contextmanager
    def _waiting(self, name: str) -> Iterator[None]:
        """Wait for a call whose arguments are encoded: as long as the check has, or less because of earlier ones."""
        deadline, involved = self.deadline, {name, *self._handed} - {""}
        wait_s = self.patience.seconds(name, involved, self._limit_s)
        shortened = wait_s < deadline.left() and self.process is not None
        if shortened and self.process is not None:
            self.deadline = Deadline(wait_s)
            self.deadline.follow(self.process.pid)
        began = time.monotonic()
        try:
            yield
        except WorkerTimeout as error:
            # A check of many calls that is slow as a whole ends in one that may be right.
            if shortened or time.monotonic() - began >= self._limit_s / 2:
                self.patience.note(name, involved, error, wait_s if shortened else math.inf)
            raise
        finally:
            self.deadline = deadline

    def _take_uses(self, request: messages.Request) -> None:
        """Read what was used in one exchange: it counts where a check called for it."""
        assert self._channel is not None
        # Read in any case: what is left in the pipe would be put down to the next exchange.
        data, closed = self._channel.take_uses()
        for name, line in uses.read(data) if self.terms.forbid or self.terms.blocks else ():
            # What a test of one's own asks for while loading is refused, and the test left out. To close the record
            # hides every later use: that counts whenever it happens.
            if name.startswith(uses.AROUND):
                self.around.setdefault(name.removeprefix(uses.AROUND), line)
            elif not isinstance(request, messages.Load) or name == uses.CLOSED:
                self._uses[name] = self._uses.get(name) or line
                self._note_user(name)
        if closed and self.terms.forbid:
            self._uses.setdefault(uses.CLOSED, 0)
            self._note_user(uses.CLOSED)

    def _note_user(self, used: str) -> None:
        required = set(self.terms.required)
        # A helper of the check calls what the check has asked for.
        users = {self.asked_of} & required or self.log.names & required
        self.users |= required if used == uses.CLOSED or not users else users

    def _forget_names(self) -> None:
        self._release.clear()
        self._proxies.clear()
        self._named.clear()
        self._required.clear()
        self._begin = None

    def _start(self) -> None:
        """Start a worker, and let it load the submission."""
        # What was known of the last worker's objects says nothing of this one's.
        self.generation += 1
        self.recorded = None if self.recorded is None else []
        self._forget_names()
        # Starting a worker is not the learner's time, except that a second one is the submission's own affair.
        started = time.monotonic()
        self._tell(START_S + self.deadline.left())
        self._channel = self._launch()
        ours = time.monotonic() - started
        self.deadline.extend(ours)
        self.deadline.follow(self._channel.process.pid)
        if self.generation == 1:
            self._ends.extend(ours)
        self._tell(self.deadline.left())
        if self.terms.forbid or self.terms.blocks:
            self._checked(*self._ask(self._watch(), []))
        self._load(self._channel)

    def _launch(self) -> Channel:
        """Return the channel to a new worker that has greeted.

        Raises:
            MachineFault: it did not get as far: that is not the submission's doing, which it has not seen.
        """
        terms = self.terms
        folders = (self.source.root, *terms.read, *filter(None, (terms.given, terms.support)))
        job = WorkerConfig(
            read=tuple(map(str, folders)),
            memory_bytes=terms.memory_bytes,
            device=self._device,
            gpu_bytes=terms.gpu_bytes,
            preload=(*terms.preload, *((self._excluded(),) if terms.forbid and not self._open else ())),
        )
        process = self._launcher.launch(job)
        channel = Channel(process)
        try:
            # At least START_S: how short a check may be says nothing of how long a fresh interpreter takes
            # to import torch.
            self.isolation = channel.hello(Deadline(max(self.deadline.left(), START_S)))
        except (WorkerDied, WorkerTimeout) as error:
            how = error.how if isinstance(error, WorkerDied) else "was not ready in time"
            raise MachineFault(
                f"A worker could not get ready: before it saw the submission, it {how}.",
                channel.take_output().strip() or None,
            ) from error
        # In a sandbox the scratch is a file system of a fixed size, and nobody has to walk through it.
        process.celled = self.isolation == "full"
        if self.on_start is not None:
            self.on_start(process)
        return channel

    def _watch(self) -> messages.Watch:
        terms = self.terms
        return messages.Watch(
            path=str(self.source.path),
            root=str(self.source.root),
            excluded=self._excluded(),
            advice=terms.advice,
            blocks=terms.blocks,
            given=str(terms.given) if terms.given else None,
        )

    def _excluded(self) -> messages.TakenAway:
        return excluded_names(() if self._open else self.terms.forbid)

    def _load(self, channel: Channel) -> None:
        terms = self.terms
        adaptation = terms.adaptation
        request = messages.Load(
            module=terms.module,
            path=str(self.source.path),
            root=str(self.source.root),
            size=len(self.source.data),
            notebook=self.source.is_notebook,
            given=str(terms.given) if terms.given else None,
            support=str(terms.support) if terms.support else None,
            required=list(terms.required),
            attributes={name: list(entries) for name, entries in terms.attributes.of.items()},
            below=list(terms.attributes.below),
            adapt=messages.Adapt(
                str(adaptation.shim),
                list(adaptation.theirs),
                dict(adaptation.given),
                {name: dict(places) for name, places in adaptation.parameters.items()},
            )
            if adaptation is not None
            else None,
        )
        try:
            reply, payload = self._ask(request, [self.source.data])
            done = self._checked(reply, payload)
        # Half loaded, the module would answer some calls: the next check begins with a new worker, and
        # hears why again.
        except SubmissionRaised:
            channel.close()
            raise
        found = self._decode(self._decoder(done, payload), done.value)
        if isinstance(found, dict):  # else names are looked up one by one
            self._required = {name: value for name, value in found.items() if is_definition(value)}

    def _cannot_follow(self) -> None:
        """Record no script of this check."""
        if self._channel is not None:
            self._channel.requests = None

    def _ask(self, request: messages.Request, buffers: list[Any]) -> tuple[messages.AnyReply, bytearray]:
        """Send a request and return its answer; meanwhile answer what the worker asks of what is lent."""
        channel = self._channel
        if channel is None or not channel.alive:
            raise WorkerDied("had ended already")
        if self._answering:
            raise PackError("a lent function may not call the submission: it is in the middle of a call")
        # What the worker is to be told at the next occasion goes along.
        request.release, self._release = self._release, []
        request.begin, self._begin = self._begin, None
        request.alike = request.begin is not None and self._alike
        if self.recorded is not None:
            # As bytes, before they are sent: a check may write over its tensors afterwards.
            self.recorded.append(b"".join(messages.pack(request, buffers)))
        # One question; before its answer the worker may ask for those of what is lent to it.
        try:
            if self.stopwatch is not None:
                # Now, so that a look that is due does not fall into the sample.
                channel.check_limits(self.deadline)
            with self.stopwatch.sample() if self.stopwatch is not None else _UNTIMED as sample:
                reply, payload = channel.ask(request, buffers, self.deadline)
                while isinstance(reply, messages.CallbackRequest):
                    answer, buffers_back = self._answer(reply, payload)
                    # The same deadline: the time of a lent function is the time of the call, however often the
                    # worker calls it.
                    reply, payload = channel.ask(answer, buffers_back, self.deadline)
        except OffScript:
            self.off_script = True
            raise
        except WorkerTimeout as error:
            error.frame = error.frame or innermost(error.trace, self.source)
            raise
        except WorkerDied as error:
            self.doubtful, self.killed = True, self.killed or error.killed
            raise
        finally:
            self._take_uses(request)  # also of one that died: what it wrote to the record it did use
        if sample is not None:
            sample.sent, sample.received = sum(memoryview(buffer).nbytes for buffer in buffers), len(payload)
        # What a lent function raised is the check's end, whatever the submission made of it.
        if (refusal := self._loans.take_refusal()) is not None:
            raise refusal
        return reply, payload

    def _answer(self, ask: messages.CallbackRequest, payload: bytearray) -> tuple[messages.Answer, list[Any]]:
        function = self._loans.find(ask.function)
        if function is None:
            self.violation("it called a function that was not lent to it, or called it too often")
        decoder = self._decoder(ask, payload)
        arguments = self._decode(decoder, ask.value)
        if not isinstance(arguments, list):
            self.violation("it called a function with invalid arguments")
        self._observe(arguments, decoder, payload)
        self._cannot_follow()  # an answer follows from what the worker asks
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
        self._handed.clear()
        return Encoder(self._handle, towards_worker=True, lend=self._loans.number)

    def _value(self, reply: messages.AnyReply, payload: bytearray, attribute: bool = False) -> Any:
        done = self._checked(reply, payload, attribute)
        decoder = self._decoder(done, payload)
        return self._observe(self._decode(decoder, done.value), decoder, payload)

    def _observe(self, value: Any, decoder: Decoder | None = None, payload: bytes | bytearray = b"") -> Any:
        steps = decoder.steps if decoder is not None else 0
        self.log.observe(value, len(payload) + steps * PART_BYTES)
        return value

    def _checked(
        self, reply: messages.AnyReply, payload: bytearray, attribute: bool = False
    ) -> messages.Done:
        if isinstance(reply, messages.Done):
            return reply
        if isinstance(reply, messages.ExceptionReply):
            # A message names the class, and `expect_raises` goes by it: a worker may claim none that Python
            # could not have.
            if not is_valid_mro(reply.bases):
                self.violation("its exception has a class that cannot exist")
            missing = attribute and reply.bases[0] == "AttributeError"
            kind = SubmissionMissing if missing else SubmissionRaised
            # Noted as an answer, too: a mistake may be known by what it raises.
            raised = kind(reply, self.terms.memory_bytes)
            self._observe(raised)
            self.doubtful |= not _SHORT.isdisjoint(reply.bases) or "can't start new thread" in reply.message
            if raised.type_name == "OutOfMemoryError":  # torch's own, of an accelerator's memory
                raised.memory_bytes = self.terms.gpu_bytes
            raise raised
        if isinstance(reply, messages.UnserializableReply):
            raise SubmissionUnsendable(reply.reason, reply.device)
        self.violation("it answered what it was not asked")

    def _decoder(self, done: messages.Done | messages.CallbackRequest, payload: bytearray) -> Decoder:
        def handle(number: int, type_name: str, kind: str) -> RemoteObject:
            if not 0 <= number < MAX_NUMBER:
                raise messages.ProtocolError("an invalid handle")
            known: RemoteObject | None = self._proxies.get(number)
            facts = state_of(known) if known is not None else None
            # A worker may say of a number what it likes: with another type it is another object.
            if known is None or facts is None or facts.kind != kind or MRO.join(facts.types) != type_name:
                known = self._proxies[number] = RemoteObject(self, number, type_name, kind)
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
                # The check's own generator goes on where the call left it, as it would in one process.
                generator.set_state(decoder.tensor(index))
        except (messages.ProtocolError, ValueError, RuntimeError, TypeError):
            self.violation("its random states are invalid")

    def violation(self, what: str) -> NoReturn:
        """End a worker whose answer makes no sense."""
        assert self._channel is not None
        self._channel.violation(what)

    def _handle(self, value: Any) -> tuple[int, str, str] | None:
        if not isinstance(value, RemoteObject):
            return None
        self._handed.add(state_of(value).root)
        return handle_id(value, self), "", ""
