"""Run a kata's checks over a submission and write the report. Collected once, run as often as asked."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import tempfile
import time
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
import torch

from grader import __version__, machine
from grader.catalogue import SUBMISSION_SUFFIXES, Kata
from grader.checks.failure import told_breach
from grader.checks.marks import CheckInfo
from grader.checks.raised import describe_raised
from grader.devices import PRETENDED, Device
from grader.errors import MachineFault, PackError
from grader.host.calls import Calls
from grader.host.endings import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.host.launcher import Launcher
from grader.host.local import load_local, told
from grader.host.session import Session
from grader.host.source import Source, Unreadable, read_source
from grader.host.terms import Terms
from grader.reports.model import CheckReport, Isolation, KataReport, KataStatus
from grader.running.copies import copies, refuse
from grader.running.examinee import Examinee, LocalExaminee, RemoteExaminee
from grader.running.outcome import Outcome, judge, unusable
from grader.running.plugin import KataPlugin, Situation, check_seed, collect, info_of, threshold_of
from grader.running.recognise import SEED, Fingerprints, Mark, fingerprint
from grader.running.terms import terms_for

if TYPE_CHECKING:
    from grader.timing.speed import Speed

T = TypeVar("T")
CONTROL = b"""\
import os, tempfile, threading

files = [open(os.devnull) for _ in range(64)]
with tempfile.TemporaryFile() as file:
    file.write(bytes(1 << 16))
threading.stack_size(1 << 16)
thread = threading.Thread(target=bytearray, args=(1 << 20,))
thread.start()
thread.join()
"""
"""A harmless module: where it fails, too, the machine is to blame."""
RECOGNISED = 6
"""Failed checks that are run again to recognise a mistake, when the run had another seed."""
Progress = Callable[[CheckReport, Calls], None]
"""Told after every check: what became of it, and the calls it made."""
Model = Callable[[], AbstractContextManager[Examinee]]
"""Opens the reference as if it had been handed in."""


@dataclass(frozen=True)
class Options:
    """How a run is done."""

    seed: int = 0
    fail_fast: bool = False
    timeout_s: float | None = None
    device: str = "cpu"
    tell: Callable[[float], None] = lambda seconds: None
    """Told at every stage how many seconds it may take; beyond that the grader's own work is watched."""
    timed_s: float = 3600.0
    """What a check of speed may take: it waits until the device is free."""


class Suite:
    """The collected checks of one kata."""

    def __init__(
        self, kata: Kata, plugin: KataPlugin, items: Sequence[pytest.Item], *, complete: bool = True
    ) -> None:
        self.kata = kata
        self._complete = complete
        self._plugin = plugin
        self._items = items
        self._infos = {item: _with_points(item, kata) for item in items}

    def __len__(self) -> int:
        return len(self._items)

    def check(
        self, file: Path, launcher: Launcher, options: Options = Options(), progress: Progress | None = None
    ) -> KataReport:
        """Examine a submission behind the boundary."""
        return self.check_with_marks(file, launcher, options, progress)[0]

    def check_with_marks(
        self, file: Path, launcher: Launcher, options: Options = Options(), progress: Progress | None = None
    ) -> tuple[KataReport, dict[str, list[Mark]]]:
        """Examine a submission; return also what it left behind in each visible check that it failed."""
        started = time.perf_counter()
        marks: dict[str, list[Mark]] = {}
        try:
            source = read_source(file)
        except Unreadable as error:
            return self._unread(error, file, options), marks
        ended_for_memory = machine.killed_for_memory()
        session = Session(launcher, source, self.terms, device=options.device, tell=options.tell)
        try:
            examinee = RemoteExaminee(session, options.timeout_s)
            broken = self._load(session, options)
            printed = session.take_output() or None
            if broken is not None:
                report = self._unloaded(broken[0], broken[1], file, options)
            else:
                report, marks = self._examine(
                    examinee,
                    source,
                    options,
                    progress,
                    model=self._model(launcher, options),
                    launcher=launcher,
                )
            options.tell(0.0)
            report.output = printed
            report.isolation = _isolation(session.isolation)
            if session.killed and machine.killed_for_memory() > ended_for_memory:
                raise MachineFault("This machine ran out of memory.", "Grade fewer at a time (-j).")
            if session.doubtful:
                self._try_the_machine(launcher, options)
        finally:
            session.close()
        report.duration_s = round(time.perf_counter() - started, 4)
        return report, marks

    def debug(self, file: Path, options: Options = Options(), *, interactive: bool = True) -> KataReport:
        """Examine a submission in this process, with a debugger at every failure. Not for marks."""
        try:
            source = read_source(file)
        except Unreadable as error:
            return self._unread(error, file, options)
        calls = Calls()
        with ExitStack() as stack:
            try:
                submission = stack.enter_context(load_local(source, self.terms, calls))
            except (Exception, SystemExit) as error:
                return self._unloaded("error", _does_not_load(source, told(error, source)), file, options)
            examinee = LocalExaminee(submission, source)
            return self._examine(examinee, source, options, None, debug=interactive)[0]

    def without(self, status: KataStatus, message: str, options: Options = Options()) -> KataReport:
        """Report a submission of which there is nothing to examine, and why."""
        return self._unloaded(status, message, Path(f"{self.kata.module}.py"), options)

    @cached_property
    def terms(self) -> Terms:
        """What the kata grants a submission and asks of it."""
        return terms_for(self.kata)

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """What the kata's catalogued mistakes leave behind."""
        return Fingerprints.load(self.kata.fingerprints)

    def trained(self) -> set[str]:
        """Return the checks that look at a trained model."""
        return {item.name for item in self._items if self._info(item).trained}

    def _info(self, item: pytest.Item) -> CheckInfo:
        return self._infos[item]

    def visible_names(self) -> set[str]:
        """Return the checks that learners have."""
        return {item.name for item in self._items if item.path == self.kata.checks}

    def speed_names(self) -> set[str]:
        """Return the checks of speed and memory."""
        return {item.name for item in self._items if self._info(item).threshold is not None}

    def only(self, names: Collection[str]) -> Suite:
        """Return the suite of these checks alone."""
        return Suite(
            self.kata, self._plugin, [item for item in self._items if item.name in names], complete=False
        )

    def but_for(self, names: Collection[str]) -> Suite:
        """Return the suite of the other checks."""
        return self.only({item.name for item in self._items} - set(names))

    def infos(self) -> list[CheckInfo]:
        """Return what the authors said of each check."""
        return [self._info(item) for item in self._items]

    def max_score(self) -> float:
        """The points of the collected checks."""
        return sum(self._info(item).points for item in self._items)

    def _load(self, session: Session, options: Options) -> tuple[KataStatus, str] | None:
        """Load the submission; return status and message when it cannot be."""
        timeout = options.timeout_s or self.terms.check_timeout_s
        name = session.source.path.name
        try:
            try:
                session.begin(check_seed(options.seed, "load"), options.timeout_s)
            except WorkerDied as error:
                if not error.killed:
                    raise
                session.begin(
                    check_seed(options.seed, "load"), options.timeout_s
                )  # it may have been the machine
        except SubmissionRaised as error:
            return "error", _does_not_load(session.source, error)
        except WorkerTimeout:
            return (
                "timeout",
                f"{name} did not finish loading within {timeout:g} s: what does it do at import?",
            )
        except WorkerDied as error:
            return "error", f"{name} does not load: while it was imported, it {error.how}."
        return None

    def _try_the_machine(self, launcher: Launcher, options: Options) -> None:
        """Load something harmless, which uses what a submission is promised.

        Raises:
            MachineFault: it does not load either, so that nothing is known about the submission.
        """
        try:
            with tempfile.TemporaryDirectory(prefix="kata-control-") as folder:
                os.chmod(folder, 0o755)  # a worker may run as a user of its own
                source = Source(Path(folder, "kata_control.py"), CONTROL)
                terms = replace(
                    self.terms, module="kata_control", required=(), forbid=(), within=(), given=None
                )
                session = Session(launcher, source, terms, device=options.device, tell=options.tell)
                try:
                    session.begin(0)
                finally:
                    session.close()
        except OSError as error:
            raise MachineFault(
                f"The temporary folder cannot be used ({error.strerror or error}).", machine.shortage(error)
            ) from error
        except (WorkerDied, WorkerTimeout, SubmissionRaised) as error:
            raise MachineFault(
                f"A harmless module does not load here either ({str(error) or 'no answer'}).",
                "kata doctor says what this machine offers; look at its memory, processes, open files and disk.",
            ) from error

    def _examine(
        self,
        examinee: Examinee,
        source: Source,
        options: Options,
        progress: Progress | None,
        *,
        debug: bool = False,
        model: Model | None = None,
        launcher: Launcher | None = None,
    ) -> tuple[KataReport, dict[str, list[Mark]]]:
        ended: dict[str, CheckReport] = {}
        checks: list[CheckReport] = []
        marks: dict[str, list[Mark]] = {}
        lost = 0.0
        excused: set[str] = set()
        copied = {} if debug else copies(source, self.kata)
        used: dict[str, None] = {}
        resting: list[tuple[CheckReport, bool]] = []
        """Checks that no use of what is excluded may stand behind, and whether they judged that."""
        for item in self._items:
            info = self._info(item)
            if info.threshold is not None:
                report, outcome = self._timed(item, examinee, source, options, ended, launcher, excused)
            else:
                report, outcome = self._one(item, examinee, source, options, ended, debug, model)
            refused = refuse(report, copied, examinee.asked())
            ended[report.id] = report
            checks.append(report)
            used.update(dict.fromkeys(outcome.used))
            if info.threshold is not None or examinee.rests_on_policy():
                resting.append((report, examinee.asked_uses()))
            if outcome.machine:
                lost += report.max_points
                excused.add(report.id)
            wrong = report.status in ("fail", "error") and not refused
            if wrong and not report.hidden and _leaves_marks(info):
                marks[report.id] = fingerprint(examinee.observed())
            if progress is not None:
                progress(report, examinee.calls)
            if options.fail_fast and report.status not in ("pass", "skipped"):
                break
        selected = [self._info(item).points for item in self._items]
        if marks and not debug:
            if options.seed != SEED:
                marks = self._marks_again(marks, examinee, source, options)
            for check, mutant in self.fingerprints.recognise(marks).items():
                ended[check].misconception = mutant.replace("_", "-")
                ended[check].likely = self.fingerprints.mutants[mutant].say
        if resting:
            used.update(dict.fromkeys(examinee.uses()))
        withheld = self._withhold(resting, list(used))
        report_of_kata = self._report(examinee, source.path, options)
        report_of_kata.checks = checks
        report_of_kata.score = sum(check.points for check in checks)
        report_of_kata.max_score = sum(selected) - lost
        status = self._status(examinee, checks, len(self._items), excused)
        report_of_kata.status = "fail" if withheld and status == "pass" else status
        return report_of_kata, marks

    def _withhold(self, resting: Sequence[tuple[CheckReport, bool]], used: Sequence[str]) -> bool:
        """Take the points of these checks when something was used that the kata excludes; return whether it was.

        What they say of the numbers stays: a check that holds still passes, for no points. One that judged the uses,
        and passed before a later check brought the use to light, fails.
        """
        for check, judged in resting if used else ():
            check.points = 0.0
            if check.status == "pass":
                lines = told_breach(used, self.terms.advice)
                if judged:
                    check.status = "fail"
                else:
                    lines[0] = f"right, but no points: the submission {lines[0]}"
                check.message = "\n".join(lines)
        return bool(used)

    def _one(
        self,
        item: pytest.Item,
        examinee: Examinee,
        source: Source,
        options: Options,
        ended: dict[str, CheckReport],
        debug: bool,
        model: Model | None,
    ) -> tuple[CheckReport, Outcome]:
        info = self._info(item)
        report = self._blank(item)
        wanting = next(
            (ended[need] for need in info.needs if need in ended and ended[need].status != "pass"), None
        )
        if wanting is not None:
            outcome = Outcome("skipped", [f"skipped: it needs “{wanting.name}” to hold first"])
        else:
            outcome = self._guarded(item, examinee, source, options, debug)
            report.output = examinee.take_output() or None
        if outcome.pack_fault:
            if not self._holds(item, source, options, model):
                raise PackError(f"{item.path}: {item.name} is broken.\n{outcome.message}")
            outcome = unusable([], outcome.lines)
        _enter(report, outcome)
        return report, outcome

    def _timed(
        self,
        item: pytest.Item,
        examinee: Examinee,
        source: Source,
        options: Options,
        ended: dict[str, CheckReport],
        launcher: Launcher | None,
        excused: set[str],
    ) -> tuple[CheckReport, Outcome]:
        """Run a check of speed or memory: only when all is right, and with nothing else of the submission alive."""
        info, report = self._info(item), self._blank(item)
        assert info.threshold is not None
        wrong = next(
            (check for check in ended.values() if check.aspect != report.aspect and check.status != "pass"
             and check.id not in excused), None
        )  # fmt: skip
        if launcher is None:
            outcome = Outcome("skipped", ["skipped: in one process nothing can be timed"], machine=True)
        elif wrong is not None:
            outcome = Outcome("skipped", [f"skipped: first “{wrong.name}” has to hold, then speed counts"])
        else:
            from grader.running.demands import setting_of
            from grader.timing.speed import Speed

            examinee.rest()
            setting = setting_of(self.kata, source, launcher, options.device, examinee.calls)
            options.tell(options.timed_s)
            for _ in range(2):  # one that was killed may have been killed by the machine
                marks = self.kata.is_measured(info.threshold, setting.kind)
                speed = Speed(setting, self.kata.speed[info.threshold], marks=marks)
                situation = self._situation(examinee, source, options, speed=lambda speed=speed: speed)  # type: ignore[misc]
                outcome = self._plugin.run(item, situation)
                if not outcome.killed:
                    break
            if speed.measured is not None:
                report.speed = speed.measured
        if outcome.pack_fault:
            raise PackError(f"{item.path}: {item.name} is broken.\n{outcome.message}")
        _enter(report, outcome)
        return report, outcome

    def _model(self, launcher: Launcher, options: Options) -> Model | None:
        solution = self.kata.solution
        if solution is None:
            return None

        @contextmanager
        def opened() -> Iterator[Examinee]:
            session = Session(
                launcher, read_source(solution), self.terms, device=options.device, tell=options.tell
            )
            try:
                yield RemoteExaminee(session, options.timeout_s)
            finally:
                session.close()

        return opened

    def _holds(self, item: pytest.Item, source: Source, options: Options, model: Model | None) -> bool:
        """Return whether a check that seems broken is not: the reference passes it, so the submission made it fail."""
        if model is None or source.path == self.kata.solution:
            return False
        with model() as reference:
            return self._guarded(item, reference, source, options).status == "pass"

    def _guarded(
        self,
        item: pytest.Item,
        examinee: Examinee,
        source: Source,
        options: Options,
        debug: bool = False,
    ) -> Outcome:
        """Run one check; a worker that died in an earlier one is replaced first.

        One that was killed may have been killed by the machine, so the check has a second chance.
        """
        outcome = self._once(item, examinee, source, options, debug)
        if outcome.killed:
            examinee.take_output()
            outcome = self._once(item, examinee, source, options, debug)
        return outcome

    def _once(
        self, item: pytest.Item, examinee: Examinee, source: Source, options: Options, debug: bool
    ) -> Outcome:
        situation = self._situation(examinee, source, options, debug=debug)
        try:
            examinee.begin(check_seed(options.seed, item.name))
        except WorkerTimeout as error:
            return judge(error, examinee.calls, {}, situation.file, situation.timeout_s)
        except (WorkerDied, SubmissionRaised) as error:
            killed = isinstance(error, WorkerDied) and error.killed
            return Outcome("error", [f"the submission did not load again: {error}"], killed=killed)
        return self._plugin.run(item, situation)

    def _situation(
        self,
        examinee: Examinee,
        source: Source,
        options: Options,
        *,
        debug: bool = False,
        speed: Callable[[], Speed] | None = None,
    ) -> Situation:
        return Situation(
            examinee,
            options.seed,
            torch.device(options.device),
            source.path.name,
            self.kata.signatures(),
            self._reference,
            options.timeout_s or self.terms.check_timeout_s,
            debug,
            speed,
        )

    def _marks_again(
        self, failed: dict[str, list[Mark]], examinee: Examinee, source: Source, options: Options
    ) -> dict[str, list[Mark]]:
        """Run the failed checks at the seed of the fingerprints; those that pass there say nothing."""
        marks: dict[str, list[Mark]] = {}
        there = replace(options, seed=SEED)
        for item in self._items:
            if item.name in failed and len(marks) < RECOGNISED:
                outcome = self._guarded(item, examinee, source, there)
                examinee.take_output()
                if outcome.status in ("fail", "error"):
                    marks[item.name] = fingerprint(examinee.observed())
        return marks

    def _status(
        self, examinee: Examinee, checks: list[CheckReport], selected: int, excused: set[str]
    ) -> KataStatus:
        """Return the kata's status; `excused` checks were skipped because of the machine."""
        if len(checks) == selected and all(c.status == "pass" or c.id in excused for c in checks):
            return "pass"
        outcomes = examinee.outcomes
        # Part of the checks says nothing about names that only the others call.
        told = self._complete and len(checks) == selected
        stub_only = (
            outcomes.not_written and not outcomes.written and not any(check.points for check in checks)
        )
        if stub_only and (told or outcomes.not_written.issuperset(self.kata.required)):
            return "not_started"
        if outcomes.died and not outcomes.answered:
            return "error"
        if any(check.status == "timeout" for check in checks):
            return "timeout"
        return "fail"

    def _unread(self, error: Unreadable, file: Path, options: Options) -> KataReport:
        lines = [error.message]
        if error.status == "missing":
            beside = sorted(path.name for path in file.parent.glob("*") if path.suffix in SUBMISSION_SUFFIXES)
            if beside:
                lines.append(
                    f"Beside it lies {', '.join(beside[:5])}: was it renamed? Only {file.name} counts."
                )
            lines.append(f"A fresh one: kata start {self.kata.slug}")
        return self._unloaded(error.status, "\n".join(lines), file, options)  # type: ignore[arg-type]

    def _unloaded(self, status: KataStatus, message: str, file: Path, options: Options) -> KataReport:
        """Report a submission none of whose checks could run; every check is listed, with no points."""
        report = self._report(None, file, options)
        report.status = status
        report.message = message
        report.max_score = self.max_score()
        for item in self._items:
            check = self._blank(item)
            check.status, check.message = "skipped", "not run: the submission did not load"
            report.checks.append(check)
        return report

    def _blank(self, item: pytest.Item) -> CheckReport:
        """Return the report of a check of which nothing is known yet: no points, and nothing against it."""
        info = self._info(item)
        return CheckReport(
            name=info.title,
            id=item.name,
            aspect=info.aspect,
            hidden=item.path.name == "hidden_checks.py",
            status="pass",
            points=0.0,
            max_points=info.points,
        )

    def _report(self, examinee: Examinee | None, file: Path, options: Options) -> KataReport:
        return KataReport(
            kata=self.kata.slug,
            number=self.kata.number,
            status="fail",
            score=0.0,
            max_score=0.0,
            seed=options.seed,
            device=options.device,
            isolation=_isolation(examinee.isolation) if examinee else "none",
            versions=versions() | ({"device": PRETENDED} if Device(options.device).pretended else {}),
            file=str(file),
        )

    def _reference(self) -> types.ModuleType:
        solution = self.kata.solution
        if solution is None:
            raise PackError(
                f"{self.kata.slug}: there is no reference in this install, and a check asks for one."
            )
        return _load_trusted(solution, self.terms.given)


def _does_not_load(source: Source, error: SubmissionRaised) -> str:
    return "\n".join([f"{source.path.name} does not load.", *describe_raised(error)])


def _enter(report: CheckReport, outcome: Outcome) -> None:
    """Write into a check's report what became of it."""
    report.status, report.message, report.location = outcome.status, outcome.message, outcome.location
    report.points = report.max_points if outcome.status == "pass" else 0.0


def _with_points(item: pytest.Item, kata: Kata) -> CheckInfo:
    """Return what the author said of a check; the points of a speed check are those of its threshold."""
    info, threshold = info_of(item), threshold_of(item, kata)
    return info if threshold is None else replace(info, points=threshold.points)


def _leaves_marks(info: CheckInfo) -> bool:
    """Return whether a failed check says which mistake it was: nothing that was trained or timed does."""
    return not info.trained and info.threshold is None


def versions() -> dict[str, str]:
    """Return the versions that a mark depends on."""
    return {"kata": __version__, "torch": str(torch.__version__), "python": platform.python_version()}


def with_suites(
    katas: Sequence[Kata],
    body: Callable[[dict[str, Suite]], T],
    *,
    hidden: bool = False,
    speed: bool = False,
    keyword: str | None = None,
) -> T:
    """Collect the checks of these katas and return what `body` makes of the suites, by slug.

    Launch the zygote before: from here on this process knows answers.

    Raises:
        PackError: checks cannot be collected.
    """
    files: dict[Path, Kata] = {}
    for kata in katas:
        files[kata.checks] = kata
        if hidden and kata.hidden_checks is not None:
            files[kata.hidden_checks] = kata
        if speed and kata.speed_checks is not None:  # last: everything else has to hold first
            files[kata.speed_checks] = kata
    results: list[T] = []

    def run(plugin: KataPlugin, items: list[pytest.Item]) -> None:
        by_kata: dict[str, list[pytest.Item]] = {kata.slug: [] for kata in katas}
        for item in items:
            by_kata[files[item.path].slug].append(item)
        for kata in katas if keyword is None else ():
            if not by_kata[kata.slug]:
                raise PackError(f"{kata.checks}: there is no check in it.")
        results.append(
            body(
                {
                    kata.slug: Suite(kata, plugin, by_kata[kata.slug], complete=keyword is None)
                    for kata in katas
                }
            )
        )

    collect(list(files), run, keyword)
    if not results:
        raise PackError("No check could be collected.")
    return results[0]


def _isolation(level: str) -> Isolation:
    return level if level in ("full", "confined", "process") else "none"  # type: ignore[return-value]


_trusted: dict[Path, types.ModuleType] = {}


def _load_trusted(file: Path, given: Path | None) -> types.ModuleType:
    if file not in _trusted:
        spec = importlib.util.spec_from_file_location(f"_reference_{file.stem}", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with _importable(given):
            spec.loader.exec_module(module)
        _trusted[file] = module
    return _trusted[file]


@contextmanager
def _importable(folder: Path | None) -> Iterator[None]:
    """Let a reference import what its kata gives, and forget that again: another kata gives other blocks."""
    if folder is None:
        yield
        return
    names = [path.stem for path in folder.glob("*.py")]
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
