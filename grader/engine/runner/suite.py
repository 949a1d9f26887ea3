"""The checks of a kata over a submission, from its file to its report. Collected once, run as often as asked."""

from __future__ import annotations

import ast
import contextlib
import platform
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import pytest
import torch
from msgspec import UNSET

from grader import __version__, machine
from grader.catalogue import SUBMISSION_SUFFIXES, Kata
from grader.catalogue.given import BLOCKS, blocks_in, given_files
from grader.engine.checks.raised import describe_raised
from grader.engine.checks.text import clean
from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import Launcher
from grader.engine.host.policy import functions_in, to_look_at
from grader.engine.host.session import Session
from grader.engine.host.source import Source, Unreadable, read_source, source_of
from grader.engine.mistakes.recognise import FailureSignature, Mark
from grader.engine.runner.backend import WorkerBackend
from grader.engine.runner.collected import Collected
from grader.engine.runner.control import try_the_machine
from grader.engine.runner.failure_context import Look
from grader.engine.runner.kata_run import KataRun, Options, Progress, RunContext
from grader.engine.runner.plugin import check_seed, collected
from grader.engine.runner.remarks import SourceRemarks, exported
from grader.engine.wire.messages import StackFrame
from grader.errors import MachineFault, PackError
from grader.report.report import WRONG, Isolation, KataReport, KataStatus, SpeedScore, StageReport

__all__ = ["Options", "Progress", "Suite", "suites_of"]

AS_USUAL = Options()


class Suite(Collected):
    """The collected checks of one kata, and reports of submissions to it."""

    def check(
        self,
        file: Path,
        launcher: Launcher,
        options: Options = AS_USUAL,
        progress: Progress | None = None,
        marks: dict[str, list[Mark]] | None = None,
        content: bytes | None = None,
        left_behind: dict[str, FailureSignature | None] | None = None,
        look: Look | None = None,
    ) -> KataReport:
        """Examine a submission in a worker.

        Into `marks` goes what it left behind in each visible check that it failed. `content` stands for what is saved
        in the file. Who runs the same submission with many seeds hands one `left_behind` to all runs: checks are run
        again to recognise a mistake always at one seed, so once is enough. `look` is told of every check that goes
        wrong, and may bring the submission into this process: for the person who wrote it.
        """
        started = time.perf_counter()
        try:
            source = read_source(file) if content is None else source_of(file.absolute(), content)
        except Unreadable as error:
            return self._unread(error, file, options)
        # Counted before and after: the kernel says how often it killed for lack of memory, not whom.
        ended_for_memory = machine.killed_for_memory()
        session = Session(launcher, source, self.terms, device=options.device, tell=options.tell)
        session.recorded = None if look is None else []
        with (
            machine.bounded_memory(self.terms.memory_bytes if options.device == "cpu" else None),
            contextlib.closing(session),
        ):
            backend = WorkerBackend(session, options.timeout_s)
            broken = self._load(session, options)
            # What is printed while loading belongs to no check.
            printed = session.take_output() or None
            if broken is not None:
                report = self._unloaded(*broken, file, options)
            else:
                attempt = RunContext(source, backend, options, launcher, progress, look)
                examination = KataRun(self, attempt)
                if marks is not None:
                    examination.recognised, examination.marking = len(self), True
                if left_behind is not None:
                    examination.left_behind = left_behind
                examination.run()
                report = self._report(examination)
                found = to_look_at(source, session.around, self._no_answer)
                report.look_at = [clean(text, 200) for text in found] or UNSET
                if marks is not None:
                    marks.update(examination.marks())
            options.tell(0.0)
            report.output = printed
            report.isolation = _isolation(session.isolation)
            if session.killed and machine.killed_for_memory() > ended_for_memory:
                raise MachineFault("This machine ran out of memory.", "Grade fewer at a time (-j).")
            # The submission may have run out of something, or the machine: the reference tells which.
            if session.doubtful:
                try_the_machine(self.terms, launcher, options)
        report.duration_s = round(time.perf_counter() - started, 4)
        return report

    def results(self, file: Path, launcher: Launcher) -> dict[str, list[Mark]]:
        """Return the fingerprint of what a right answer returns in each check, as a mistake's are taken."""
        source, options = read_source(file), Options()
        session = Session(launcher, source, self.terms)
        with contextlib.closing(session):
            self._load(session, options)
            run = KataRun(self, RunContext(source, WorkerBackend(session), options, launcher))
            return {item.name: run.left_in(item) for item in self.items}

    @cached_property
    def _no_answer(self) -> frozenset[str]:
        """The functions of the pack's blocks that are not given to this kata."""
        given = given_files(self.kata).get(BLOCKS, b"")
        texts = (path.read_bytes() for path in blocks_in(self.kata.unit.pack))
        every = {name for text in texts for name in functions_in(ast.parse(text).body)}
        return frozenset(every - functions_in(ast.parse(given).body).keys())

    def without(self, status: KataStatus, message: str, options: Options = AS_USUAL) -> KataReport:
        """Report a submission of which there is nothing to examine, and why."""
        return self._unloaded(status, message, Path(f"{self.kata.module}.py"), options)

    def _load(self, session: Session, options: Options) -> tuple[KataStatus, str] | None:
        """Load the submission; return status and message when it cannot be."""
        name, seed = session.source.path.name, check_seed(options.seed, "load")
        try:
            try:
                session.begin(seed, options.timeout_s)
            except WorkerDied as error:
                if not error.killed:
                    raise
                session.begin(seed, options.timeout_s)  # it may have been the machine
        except SubmissionRaised as error:
            return "error", self._does_not_load(session.source, error)
        except WorkerTimeout as error:
            return "timeout", self._endless(session.source, options, error.frame)
        except WorkerDied as error:
            return "error", f"{name} does not load: while it was imported, it {error.how}."
        return None

    def _does_not_load(self, source: Source, error: SubmissionRaised) -> str:
        lines = describe_raised(error)
        found = SourceRemarks(source, self.kata.required).on("", "\n".join(lines)) or exported(source)
        return "\n".join([f"{source.path.name} does not load.", *lines, *(f"  {text}" for text in found)])

    def _endless(self, source: Source, options: Options, frame: StackFrame | None) -> str:
        timeout = options.timeout_s or self.terms.check_timeout_s
        where = f" ({clean(frame.file)}, line {frame.line})" if frame is not None else ""
        name = source.path.name
        return f"{name} did not finish loading within {timeout:g} s: what does it do at import{where}?"

    # Reports ------------------------------------------------------------------------------------------------------

    def _report(self, examination: KataRun) -> KataReport:
        attempt = examination.attempt
        report = self._empty(attempt.source.path, attempt.options)
        report.isolation = _isolation(attempt.backend.session.isolation)
        report.checks = [one.report for one in examination.done]
        report.score = sum(one.report.points for one in examination.done if not one.timed)
        report.max_score -= examination.lost(timed=False)
        if report.speed:
            report.speed.score = sum(one.report.points for one in examination.done if one.timed)
            report.speed.max_score -= examination.lost(timed=True)
            if not report.speed.max_score:  # nothing of it could be told here
                report.speed = UNSET
        report.status = examination.status()
        report.todo = examination.todo()
        report.left_out = len(self.items) + len(self.rest) - len(report.checks) or UNSET
        report.stages = self._stages(report) or UNSET
        return report

    def _stages(self, report: KataReport) -> list[StageReport]:
        """Return what is done of a long kata; a failure that names no call may be of any of its parts."""
        if report.status not in ("in_progress", "fail") or report.left_out:
            return []
        called = [check.called for check in report.checks if check.status in WRONG]
        undone = {*called, *(name.partition(".")[0] for name in report.todo)}
        return [
            StageReport(
                title=stage.title,
                parts=list(stage.parts),
                done=undone.isdisjoint({*stage.parts, ""}),
            )
            for stage in self.kata.stages
        ]

    def _unread(self, error: Unreadable, file: Path, options: Options) -> KataReport:
        lines = [error.message]
        if error.status == "missing":
            neighbours = sorted(
                path.name for path in file.parent.glob("*") if path.suffix in SUBMISSION_SUFFIXES
            )
            if neighbours:
                lines.append(
                    f"Next to it is {', '.join(neighbours[:5])}: was it renamed? Only {file.name} counts."
                )
            lines.append(f"A fresh one: kata start {self.kata.slug}")
        return self._unloaded(error.status, "\n".join(lines), file, options)  # type: ignore[arg-type]

    def _unloaded(self, status: KataStatus, message: str, file: Path, options: Options) -> KataReport:
        """Report a submission none of whose checks could run; every check is listed, with no points."""
        report = self._empty(file, options)
        report.status = status
        report.message = message
        for item in self.items:
            check = self.empty_report(item)
            check.status, check.message = "skipped", "not run: the submission did not load"
            report.checks.append(check)
        return report

    def _empty(self, file: Path, options: Options) -> KataReport:
        return KataReport(
            kata=self.kata.slug,
            number=self.kata.number,
            status="fail",
            score=0.0,
            max_score=self.max_score(timed=False),
            speed=SpeedScore(score=0.0, max_score=most) if (most := self.max_score(timed=True)) else UNSET,
            seed=options.seed,
            device=options.device,
            isolation="none",
            versions=versions(),
            file=str(file),
        )


def _isolation(level: str) -> Isolation:
    return level if level in ("full", "confined", "process") else "none"  # type: ignore[return-value]


def versions() -> dict[str, str]:
    """Return the versions that a mark depends on."""
    return {"kata": __version__, "torch": str(torch.__version__), "python": platform.python_version()}


@contextlib.contextmanager
def suites_of(
    katas: Sequence[Kata], *, hidden: bool = False, speed: bool = False, keyword: str | None = None
) -> Iterator[dict[str, Suite]]:
    """Collect the checks of these katas; yields a suite for each, by slug.

    Launch the zygote before: from here on this process knows answers.

    Raises:
        PackError: checks cannot be collected.
    """
    # By file: pytest gives items back with their path, and says nothing of katas.
    files: dict[Path, Kata] = {}
    for kata in katas:
        files[kata.checks] = kata
        if hidden and kata.hidden_checks is not None:
            files[kata.hidden_checks] = kata
        if speed and kata.speed_checks is not None:  # last: everything else has to hold first
            files[kata.speed_checks] = kata

    def by_kata_of(items: Sequence[pytest.Item]) -> dict[str, list[pytest.Item]]:
        found: dict[str, list[pytest.Item]] = {kata.slug: [] for kata in katas}
        for item in items:
            found[files[item.path].slug].append(item)
        return found

    with collected(list(files), keyword) as plugin:
        by_kata, rest = by_kata_of(plugin.items), by_kata_of(plugin.left_out)
        # With -k, a kata in which nothing matches is not its author's fault.
        for kata in katas if keyword is None else ():
            if not by_kata[kata.slug]:
                raise PackError(f"{kata.checks}: there is no check in it.")
        yield {
            kata.slug: Suite(kata, plugin, tuple(by_kata[kata.slug]), keyword is None, tuple(rest[kata.slug]))
            for kata in katas
        }
