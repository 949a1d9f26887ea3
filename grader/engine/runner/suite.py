"""The checks of a kata over a submission, from its file to its report. Collected once, run as often as asked."""

from __future__ import annotations

import ast
import contextlib
import os
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest
import torch
from msgspec import UNSET

from grader import __version__, machine
from grader.catalogue import SUBMISSION_SUFFIXES, Kata
from grader.catalogue.adapters import Adapter
from grader.catalogue.given import BLOCKS, blocks_in, given_files
from grader.engine.checks.raised import describe_raised
from grader.engine.checks.text import clean
from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import Launcher
from grader.engine.host.policy import functions_in, to_look_at
from grader.engine.host.session import Session
from grader.engine.host.source import Source, Terms, Unreadable, read_source, source_of
from grader.engine.mistakes.recognise import FailureSignature, Mark
from grader.engine.runner.collected import Collected
from grader.engine.runner.kata_run import KataRun
from grader.engine.runner.outcome import UNSAID, Outcome, report_of
from grader.engine.runner.plugin import RunConfig, WorkerBackend, check_seed, collected
from grader.engine.runner.repairs import SECONDS, Rest, repaired
from grader.engine.runner.source_remarks import SourceRemarks, exported, wording_of
from grader.errors import KataError, MachineFault, PackError
from grader.report.report import (
    WRONG,
    CheckStatus,
    Isolation,
    KataReport,
    KataStatus,
    SpeedScore,
    StageReport,
)

__all__ = ["RunConfig", "Suite", "suites_of"]

AS_USUAL = RunConfig()


class Suite(Collected):
    """The collected checks of one kata, and reports of submissions to it."""

    def check(
        self,
        file: Path,
        launcher: Launcher,
        config: RunConfig = AS_USUAL,
        marks: dict[str, list[Mark]] | None = None,
        content: bytes | None = None,
        left_behind: dict[str, FailureSignature | None] | None = None,
    ) -> KataReport:
        """Examine a submission in a worker.

        Into `marks` goes what it left behind in each visible check that it failed. `content` stands for what is saved
        in the file. Who runs the same submission with many seeds hands one `left_behind` to all runs: checks are run
        again to recognise a mistake always at one seed, so once is enough.
        """
        started = time.perf_counter()
        try:
            depth = self.terms.depth
            source = (
                read_source(file, depth) if content is None else source_of(file.absolute(), content, depth)
            )
        except Unreadable as error:
            return self._unread(error, file, config)
        # Counted before and after: the kernel says how often it killed for lack of memory, not whom.
        ended_for_memory = machine.killed_for_memory()
        session = Session(launcher, source, self.terms, device=config.device, tell=config.tell)
        session.patience.hurried = config.hurried
        session.recorded = [] if config.look or config.stopped else None
        with (
            machine.bounded_memory(self.terms.memory_bytes if config.device == "cpu" else None),
            contextlib.closing(session),
        ):
            backend = self._backend(session, config)
            broken = self._load(session, config)
            # What is printed while loading belongs to no check.
            printed = session.take_output() or None
            if broken is not None:
                report = self._unloaded(*broken, file, config)
            else:
                examination = KataRun(self, backend, launcher, config)
                if marks is not None:
                    examination.recognised, examination.marking = len(self), True
                if left_behind is not None:
                    examination.left_behind = left_behind
                examination.run()
                # Nobody knows what changed code does: it runs only where it can reach no files of the learner's.
                if config.repairs and session.isolation in ("full", "confined"):
                    self._find_place(examination, source, launcher)
                report = self._report(examination)
                found = to_look_at(source, session.around, self._no_answer)
                report.look_at = [clean(text, 200) for text in found] or UNSET
                if marks is not None:
                    marks.update(examination.marks())
            config.tell(0.0)
            report.output = printed
            report.isolation = _isolation(session.isolation)
            if session.killed and machine.killed_for_memory() > ended_for_memory:
                raise MachineFault("This machine ran out of memory.", "Grade fewer at a time (-j).")
            # The submission may have run out of something, or the machine: the reference tells which.
            if session.doubtful:
                try_the_machine(self.terms, launcher, config)
        report.duration_s = round(time.perf_counter() - started, 4)
        return report

    def results(self, file: Path, launcher: Launcher) -> dict[str, tuple[CheckStatus, list[Mark]]]:
        """Return how each check of a right answer ends, and its fingerprint, as a mistake's are taken."""
        source, config = read_source(file, self.terms.depth), RunConfig()
        session = Session(launcher, source, self.terms)
        with contextlib.closing(session):
            self._load(session, config)
            run = KataRun(self, self._backend(session, config), launcher, config)
            return {check.id: run.left_in(check) for check in self.checks}

    def _backend(self, session: Session, config: RunConfig) -> WorkerBackend:
        timeout_s = config.timeout_s or self.terms.check_timeout_s
        wording = wording_of(session.source, self.kata, timeout_s) if config.explain else UNSAID
        return WorkerBackend(session, config.timeout_s, wording)

    @cached_property
    def _no_answer(self) -> frozenset[str]:
        """The functions of the pack's blocks that are not given to this kata."""
        given = given_files(self.kata).get(BLOCKS, b"")
        texts = (path.read_bytes() for path in blocks_in(self.kata.unit.pack))
        every = {name for text in texts for name in functions_in(ast.parse(text).body)}
        return frozenset(every - functions_in(ast.parse(given).body).keys())

    def without(self, status: KataStatus, message: str, config: RunConfig = AS_USUAL) -> KataReport:
        """Report a submission of which there is nothing to examine, and why."""
        return self._unloaded(status, message, Path(self.kata.answer), config)

    def _load(self, session: Session, config: RunConfig) -> tuple[KataStatus, str] | None:
        """Load the submission; return status and message when it cannot be."""
        name = str(session.source.path.relative_to(session.source.root))
        seed, limit_s = check_seed(config.seed, "load"), config.timeout_s or self.untrained_s
        try:
            try:
                session.begin(seed, limit_s)
            except WorkerDied as error:
                if not error.killed:
                    raise
                session.begin(seed, limit_s)  # it may have been the machine
        except SubmissionRaised as error:
            if error.shim is not None:
                assert self.kata.adapter is not None
                raise PackError(f"{self.kata.adapter.shim}, line {error.shim.line}: {error}") from None
            lines = describe_raised(error)
            remarks = SourceRemarks(session.source, self.kata.required).on("", "\n".join(lines))
            about = (f"  {text}" for text in remarks or exported(session.source))
            return "error", "\n".join([f"{name} does not load.", *lines, *about])
        except WorkerTimeout as error:
            at = error.frame
            where = f" ({clean(at.file)}, line {at.line})" if at is not None else ""
            question = f"what does it do at import{where}?"
            return "timeout", f"{name} did not finish loading within {limit_s:g} s: {question}"
        except WorkerDied as error:
            return "error", f"{name} does not load: while it was imported, it {error.how}."
        return None

    def _find_place(self, examination: KataRun, source: Source, launcher: Launcher) -> None:
        """Say of the first check that went wrong where the slip likely is, where nothing names it."""
        outcomes, config = examination.outcomes, examination.config
        check = next((check for check, outcome in outcomes.items() if outcome.status in WRONG), None)
        if check is None or source.is_notebook or self.kata.adapter is not None:
            return
        outcome = outcomes[check]
        if outcome.status == "timeout" or outcome.pack_fault or outcome.fact or outcome.says or outcome.cause:
            return
        tried = RunConfig(
            seed=config.seed, name=False, explain=False, timeout_s=0.5, hurried=True, device=config.device
        )
        itself, quick = self.select({check.id}), self.exclude(self.trained() | self.speed_names())
        others = quick.exclude({check.id})
        held = {other.id for other, end in outcomes.items() if end.status == "pass"}
        passed = held & {item.name for item in others.items}

        def holds(data: bytes) -> bool:
            return itself.check(source.path, launcher, tried, content=data).status == "pass"

        def rest(data: bytes) -> Rest:
            ends = others.check(source.path, launcher, tried, content=data).checks
            now = {each.id for each in ends if each.status == "pass"}
            return "all" if len(now) == len(ends) else "kept" if now >= passed else "broken"

        config.watch("looking for the place of the slip", SECONDS)
        called = outcome.ran.names or frozenset(self.kata.required)
        # A person who does not want to wait still gets the verdict.
        with contextlib.suppress(KataError, KeyboardInterrupt):
            repair = repaired(source.data, called, holds, rest, outcome.line)
            # Of the same line a rule says more: why it is wrong.
            if repair is not None and not repair.is_named_in(outcome.riddle):
                outcomes[check] = replace(outcome, riddle=repair.sentence)

    # Reports ------------------------------------------------------------------------------------------------------

    def _report(self, examination: KataRun) -> KataReport:
        session = examination.backend.session
        report = self._empty(session.source.path, examination.config)
        report.isolation = _isolation(session.isolation)
        report.checks = [report_of(check, outcome) for check, outcome in examination.outcomes.items()]
        report.score = examination.earned(timed=False)
        report.max_score -= examination.lost(timed=False)
        if report.speed:
            report.speed.score = examination.earned(timed=True)
            report.speed.max_score -= examination.lost(timed=True)
            if not report.speed.max_score:  # nothing of it could be told here
                report.speed = UNSET
        report.status = examination.status()
        report.todo = examination.todo()
        report.left_out = len(self.items) + len(self.rest) - len(report.checks) or UNSET
        report.stages = self._stages(report, examination) or UNSET
        return report

    def _stages(self, report: KataReport, examination: KataRun) -> list[StageReport]:
        """Return what is done of a long kata; a failure that names no call of its parts may be of any that it used."""
        if report.status not in ("in_progress", "fail") or report.left_out:
            return []
        parts = {part for stage in self.kata.stages for part in stage.parts}
        called: set[str] = set()
        for check, outcome in zip(report.checks, examination.outcomes.values(), strict=True):
            if check.status in WRONG:
                # What a check gives may have been called, and that calls the learner's.
                called |= {check.called} if check.called in parts else outcome.ran.names & parts or {""}
        undone = {*called, *(name.partition(".")[0] for name in report.todo)}
        return [
            StageReport(
                title=stage.title,
                parts=list(stage.parts),
                done=undone.isdisjoint({*stage.parts, ""}),
            )
            for stage in self.kata.stages
        ]

    def _unread(self, error: Unreadable, file: Path, config: RunConfig) -> KataReport:
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
        return self._unloaded(error.status, "\n".join(lines), file, config)  # type: ignore[arg-type]

    def _unloaded(self, status: KataStatus, message: str, file: Path, config: RunConfig) -> KataReport:
        """Report a submission none of whose checks could run; every check is listed, with no points."""
        report = self._empty(file, config)
        report.status = status
        report.message = message
        not_run = Outcome("skipped", ["not run: the submission did not load"])
        report.checks = [report_of(check, not_run) for check in self.checks]
        return report

    def _empty(self, file: Path, config: RunConfig) -> KataReport:
        return KataReport(
            kata=self.kata.slug,
            number=self.kata.number,
            status="fail",
            score=0.0,
            max_score=self.max_score(timed=False),
            speed=SpeedScore(score=0.0, max_score=most) if (most := self.max_score(timed=True)) else UNSET,
            seed=config.seed,
            device=config.device,
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
    for kata in katas if hidden else ():
        if kata.adapter is not None and kata.adapter.reference is None:
            raise no_solution(kata.adapter)
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
            kata = files[item.path]
            # What a course does not ask for is as if the kata did not have it.
            if kata.adapter is None or function_of(item) not in kata.adapter.not_asked:
                found[kata.slug].append(item)
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


def function_of(item: pytest.Item) -> str:
    """Return the name of a check's function, without its parameters."""
    return str(getattr(item, "originalname", None) or item.name)


def no_solution(adapter: Adapter) -> PackError:
    """Return the error that a shim could not be told from an answer."""
    place = adapter.file.parent.parent / "solutions" / adapter.name / adapter.answer
    return PackError(
        f"{adapter.file}: the course's own solution is missing, {place}.",
        "With it a fault of the adapter is told from one of a learner's. KATA_SOLUTIONS may name another folder "
        f"that holds {adapter.name}/{adapter.answer}.",
    )


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


def try_the_machine(terms: Terms, launcher: Launcher, config: RunConfig) -> None:
    """Load something harmless, which uses what a submission is promised.

    Raises:
        MachineFault: it does not load either, so that nothing is known about the submission.
    """
    harmless = replace(
        terms, module="kata_control", required=(), forbid=(), within=(), given=None, adaptation=None
    )
    try:
        # In the temporary folder, like submissions: a full disk or a mount option shows here as well.
        with tempfile.TemporaryDirectory(prefix="kata-control-") as folder:
            os.chmod(folder, 0o755)  # a worker may run as a user of its own
            source = Source(Path(folder, "kata_control.py"), CONTROL)
            session = Session(launcher, source, harmless, device=config.device, tell=config.tell)
            with contextlib.closing(session):
                session.begin(0)
    except OSError as error:
        raise MachineFault(
            f"The temporary folder cannot be used ({error.strerror or error}).", machine.shortage(error)
        ) from error
    except (WorkerDied, WorkerTimeout, SubmissionRaised) as error:
        raise MachineFault(
            f"A harmless module does not load here either ({str(error) or 'no answer'}).",
            "kata doctor says what this machine offers; look at its memory, processes, open files and disk.",
        ) from error
