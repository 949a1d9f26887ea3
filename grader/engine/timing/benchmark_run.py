"""Where a submission and the baseline take turns: fresh processes, one core, never both awake.

Nothing of a round exists before its turn begins: inputs are drawn from the system's randomness, in the grader, and are
sent when the clock starts. It stops when the last byte of the answer is here, so nothing can be handed in later; then
the worker is frozen until its next turn. See docs/performance.md.
"""

from __future__ import annotations

import contextlib
import math
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import torch

from grader.devices import Device
from grader.engine.checks.draw import Draw
from grader.engine.checks.failure import fail, fail_policy
from grader.engine.host.calls import Calls
from grader.engine.host.deadline import Deadline, Sample, Span, Stopwatch
from grader.engine.host.errors import SubmissionRaised, WorkerTimeout
from grader.engine.host.launcher import Launcher, WorkerProcess
from grader.engine.host.remote import RemoteSubmission, context_of
from grader.engine.host.session import Session
from grader.engine.host.source import Source, Terms
from grader.engine.timing import cores, device, monitors
from grader.engine.timing.monitors import ChildProcessDetector
from grader.engine.timing.work import Work

KERNEL = "grader.engine.worker.calibration_kernel"
TRACING = "grader.engine.worker.tracing"
LEAST_WORK_S = 0.01
LEAST_WORK_ACCELERATED_S = 0.005
"""A turn repeats its call until the baseline's would take so long."""
MOST_CALLS = 8
WARM_CALLS = 2
"""Before anything counts: the first meets caches and memory that are cold."""
WARM_S = 6.0
"""For them: what is not through by then is too slow for everything that is graded here."""
PATIENCE_S = 60.0
"""For everything that is not timed, and for the baseline."""
SUBMISSION_S = 600.0
"""Of a worker that is timed, over all its turns."""
PACE_BYTES = 1 << 24
PACE_WIDTH = 512
MOST_TRACED = 20_000
"""Operators: who calls more of them in a call calls them in a loop, and that is all there is to say."""
TRACE_S = 10.0
"""For a call that is traced, which takes much longer than one that is not."""
EMPTY_SAMPLES = 5
"""Empty exchanges before anything is timed; the shortest is subtracted, and each turn of the baseline adds one.

The shortest, since it is subtracted: one that a neighbour made longer would turn a call's time into nothing.
"""


class TurnTimeout(Exception):
    """Raised when the submission's turn was cut off after so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"cut off after {seconds:g} s")
        self.seconds = seconds


@dataclass(frozen=True)
class BenchmarkConfig:
    """Configuration of all benchmark runs of one submission."""

    launcher: Launcher
    submission: Source
    baseline: Source
    terms: Terms
    calls: Calls
    """Where the submission's calls are noted, for messages."""
    device: str = "cpu"

    @property
    def on(self) -> Device:
        """The device."""
        return Device(self.device)

    @property
    def kind(self) -> str:
        """Its kind: cpu, cuda or another accelerator's."""
        return self.on.kind


@dataclass(frozen=True)
class Turn:
    """What a turn took, in seconds per call."""

    seconds: float
    calls: int


@dataclass(frozen=True)
class MachineSpeed:
    """Speed of this core: seconds per byte of memory traffic and per floating-point operation of a product."""

    byte: float
    flop: float


class TimedWorker:
    """A worker that is timed: its prepared objects and its clock."""

    def __init__(
        self,
        setting: BenchmarkConfig,
        source: Source,
        calls: Calls,
        core: frozenset[int] | None,
        preload: tuple[str, ...] = (),
    ) -> None:
        terms = replace(
            setting.terms,
            submission_timeout_s=SUBMISSION_S,
            check_timeout_s=PATIENCE_S,
            preload=(*setting.terms.preload, *preload),
        )
        self.scale: monitors.PeakMemoryMonitor | None = None
        """Set since before anything of the module was loaded."""
        self._helpers: ChildProcessDetector | None = None
        # Entered in `on_start`, left by `start`: memory is watched from before the module is loaded until it
        # is.
        self._looks = ExitStack()
        self.taken_before = 0
        """Bytes of its device that were taken when it had met that and nothing of the module was loaded."""
        self._waits_count = not setting.on.accelerates

        def on_start(process: WorkerProcess) -> None:
            cores.pin(process.pid, core)  # threads that are started later inherit it
            self._helpers = ChildProcessDetector(process.pid)
            self.scale = monitors.PeakMemoryMonitor(process.pid)
            # From before the module is loaded: what it takes at import is its memory as well.
            self._looks.enter_context(self.scale.watching())
            self.taken_before = setting.on.taken_by_others()

        self.session = Session(setting.launcher, source, terms, device=setting.device)
        self.session.on_start = on_start
        self.calls = calls
        self.kata = RemoteSubmission(self.session, self.calls)
        self._prepared: dict[tuple[int, int], Any] = {}

    def start(self) -> None:
        """Start the worker, load the module, and freeze both until a turn."""
        # Memory is watched until it is loaded; then only during the turns that ask for it.
        with self._looks:
            self.session.begin(secrets.randbits(40), PATIENCE_S)
            self.session.sync()
            self.freeze()
        assert self._helpers is not None
        # What the module started while it was imported was not timed.
        self._helpers.accept_collected()

    def freeze(self) -> None:
        """Let the worker do nothing."""
        if self.session.process is not None:
            self.session.process.freeze()

    def thaw(self) -> None:
        """Wake it, and wait until it has done what it had left to do."""
        if self.session.process is not None:
            self.session.process.thaw()
        self.session.deadline = Deadline(PATIENCE_S)
        self.session.sync()

    def prepared(self, work: Work, size: int) -> Any:
        """Return what the work's calls need, made once per size."""
        if work.prepare is None:
            return self.kata
        key = (id(work), size)
        if key not in self._prepared:
            self._prepared[key] = work.prepare(self.kata, size)
        return self._prepared[key]

    def timed(self, perform: Any, patience_s: float) -> tuple[Any, Span, list[Sample]]:
        """Return what `perform` returns, and the time of its exchanges."""
        session = self.session
        assert session.process is not None
        watch = session.stopwatch = Stopwatch(session.process.pid, waits_count=self._waits_count)
        session.deadline = Deadline(patience_s)
        try:
            value = perform()
        finally:
            session.stopwatch = None
        return value, *watch.take()

    def accept_children(self) -> None:
        """Do not hold against it what the grader has started since."""
        if self._helpers is not None:
            self._helpers.accept_siblings()

    def has_children(self) -> bool:
        """Return whether it has started processes: those that live, those that it collected, those that it disowned."""
        return self.session.process is not None and self._helpers is not None and self._helpers.any_seen()

    def close(self) -> None:
        """End the worker."""
        self.session.close()


class BenchmarkRun:
    """One series of turns, in fresh processes. Use it as a context manager: meanwhile the device is its own."""

    def __init__(self, setting: BenchmarkConfig) -> None:
        self.setting = setting
        self._stack = ExitStack()
        self._replica: TimedWorker | None = None
        self._empty: dict[tuple[int, int], Span] = {}
        self._calls: dict[tuple[int, int], int] = {}
        self._usual: dict[tuple[int, int], float] = {}

    def __enter__(self) -> BenchmarkRun:
        """Start both workers, the baseline's first.

        Raises:
            WorkerDied, WorkerTimeout, SubmissionRaised: the submission does not load.
        """
        with ExitStack() as stack:
            # Before the core is chosen: others may be at work until then.
            stack.enter_context(device.exclusive_lock(self.setting.device))
            core = self.core = stack.enter_context(cores.reserved())
            # In the baseline's process alone: a submission that saw it would know that it is being timed.
            self.baseline = self._enter(stack, self.setting.baseline, Calls(), core, (KERNEL,))
            self._kernel = self._given(self.baseline)
            self.submission = self._enter(stack, self.setting.submission, self.setting.calls, core)
            # Speed checks compare values: graphs would cost both sides memory and time.
            stack.enter_context(torch.no_grad())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End both."""
        self._stack.close()

    def warm(self, work: Work, size: int, patience_s: float | None = None) -> None:
        """Let both do calls that do not count, and find out how many make a turn: the baseline's affair.

        Raises:
            TurnTimeout: the submission was not through in `patience_s`, without that `WARM_S`.
            CheckFailure: an answer was wrong.
        """
        self._turn(self.baseline, work, size, calls=WARM_CALLS, patience_s=PATIENCE_S)
        self._turn(self.submission, work, size, calls=WARM_CALLS, patience_s=patience_s or WARM_S)
        one = self._turn(self.baseline, work, size, calls=1, patience_s=PATIENCE_S)
        self._usual[id(work), size] = one.seconds
        # By the baseline: how long a turn is must not depend on what it measures.
        wanted = (LEAST_WORK_ACCELERATED_S if self.setting.on.accelerates else LEAST_WORK_S) / one.seconds
        self._calls[id(work), size] = max(1, min(MOST_CALLS, round(wanted)))

    def usual(self, work: Work, size: int) -> float:
        """Return what a call of the baseline took when it was warm."""
        return self._usual[id(work), size]

    def calls(self, work: Work, size: int) -> int:
        """Return how many calls a turn has."""
        return self._calls.get((id(work), size), 1)

    def baseline_turn(self, work: Work, size: int) -> Turn:
        """Time the baseline."""
        return self._turn(self.baseline, work, size, self.calls(work, size), PATIENCE_S)

    def submission_turn(self, work: Work, size: int, patience_s: float, clear_s: float = math.inf) -> Turn:
        """Time the submission, and check everything it answers; calls beyond `clear_s` seconds would change nothing.

        Raises:
            TurnTimeout: it took longer than `patience_s`.
            CheckFailure: an answer was wrong.
        """
        return self._turn(self.submission, work, size, self.calls(work, size), patience_s, clear_s)

    def peak_bytes(self, work: Work, size: int) -> float:
        """Return the bytes that the submission takes at its peak for one call, all that it made before included."""
        who = self.submission
        assert who.scale is not None
        with who.scale.watching():
            self.submission_turn(work, size, PATIENCE_S)
        self.look_at_policy()
        if self.setting.on.accelerates:
            # A driver says for a device what is taken in all: nobody else is on it now.
            return float(self.setting.on.taken_by_others() - who.taken_before)
        # Counted from before it was loaded: memory that it took in advance is not a gift, nor is what it gave
        # back.
        return who.scale.peak_growth()

    def look_at_policy(self) -> None:
        """Demand that nothing which the kata excludes was used while it counted, either.

        Raises:
            CheckFailure: something was.
        """
        __tracebackhide__ = True
        terms = self.setting.terms
        if not terms.forbid:
            return
        # To wake it is one more exchange, with which the record of what it used last is read.
        self.submission.thaw()
        used = self.submission.session.forbidden_uses()
        self.submission.freeze()
        if used:
            fail_policy(used, terms.advice, " while it was timed")

    def limit(self, work: Work, size: int) -> float | None:
        """Return the seconds that this core cannot go below, measured now; None where the author does not say."""
        seconds = []
        if work.traffic is not None:
            # Half, since a copy reads and writes; at least a page, or it would time the call alone.
            nbytes = max(int(work.traffic(size)) // 2, 1 << 12)
            seconds.append(self._measure(lambda: self._kernel.copy(nbytes, self.setting.device)))
        if work.flops is not None:
            # Large enough to reach the core's pace, small enough to take milliseconds; scaled to the work
            # below.
            width = max(64, min(1024, round((work.flops(size) / 2) ** (1 / 3))))
            one = self._measure(lambda: self._kernel.product(width, self.setting.device))
            seconds.append(one * work.flops(size) / (2 * width**3))
        return max(seconds, default=None)

    def pace(self) -> MachineSpeed:
        """Return what this core does at its best, measured now."""
        nbytes, width = PACE_BYTES, PACE_WIDTH
        moved = self._measure(lambda: self._kernel.copy(nbytes, self.setting.device))
        product = self._measure(lambda: self._kernel.product(width, self.setting.device))
        return MachineSpeed(moved / (2 * nbytes), product / (2 * width**3))

    def _enter(
        self,
        stack: ExitStack,
        source: Source,
        calls: Calls,
        core: frozenset[int] | None,
        preload: tuple[str, ...] = (),
    ) -> TimedWorker:
        who = TimedWorker(self.setting, source, calls, core, preload)
        stack.callback(who.close)
        who.start()
        return who

    def _given(self, who: TimedWorker) -> Any:
        who.thaw()
        found = context_of(who.kata).given(KERNEL)
        found.echo  # noqa: B018 - looked up once, while nobody counts
        who.freeze()
        return found

    def _turn(
        self,
        who: TimedWorker,
        work: Work,
        size: int,
        calls: int,
        patience_s: float,
        clear_s: float = math.inf,
    ) -> Turn:
        # Inputs that nobody can know beforehand, other ones for each call: no answer can be kept ready.
        draws = [Draw(secrets.randbits(60), work.axis, self.setting.device) for _ in range(calls)]
        cases = [work.inputs(draw, size) for draw in draws]
        results: list[tuple[Any, Any]] = []
        spans: list[Span] = []
        who.calls.clear()
        try:
            with self._patience(who, patience_s):
                who.thaw()
                prepared = who.prepared(work, size)
                for case in cases:
                    state = work.begun(prepared, case)
                    # What the last call left to do, such as freeing its arguments, must not fall into this
                    # one.
                    who.session.sync()
                    left = patience_s - sum(span.wall for span in spans)
                    result, span, samples = who.timed(partial(work.call, state, *case), max(left, 0.0))
                    results.append((result, case))
                    spans.append(span)
                    if sum(span.wall for span in spans) > clear_s:
                        break
                if who is self.baseline:
                    self._learn(work, size, samples)
        finally:
            who.freeze()
        if who is self.submission:
            # After the turn, so that comparing takes none of its time.
            self._look_at(who, work, results, size)
        empty = self._empty.get((id(work), size), Span(0.0, 0.0))
        return Turn(sum(span.net(empty) for span in spans) / len(spans), len(spans))

    def _patience(self, who: TimedWorker, patience_s: float) -> contextlib.AbstractContextManager[None]:
        return _cut_off(patience_s) if who is self.submission else contextlib.nullcontext()

    def _look_at(self, who: TimedWorker, work: Work, results: Sequence[tuple[Any, Any]], size: int) -> None:
        __tracebackhide__ = True
        # Another process would have computed on a core on which nobody looks at the clock.
        if who.has_children():
            fail(
                "started another process while it was timed",
                "  the work of a timed call is done by one process, in one thread: "
                "leave subprocess and multiprocessing out",
                stage="speed",
            )
        if not work.asks_afterwards:
            for result, case in results:
                work.verify(result, case, None)
            return
        # Another worker: the one that was timed could have answered with anything, and would now stand by
        # it.
        replica = self._replica_of_submission()
        replica.thaw()
        try:
            prepared = replica.prepared(work, size)
            for result, case in results:
                work.verify(result, case, prepared)
        finally:
            replica.freeze()

    def _replica_of_submission(self) -> TimedWorker:
        """Return another worker of the submission, which has seen nothing of what was timed."""
        if self._replica is None:
            # The one that was timed could answer quickly with anything, and afterwards say that again. This one
            # is on no core of its own: to code that asks the system where it may run it is like the processes
            # of any other check.
            self._replica = self._enter(self._stack, self.setting.submission, self.setting.calls, None)
            # The replica descends from the same zygote, and is not a helper of the submission's.
            self.submission.accept_children()
        return self._replica

    def _learn(self, work: Work, size: int, samples: list[Sample]) -> None:
        """Measure what the same exchanges take without work: bytes there, bytes back."""
        key = (id(work), size)
        known = self._empty.get(key)
        times = EMPTY_SAMPLES if known is None else 1
        taken = {
            crossed: self._echo(*crossed, times)
            for crossed in {(sample.sent, sample.received) for sample in samples}
        }
        spans = [taken[sample.sent, sample.received] for sample in samples]
        found = Span(sum(span.wall for span in spans), sum(span.cpu for span in spans))
        self._empty[key] = found if known is None else known.least(found)

    def _echo(self, sent: int, received: int, times: int) -> Span:
        payload = torch.ones(max(sent, 1), dtype=torch.uint8, device=self.setting.device)
        empty = partial(self._kernel.echo, payload, max(received, 1))
        empty()  # makes what it sends back
        return reduce(Span.least, (self.baseline.timed(empty, PATIENCE_S)[1] for _ in range(times)))

    def _measure(self, perform: Any, times: int = 3) -> float:
        """Return the seconds of a calibration kernel, the shortest of a few: a limit is what nothing goes below."""
        self.baseline.thaw()
        try:
            perform()
            samples = [self.baseline.timed(perform, PATIENCE_S)[1] for _ in range(times)]
        finally:
            self.baseline.freeze()
        return min(max(span.wall, span.cpu) for span in samples)


def traced(setting: BenchmarkConfig, work: Work, sizes: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Yield each size, and what the submission says that a call asked of torch: see `grader.engine.worker.tracing`.

    Raises:
        WorkerDied, WorkerTimeout, SubmissionRaised, SubmissionUnsendable: it does not load or run.
    """
    # A worker of its own, after the verdict: tracing slows every operator, and this one is timed by nobody.
    who = TimedWorker(setting, setting.submission, Calls(), None, (TRACING,))
    try:
        who.start()
        who.thaw()
        tracing = context_of(who.kata).given(TRACING)
        with torch.no_grad():
            for size in sizes:
                case = work.inputs(Draw(secrets.randbits(60), work.axis, setting.device), size)
                prepared = who.prepared(work, size)
                state = work.begun(prepared, case)
                who.session.deadline = Deadline(TRACE_S)
                tracing.begin(MOST_TRACED)
                with contextlib.suppress(SubmissionRaised):  # it is ended when that is enough
                    work.call(state, *case)
                yield size, tracing.end()
    finally:
        who.close()


@contextlib.contextmanager
def _cut_off(seconds: float) -> Any:
    try:
        yield
    except WorkerTimeout:
        raise TurnTimeout(seconds) from None
