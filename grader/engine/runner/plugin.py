"""The pytest plugin: fixtures that checks ask for, and one outcome per check instead of pytest's report.

A check gets the submission in a worker that is seeded for it, and all else that it may ask for.
"""

from __future__ import annotations

import hashlib
import inspect
import random
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from grader.engine.checks.causes import find_cause
from grader.engine.checks.decorators import CheckInfo
from grader.engine.checks.draw import Draw
from grader.engine.checks.failure import CheckFailure
from grader.engine.host.calls import Calls
from grader.engine.host.errors import SubmissionRaised
from grader.engine.host.remote import RemoteSubmission
from grader.engine.host.session import Session
from grader.engine.runner.failure_context import FailureContext
from grader.engine.runner.outcome import UNSAID, MessageContext, Outcome, judge, too_much
from grader.errors import MachineFault, PackError, UsageError
from grader.machine import shortage
from grader.report.report import WRONG

if TYPE_CHECKING:
    from grader.catalogue import Kata
    from grader.catalogue.file_types import Threshold
    from grader.engine.runner.failure_context import Look
    from grader.engine.timing.speed import Speed


@dataclass(frozen=True)
class RunConfig:
    """How a run is done: the same for all its submissions and checks."""

    seed: int = 0
    hidden_seed: int | None = None
    """Of hidden checks, where their draws are others' as well; None for the same."""
    fail_fast: bool = False
    name: bool = True
    """Whether mistakes are named, for which checks run again."""
    explain: bool = True
    """Whether messages say what the source tells about a failure: not needed where only passes are counted."""
    timeout_s: float | None = None
    """What a check may take; None for what its kata grants."""
    device: str = "cpu"
    tell: Callable[[float], None] = lambda seconds: None
    """Called at every stage with the seconds that it may take; beyond that the grader's own work is watched."""
    watch: Callable[[str, float], None] = lambda title, seconds: None
    """Called with the title of what is about to run, and the seconds that it may take."""
    timed_s: float = 3600.0
    """What a check of speed may take: it waits until the device is free."""
    draws: int = 3
    """How many draws of a check are tried when the reference fails them: 1 in the gate, which looks for such draws."""
    hurried: bool = False
    """Whether a person waits for the report: of several loops each is then waited for half as long as the last."""
    by_script: bool = False
    """Whether checks are sent as scripts: for a process that examines one submission after the other."""
    look: Look | None = None
    """Called with every check that goes wrong, for the person who wrote the submission: then there are no marks."""
    stopped: Look | None = None
    """Called with the check that somebody interrupts, for that person."""
    repairs: bool = False
    """Whether the place of a slip that nothing names is looked for, by trying small changes while a person waits."""


class WorkerBackend:
    """A submission in a worker."""

    def __init__(
        self, session: Session, timeout_s: float | None = None, wording: MessageContext = UNSAID
    ) -> None:
        self.calls = Calls()
        self.submission = RemoteSubmission(session, self.calls)
        self.session = session
        self.wording = wording
        self._timeout_s = timeout_s

    def begin(
        self, seed: int, limit_s: float | None = None, *, alike: bool = False, keep: bool = False
    ) -> None:
        """Start a check: clock, seeds, a live worker. `limit_s` is what it may take where nobody chose otherwise."""
        self.calls.clear()
        # A check that draws from the global generators draws the same again; not what the worker's own are to give.
        _seed_here(seed + 1)
        timeout_s = self._timeout_s or limit_s
        if timeout_s is not None:
            self.wording = replace(self.wording, timeout_s=timeout_s)
        self.session.begin(seed, timeout_s, alike=alike, keep=keep)

    def stop_worker(self) -> None:
        """End the worker."""
        self.calls.clear()
        self.session.close()

    def load_again(self) -> None:
        """Load the submission once more, so that nothing is left of what its modules have kept."""
        self.calls.clear()
        self.session.load_again()

    def rests_on_policy(self) -> bool:
        """Return whether the check called a name that may not use what the kata excludes."""
        terms = self.session.terms
        return bool(terms.forbid or terms.blocks) and (
            not terms.within or not self.session.log.called.isdisjoint(terms.within)
        )


def _seed_here(seed: int) -> None:
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    # torch.manual_seed (2.13) would also leave a note, with a whole traceback, for each kind of accelerator that is not
    # there yet: a third of a small check's time.
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(seed)


def no_reference() -> types.ModuleType:
    """Refuse: where the reference must not come."""
    raise PackError("the fixture `reference` is for hidden checks alone")


@dataclass(frozen=True)
class CheckContext:
    """What the fixtures of the running check hand out; `config` has the seed of its draw."""

    backend: WorkerBackend
    config: RunConfig
    reference: Callable[[], types.ModuleType] = no_reference
    given_speed: Speed | None = None
    """Only speed checks have it."""
    explains: bool = True
    """Whether anybody reads what caused a failure; to look for it asks the submission again."""

    @property
    def speed(self) -> Speed:
        """What decides about speed and memory.

        Raises:
            PackError: the check has no threshold.
        """
        if self.given_speed is None:
            raise PackError("the fixture `speed` is for checks with a threshold")
        return self.given_speed


FIXTURES: Mapping[str, Callable[[CheckContext, pytest.Item], Any]] = {
    "submission": lambda context, item: context.backend.submission,
    "draw": lambda context, item: Draw(context.config.seed, item.name, torch.device(context.config.device)),
    "seed": lambda context, item: context.config.seed,
    "device": lambda context, item: torch.device(context.config.device),
    "reference": lambda context, item: context.reference(),
    "speed": lambda context, item: context.speed,
}
"""What a check may ask for: the learner's module; random inputs, seeded by the run's seed and the check's name; that
seed; where inputs live; the solution (hidden checks only); what decides about speed (checks with a threshold only)."""


PASSED = Outcome("pass")


class KataPlugin:
    """Registered with pytest for one collection of checks."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []
        """What was collected, in order."""
        self.complete = False
        """Whether pytest came to the end of it."""
        self._context: CheckContext | None = None
        self._outcome = PASSED
        self.broken: list[str] = []
        self.left_out: list[pytest.Item] = []
        """What `-k` left out."""
        self._names: dict[str, set[str]] = {}
        """By the folder of the kata, which has one name where its checks are and where its hidden ones are."""
        self._wants: dict[pytest.Item, Wants] = {}

    @property
    def _now(self) -> CheckContext:
        if self._context is None:
            raise PackError("a fixture of Kata was used outside a check")
        return self._context

    def fixture(self, name: str, item: pytest.Item) -> Any:
        """Return what a fixture of Kata's is for the running check."""
        return FIXTURES[name](self._now, item)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember checks that cannot be collected."""
        if report.failed:
            self.broken.append(str(report.longrepr))

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Let `-k` find a check by the words of its title too, and remember who is there."""
        try:
            item.extra_keyword_matches.add(info_of(item).title)
        except PackError as error:
            self.broken.append(error.message)
        self._names.setdefault(item.path.parent.name, set()).add(item.name)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Demand, before `-k` leaves any out, that a check needs only checks of its own file."""
        for item in items if not self.broken else []:
            info = info_of(item)
            for verb, names in (("needs", info.needs), ("follows", info.follows)):
                for name in names:
                    if name not in self._names[item.path.parent.name]:
                        self.broken.append(
                            f"{item.path}: {item.name} {verb} {name}, and no check has that name."
                        )

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Remember what `-k` left out: the report counts them, and some mistakes are known by what they break."""
        self.left_out.extend(items)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Keep the checks and run none: `run` does, as often as it is asked."""
        self.items, self.complete = list(session.items), True
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Judge what happened, and give pytest the bare minimum (formatting a traceback takes milliseconds)."""
        error = call.excinfo.value if call.excinfo is not None else None
        if error is not None:
            self._judge(item, error)
        outcome = "passed" if error is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)  # type: ignore[arg-type]

    def run(self, item: pytest.Item, context: CheckContext) -> Outcome:
        """Run one check: directly where it uses nothing of pytest's, which is most, else through pytest's protocol."""
        self._context, self._outcome = context, PASSED
        calls = context.backend.calls
        calls.parameters = context.backend.wording.signatures
        calls.on_workers_word = bool(info_of(item).on_workers_word)
        try:
            wanted = self._wants[item] = self._wants.get(item) or wants(item)
            if wanted.plain:  # pytest's protocol takes more than half of a short check's time
                assert isinstance(item, pytest.Function)
                wrong: BaseException | None = None
                try:
                    item.obj(
                        **wanted.parameters, **{name: self.fixture(name, item) for name in wanted.fixtures}
                    )
                except BaseException as error:
                    wrong = error
                # Out of its handling: what is raised in a REPL has nothing to do with it.
                if wrong is not None:
                    self._judge(item, wrong)
            else:
                # Torn down whole: what runs next is not known yet.
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            self._context = None
        return self._outcome

    def _judge(self, item: pytest.Item, error: BaseException) -> None:
        who, look, stopped = self._now.backend, self._now.config.look, self._now.config.stopped
        if stopped is not None and isinstance(error, KeyboardInterrupt):
            stopped(FailureContext.of(item, Outcome("timeout", []), error, who.calls, who.session))
        # Neither says anything about the submission: the run ends.
        if isinstance(error, KeyboardInterrupt | MachineFault):
            raise error
        try:
            if shortage(error) is not None:
                raise error
            self._outcome = judge(
                error, who.calls, who.wording, who.session.log.observed, who.session.log.names
            )
            wrong = self._now.explains and self._outcome.status in WRONG
            if wrong and isinstance(error, CheckFailure | SubmissionRaised) and error.relations:
                # After the wording: what a relation calls is not what failed.
                with who.session.off_the_record():
                    self._outcome = replace(self._outcome, cause=find_cause(error))
        # To judge takes memory as well, and may run out of it like the check did.
        except Exception as late:
            if (help_for := shortage(late)) is None:
                raise
            self._outcome = too_much(late, help_for)
        if look is not None and self._outcome.status in WRONG:
            look(FailureContext.of(item, self._outcome, error, who.calls, who.session))


@dataclass(frozen=True)
class Wants:
    """What a check's function asks for."""

    plain: bool
    """Whether nothing of it is pytest's affair: no fixture of the author's own, no mark, no class."""
    fixtures: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


def _as_pytests(name: str) -> Any:
    """Return a fixture for pytest's own protocol."""

    def value(self: KataPlugin, request: pytest.FixtureRequest) -> Any:
        return self.fixture(name, request.node)

    return pytest.fixture(value, name=name)


for _name in FIXTURES:
    setattr(KataPlugin, _name, _as_pytests(_name))
_MARKS = frozenset({"skip", "skipif", "xfail", "usefixtures"})


def wants(item: pytest.Item) -> Wants:
    """Return what a check's function asks for."""
    if not isinstance(item, pytest.Function) or item.cls is not None:
        return Wants(plain=False)
    callspec = getattr(item, "callspec", None)
    parameters: dict[str, Any] = dict(callspec.params) if callspec is not None else {}
    own = set(inspect.signature(item.function).parameters)
    # `draw` asks for pytest's request where the check does not see it.
    fixtures = set(item.fixturenames) - set(parameters) - ({"request"} - own)
    # A name that the author's file defines may be a fixture of theirs, which pytest alone can make.
    theirs = any(hasattr(item.module, name) for name in (*fixtures, *parameters))
    marked = any(mark.name in _MARKS for mark in item.iter_markers())
    if theirs or marked or not fixtures <= FIXTURES.keys() or not FIXTURES.keys().isdisjoint(parameters):
        return Wants(plain=False)
    return Wants(True, tuple(sorted(fixtures)), parameters)


def info_of(item: pytest.Item) -> CheckInfo:
    """Return what `@check` said of a check.

    Raises:
        PackError: the function has no `@check`.
    """
    info = getattr(getattr(item, "function", None), "kata_check", None)
    if not isinstance(info, CheckInfo):
        raise PackError(f"{item.path}: {item.name} has no @check(aspect=..., points=...).")
    return info


def threshold_of(item: pytest.Item, kata: Kata) -> Threshold | None:
    """Return the threshold that a check of the kata decides by; None for a check of anything else.

    Raises:
        PackError: kata.toml has none of that name.
    """
    name = info_of(item).threshold
    if name is not None and name not in kata.speed:
        known = ", ".join(kata.speed) or "none"
        raise PackError(f"{item.path}: {item.name} names the threshold {name!r}; kata.toml has {known}.")
    return kata.speed[name] if name is not None else None


def check_seed(seed: int, name: str) -> int:
    """Return the seed of one check's worker, so that checks do not depend on which others ran."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:6], "big")


@contextmanager
def collected(files: Sequence[Path], keyword: str | None = None) -> Iterator[KataPlugin]:
    """Collect check files once; inside, the plugin has the checks, and runs them as often as it is asked.

    Raises:
        PackError: a file cannot be collected.
        UsageError: `-k` cannot be parsed.
    """
    plugin = KataPlugin()
    arguments = [
        *("-c", str(Path(__file__).with_name("pytest.ini")), "--rootdir", str(files[0].parent)),
        *("--import-mode=importlib", "--assert=plain", "--noconftest"),
        *(f"-pno:{name}" for name in _UNUSED),
        *((f"-k{keyword}",) if keyword else ()),  # one word: it may begin with a dash
        *(str(file) for file in files),
    ]
    # All of it until the last check has run: a check may import its neighbours as late as that.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            patch.delenv(name, raising=False)
        patch.setattr("sys.dont_write_bytecode", True)  # a pack may be read-only, and is not ours to litter
        try:
            _demand_checks(plugin, pytest.main(arguments, plugins=[plugin]), keyword)
            yield plugin
        finally:
            # The next collection reads its own files: each is a module `checks`, and pytest would keep the first.
            for file in files:
                if getattr(sys.modules.get(file.stem), "__file__", None) == str(file):
                    del sys.modules[file.stem]


def _demand_checks(plugin: KataPlugin, code: int, keyword: str | None) -> None:
    """Raise what kept pytest from collecting."""
    if code == pytest.ExitCode.INTERRUPTED:  # pytest keeps Ctrl-C to itself
        raise KeyboardInterrupt
    if plugin.broken:
        raise PackError(f"The checks cannot be collected.\n{plugin.broken[0]}")
    if code == pytest.ExitCode.USAGE_ERROR:
        if keyword:
            raise UsageError(
                f"-k {keyword!r} is not an expression.", "Names with and, or, not: -k 'mask and not shape'"
            )
        raise PackError("pytest refused to collect the checks.")
    if not plugin.complete:
        raise PackError("No check could be collected.")


_UNUSED = (
    "terminal", "capture", "logging", "cacheprovider", "junitxml", "pastebin", "doctest", "debugging", "nose",
    "faulthandler", "unraisableexception", "threadexception", "warnings", "stepwise", "setuponly", "setupplan",
    "unittest", "monkeypatch", "recwarn", "tmpdir", "legacypath", "subtests", "reports",
)  # fmt: skip
"""Plugins of pytest that a check has no use for; each costs time on every check."""
