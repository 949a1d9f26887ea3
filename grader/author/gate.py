"""The gate: a kata is let in when its stub, its right answers and its wrong answers all behave as they should."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from grader import interpreter
from grader.author import stability
from grader.author.contracts import HOLE, REASONS, Contracts, Sabotage
from grader.author.idle import KINDS, Idleness
from grader.author.pairs import HandIn, candidates, known, unlike_either
from grader.author.perf_requests import demands_of
from grader.author.requirements_trace import complaints
from grader.author.side_by_side import side_by_side
from grader.author.split import CHECKS, HIDDEN, SOURCE
from grader.catalogue import Kata, read_hints
from grader.catalogue.given import BLOCKS, blocks_in, read_blocks
from grader.catalogue.katas import RUBRIC
from grader.catalogue.rubric import rubric_of
from grader.engine.host.launcher import Launcher
from grader.engine.mistakes.mistakes import Mistake, full_text, mistakes, slow_answers
from grader.engine.mistakes.recognise import (
    SCHEMA,
    SEED,
    Fingerprints,
    Mark,
    MutantSignatures,
    equal_fingerprints,
    in_older_words,
)
from grader.engine.runner.suite import RunConfig, Suite
from grader.errors import PackError
from grader.files import write_atomic
from grader.report.report import WRONG, KataReport

T = TypeVar("T")
R = TypeVar("R")
Step = Callable[[str, int, int], None]
"""Called with what is done, how many of it are, and of how many."""
Copy = Callable[[Path | Mistake], Path]
"""Puts an answer where it can be handed in from."""
Draw = Callable[[list[str]], Container[str]]
"""Which of the mistakes, by name, are tried."""
Marks = dict[str, list[Mark]]
SAMPLE, SMALL_SAMPLE = 8, 2
"""So many mistakes at most are a sample; the small one is for katas whose checks train, each of which takes seconds."""
TRANSCRIPTS = "transcripts.txt"
_HEAD = re.compile(r"^=== (\w+) · (\w+)$", re.MULTILINE)
"""Of a mistake's transcript: its name, and the check that decides: it has to fail, and its message is shown."""
SLOW_PATIENCE = 3.0
"""A slow answer has so many times what a check allows: it has to be right, not to keep to the time."""
_LONG_LINE = 24
"""Characters from which a line of the reference in a hint counts as the answer."""


def sample(names: list[str], most: int = SAMPLE) -> list[str]:
    """Return a sample of mistakes, always the same: by their place among all, evenly far from each other."""
    return names[:: -(-len(names) // most) or 1]


@dataclass(frozen=True)
class Finding:
    """One reason why a kata does not pass."""

    kata: str
    rule: str
    message: str


@dataclass
class Verdict:
    """What the gate found out about one kata."""

    kata: str
    findings: list[Finding] = field(default_factory=list)
    checks: int = 0
    mutants: int = 0
    tried: int = 0
    """Mutants that were handed in: all of them, or a sample."""
    named: int = 0
    """Mutants recognised by their own sentence, from visible checks alone."""
    seconds: float = 0.0
    """Median time of a full run of the reference."""
    marks: list[stability.StabilityResult] = field(default_factory=list)
    """What each mutant was given, on many seeds."""

    def find(self, rule: str, message: str) -> None:
        """Note a reason."""
        self.findings.append(Finding(self.kata, rule, message))


@dataclass(frozen=True)
class Gate:
    """Examine katas one by one; with `draw`, of the wrong answers a sample alone, against what was kept of all."""

    launcher: Launcher
    """Starts the workers of this process."""
    seeds: int = 1
    """On which right answers have to pass."""
    mistake_seeds: int = 0
    """On which each mistake has to get the same verdicts; 0 leaves what it costs open, too."""
    update: bool = False
    """Whether fingerprints and transcripts are written anew."""
    jobs: int = 1
    """Wrong answers that are graded side by side."""
    step: Step = lambda *_: None
    """Is called with how far it is."""
    draw: Draw | None = None
    """Chooses the mistakes and the other right answers that are tried, and mistakes without fingerprints."""
    train: bool = True
    """Whether alternatives, and what mistakes cost, are seen by checks that train, too."""

    def examine(self, kata: Kata, suite: Suite) -> Verdict:
        """Return everything that is wrong with a kata; nothing when it passes."""
        verdict = self.examine_answers(kata, suite)
        if kata.solution is not None:
            if self.draw is not None and verdict.mutants:
                verdict.findings += self.examine_messages(kata, suite).findings
            verdict.findings += self.examine_speed(kata, suite).findings
        return verdict

    def examine_answers(self, kata: Kata, suite: Suite) -> Verdict:
        """Return what is wrong with a kata but for what decides about speed."""
        verdict = Verdict(kata.slug, checks=len(suite))
        if kata.solution is None:
            verdict.find("solution", "there is no reference in the solutions folder")
            return verdict
        mutants = self._read(mistakes, kata, "mutants", verdict)
        verdict.mutants = len(mutants or [])
        if mutants is not None and self.draw is not None:
            drawn = self.draw([mutant.name for mutant in mutants])
            stored = Fingerprints.load(kata.fingerprints).mutants
            # New ones always: a sample that leaves out what was just written would pass it unseen.
            mutants = [mutant for mutant in mutants if mutant.name in drawn or mutant.name not in stored]
        verdict.tried = len(mutants or [])
        _look_at_files(kata, verdict)
        _look_at_hints(kata, verdict)
        try:
            rubric_of(kata)
        except PackError as error:
            verdict.find("rubric", full_text(error))
        for message in complaints(kata, suite.infos()):
            verdict.find("words", message)
        _look_at_preload(kata, verdict)
        with _copies(kata) as copy:
            self._stub(kata, suite, copy, verdict)
            self._blocks(kata, suite, copy, verdict)
            self._right_answers(kata, suite, copy, verdict)
            # Against a reference that fails itself, every broken property would seem to be noticed.
            if not any(finding.rule == "right answers" for finding in verdict.findings):
                self._contracts(kata, suite, verdict)
            if mutants is not None:
                self._wrong_answers(kata, suite, copy, mutants, verdict)
                if self.mistake_seeds:
                    self._marks(kata, suite, copy, mutants, verdict)
        return verdict

    def examine_messages(self, kata: Kata, suite: Suite) -> Verdict:
        """Return which mistakes pass the check that they have to fail, or of which something else is said there.

        That one check of each mistake takes seconds a kata; checks that train are left out.
        """
        verdict = Verdict(kata.slug, checks=len(suite))
        mutants = self._read(mistakes, kata, "mutants", verdict)
        if kata.solution is None or mutants is None:
            return verdict
        stored, decisive = _messages_of(kata), decisive_checks(kata)
        quick = {item.name for item in suite.exclude(suite.trained()).items}
        mutants = [mutant for mutant in mutants if decisive.get(mutant.name) in quick]

        def found(some: list[HandIn]) -> tuple[list[Mistake], list[Mistake]]:
            """Return those that pass their check, and those of which something else is said there."""
            results = self._hand_in(suite, copy, some, f"{kata.slug}: messages")
            passed, changed = [], []
            for (mutant, _), (report, _) in zip(some, results, strict=True):
                check = next(check for check in report.checks if check.id == decisive[mutant.name])
                if check.status not in WRONG:
                    passed.append(mutant)
                elif stored[mutant.name] != _transcripts([mutant], decisive, {mutant.name: report}, set()):
                    changed.append(mutant)
            return passed, changed

        with _copies(kata) as copy:
            first = found([(mutant, {decisive[mutant.name]}) for mutant in mutants])
            # What fails for what an earlier check left behind, or is described otherwise then, needs that check, too.
            passed, changed = found([(mutant, quick) for mutant in chain(*first)])
        for mutant in passed:
            verdict.find("mutants", f"{mutant.name} must fail {decisive[mutant.name]}, and passes it")
        if changed:
            names = ", ".join([*(mutant.name for mutant in changed[:3]), *(["…"] if changed[3:] else [])])
            verdict.find(
                "transcripts",
                f"what learners would read of {names} has changed: "
                f"kata pack check {kata.slug} --update, then read the difference",
            )
        return verdict

    def examine_speed(self, kata: Kata, suite: Suite) -> Verdict:
        """Return what is wrong with what decides about speed. Nothing is timed: `kata pack calibrate` does that."""
        verdict = Verdict(kata.slug, checks=len(suite))
        slow = self._read(slow_answers, kata, "slow answers", verdict) or []
        checks = _speed_checks(kata, verdict)
        for answer in slow:
            if unknown := [name for name in answer.fails[:1] if name not in checks]:
                verdict.find(
                    "slow answers",
                    f"{answer.name} names {unknown[0]}, which is not a speed check; "
                    f"there is {', '.join(sorted(checks)) or 'none'}",
                )
        if self.draw is not None:
            drawn = self.draw([answer.name for answer in slow])
            slow = [answer for answer in slow if answer.name in drawn]
        verdict.tried = len(slow)
        with _copies(kata) as copy:
            self._baseline(kata, suite, copy, verdict)
            self._slow_answers(kata, suite, copy, slow, verdict)
        return verdict

    @staticmethod
    def _read(
        read: Callable[[Kata], list[Mistake]], kata: Kata, rule: str, verdict: Verdict
    ) -> list[Mistake] | None:
        """Return the mistakes of a kata; None where some of them do not apply."""
        try:
            return read(kata)
        except PackError as error:
            verdict.find(rule, full_text(error))
            return None

    def _stub(self, kata: Kata, suite: Suite, copy: Copy, verdict: Verdict) -> None:
        self.step(f"{kata.slug}: stub", 0, 1)
        report = suite.check(copy(kata.stub), self.launcher)
        if report.status != "not_started":
            verdict.find("stub", f"the stub is “{report.status}”; it must be not_started")
        visible = sum(check.max_points for check in report.checks if not check.hidden)
        hidden = sum(check.max_points for check in report.checks if check.hidden)
        if (visible, hidden) != (kata.points, kata.hidden_points):
            verdict.find(
                "points",
                f"visible checks are worth {visible:g} and hidden ones {hidden:g}; "
                f"kata.toml says {kata.points:g} and {kata.hidden_points:g}",
            )

    def _blocks(self, kata: Kata, suite: Suite, copy: Copy, verdict: Verdict) -> None:
        """Demand of the pack's blocks that they earn next to nothing where they are handed in as an answer."""
        for path in blocks_in(kata.unit.pack):
            try:
                shown = [name for name in kata.required if name in read_blocks(path).names]
            except PackError as error:
                verdict.find("blocks", error.message)
                continue
            if not shown:
                continue
            report = suite.check(copy(path), self.launcher, RunConfig(name=False))
            if report.score > (kata.points + kata.hidden_points) / 10:
                verdict.find(
                    "blocks",
                    f"{', '.join(shown)} of {BLOCKS} would earn {report.score:g} points when handed in",
                )

    def _right_answers(self, kata: Kata, suite: Suite, copy: Copy, verdict: Verdict) -> None:
        assert kata.solution is not None
        times = []
        names = [file.name for file in kata.alternatives]
        drawn = names if self.draw is None else self.draw(names)
        files = (kata.solution, *(file for file in kata.alternatives if file.name in drawn))
        quick = suite if self.train else suite.exclude(suite.trained())
        for place, file in enumerate(files):
            # Training takes longest, and the reference alone shows that its checks can be passed.
            checks = suite if file == kata.solution else quick
            for seed in range(self.seeds):
                self.step(f"{kata.slug}: right answers", place * self.seeds + seed, len(files) * self.seeds)
                report = checks.check(copy(file), self.launcher, RunConfig(seed=seed, draws=1))
                times.append(report.duration_s)
                if report.status != "pass" or any(check.redrawn for check in report.checks):
                    verdict.find(
                        "right answers", f"{file.name} fails at seed {seed}: {_first_failure(report)}"
                    )
                    break
        verdict.seconds = sorted(times)[len(times) // 2]

    def _contracts(self, kata: Kata, suite: Suite, verdict: Verdict) -> None:
        """Demand that each property of each part is looked at, or that the author says why not."""

        def drawn(every: list[Sabotage]) -> list[Sabotage]:
            if self.draw is None:
                return every
            names = self.draw([f"{sabotage.part} {sabotage.name}" for sabotage in every])
            return [sabotage for sabotage in every if f"{sabotage.part} {sabotage.name}" in names]

        contracts = Contracts(kata, suite, self.launcher, self.jobs)
        try:
            cells = contracts.cells(
                step=lambda done, of: self.step(f"{kata.slug}: contracts", done, of), draw=drawn
            )
        except PackError as error:
            verdict.find("contracts", error.message)
            return
        for cell in cells:
            if cell.state == HOLE:
                verdict.find(
                    "contracts",
                    f"{cell.sabotage.part}: {cell.sabotage.name} keeps full marks, so no check looks at its "
                    f"{cell.sabotage.breaks}; see kata pack contracts {kata.slug}",
                )

    def _wrong_answers(
        self, kata: Kata, suite: Suite, copy: Copy, mutants: list[Mistake], verdict: Verdict
    ) -> None:
        # Hidden checks tell learners nothing, and those that train leave no mark: of both only what it has to fail.
        telling = suite.visible_names() - suite.trained()
        every = {item.name for item in suite.items}
        decisive = decisive_checks(kata)

        def hand_in(some: list[HandIn], what: str) -> list[tuple[KataReport, Marks]]:
            return self._hand_in(suite, copy, some, f"{kata.slug}: {what}")

        fresh = Fingerprints(SCHEMA, SEED, {})
        reports: dict[str, KataReport] = {}
        first: list[HandIn] = [(mutant, {*telling, decisive.get(mutant.name, "")}) for mutant in mutants]
        results = hand_in(first, "mistakes")
        for place, (mutant, (report, _)) in enumerate(zip(mutants, results, strict=True)):
            # Of a new one nobody knows yet what it fails.
            if report.status == "pass" and decisive.get(mutant.name) not in every:
                [results[place]] = hand_in([(mutant, every)], "mistakes")
        for mutant, (report, marks) in zip(mutants, results, strict=True):
            reports[mutant.name] = report
            fresh.mutants[mutant.name] = MutantSignatures(
                mutant.say, marks, mutant.idle is not None, mutant.convention is not None
            )
            decisive[mutant.name] = self._look_at_mutant(
                mutant, decisive.get(mutant.name), report, telling, verdict
            )
        _look_for_twins(fresh, mutants, verdict)
        stored = Fingerprints.load(kata.fingerprints)
        assert kata.solution is not None
        results_of = suite.select(telling).results
        right = results_of(copy(kata.solution), self.launcher)
        for check in (check for check, (status, _) in right.items() if status in WRONG):
            verdict.find(
                "fingerprints",
                f"{check} fails for the reference while parameters are redrawn, so what a mistake leaves there says "
                "nothing of it; compare with what the module holds, or hand in what has to stay",
            )
        if self.draw is None:
            others = [results_of(copy(file), self.launcher) for file in kata.alternatives]
            fresh.free = [
                check
                for check, (_, marks) in right.items()
                if not all(equal_fingerprints(other[check][1], marks) for other in others)
            ]
            needs = {item.name: suite.info(item).needs for item in suite.items if item.name in telling}
            pairs = candidates(mutants, fresh, needs) if self.update else known(stored.pairs, mutants)
            fresh.pairs = {
                pair.name: MutantSignatures(checks=marks)
                for (pair, _), (_, marks) in zip(pairs, hand_in(pairs, "two mistakes"), strict=True)
                if not self.update or unlike_either(pair, marks, fresh)
            }
        # Under another draw the marks are compared with the stored ones: learners are recognised by those.
        prints = fresh if self.draw is None else stored
        for mutant in mutants:
            held = reports[mutant.name].checks
            passed = {check.id for check in held if check.status == "pass" and not check.message}
            named = prints.recognise(fresh.mutants[mutant.name].checks, passed)
            _look_at_names(mutant, {name for found in named.values() for name in found.names}, verdict)
        self._keep(kata, fresh, _transcripts(mutants, decisive, reports, suite.trained()), verdict)

    def _look_at_mutant(
        self,
        mutant: Mistake,
        decisive: str | None,
        report: KataReport,
        telling: Container[str],
        verdict: Verdict,
    ) -> str:
        """Return a mutant's decisive check: the same as last time if it fails that."""
        wrong = [check.id for check in report.checks if check.status in WRONG]
        if report.status == "pass":
            verdict.find("mutants", f"{mutant.name} gets full marks")
        elif decisive is not None and decisive not in wrong and not self.update:
            got = ", ".join(sorted(wrong)) or report.message or report.status
            verdict.find("mutants", f"{mutant.name} must fail {decisive}; it fails {got}")
        elif decisive not in wrong:
            decisive = next((check for check in wrong if check in telling), next(iter(wrong), decisive))
        return decisive or report.checks[0].id

    def _marks(self, kata: Kata, suite: Suite, copy: Copy, mutants: list[Mistake], verdict: Verdict) -> None:
        """Demand that a mistake gets the same mark whatever is drawn, and loses no more than it is worth."""
        trained = self.train * (stability.TRAINED_SEEDS if self.draw is None else 1)
        seeds = stability.Seeds(self.mistake_seeds, trained)
        before = {item.name: {*suite.info(item).needs, *suite.info(item).follows} for item in suite.items}
        idleness = Idleness(kata, suite, self.launcher)
        # The draw of a test that is about something else leaves them all out: each costs a run of the reference.
        for message in idleness.complaints(self.draw(list(KINDS)) if self.draw else KINDS):
            verdict.find("idle", message)

        def graded(launcher: Launcher, mistake: Mistake) -> stability.StabilityResult:
            return stability.grade(suite, copy(mistake), mistake.name, launcher, seeds)

        verdict.marks += self._each(graded, mutants, f"{kata.slug}: marks on {self.mistake_seeds} seeds")
        for mutant, marks in zip(mutants, verdict.marks, strict=True):
            if (imitated := idleness.imitated(mutant, marks)) is not None:
                verdict.find("imitation", imitated)
            flips = marks.flips()
            for check, share in flips.items():
                # What only follows a check that changes its mind has no need of an author.
                if share > stability.FLIPPED and before[check].isdisjoint(flips):
                    verdict.find(
                        "steadiness",
                        f"{check} does not always decide the same about {mutant.name}: {share:.0%} of "
                        f"{len(marks.points[check])} seeds differ; draw what shows the mistake every time",
                    )
            if marks.loss > stability.HALF and mutant.costs is None and mutant.idle is None:
                verdict.find(
                    "cost",
                    f"{mutant.name} costs {marks.loss:.0%} of the points; let the checks see what is right in it "
                    '(`follows`, `stand_ins`), or say why: `costs="why"`',
                )

    def _hand_in(
        self, suite: Suite, copy: Copy, some: list[HandIn], what: str
    ) -> list[tuple[KataReport, Marks]]:
        """Return the report of each answer, and its marks in the checks that it fails."""

        def marked(launcher: Launcher, given: HandIn) -> tuple[KataReport, Marks]:
            answer, checks = given
            marks: Marks = {}
            # Unnamed: marks must not depend on the fingerprints that are being made from them.
            options = RunConfig(seed=SEED, name=False)
            report = suite.select(checks).check(copy(answer), launcher, options, marks=marks)
            return report, marks

        return self._each(marked, some, what)

    def _each(self, work: Callable[[Launcher, T], R], items: list[T], what: str) -> list[R]:
        return side_by_side(
            work, items, self.launcher, self.jobs, lambda done: self.step(what, done, len(items))
        )

    def _baseline(self, kata: Kata, suite: Suite, copy: Copy, verdict: Verdict) -> None:
        if kata.speed_checks is None:
            return
        self.step(f"{kata.slug}: baseline", 0, 1)
        handed_in = copy(kata.baseline)
        # Without training first: most baselines fail long before.
        report = suite.exclude(suite.trained()).check(handed_in, self.launcher, RunConfig(seed=SEED))
        if report.status == "pass":
            report = suite.check(handed_in, self.launcher, RunConfig(seed=SEED))
        if report.status != "fail":
            reason = f": {report.message}" if report.message else ""
            verdict.find(
                "baseline",
                f"baseline.py handed in as an answer is “{report.status}”{reason}; learners get it, so it must "
                "load, and fail",
            )

    def _slow_answers(
        self, kata: Kata, suite: Suite, copy: Copy, slow: list[Mistake], verdict: Verdict
    ) -> None:
        untrained = suite.exclude(suite.trained())
        # Slow is what they are for: they must be right, given time.
        patient = RunConfig(seed=SEED, timeout_s=SLOW_PATIENCE * kata.limits.check_timeout_s)
        for place, answer in enumerate(slow):
            self.step(f"{kata.slug}: slow answers", place, len(slow))
            report = untrained.check(copy(answer), self.launcher, patient)
            wrong = {check.id for check in report.checks if check.status in WRONG}
            if report.status != "pass" and not (wrong and wrong <= set(answer.fails)):
                verdict.find("slow answers", f"{answer.name} has to be right: {_first_failure(report)}")

    def _keep(self, kata: Kata, fresh: Fingerprints, transcripts: str, verdict: Verdict) -> None:
        """Compare fingerprints and transcripts with the files, or renew these."""
        assert kata.solution is not None
        golden = kata.solution.parent / TRANSCRIPTS
        stored = Fingerprints.load(kata.fingerprints)
        if self.draw is not None and not self.update:
            stored.mutants = {name: marks for name, marks in stored.mutants.items() if name in fresh.mutants}
            stored.pairs, stored.free = fresh.pairs, fresh.free
        renewed = _renewed(stored, fresh)
        if self.update:
            # Not written when nothing changed: of a compressed file nobody can read the difference.
            if renewed != stored:
                write_atomic(kata.fingerprints, renewed.encode())
            write_atomic(golden, transcripts)
            return
        if renewed != stored:
            renew = f"kata pack check {kata.slug} --update"
            verdict.find("fingerprints", f"{kata.fingerprints.name} is out of date: {renew}")
        if self.draw is None and "\n".join(_messages_of(kata).values()) != transcripts:
            verdict.find(
                "transcripts",
                f"what learners would read has changed: kata pack check {kata.slug} --update, then read the difference",
            )


def _speed_checks(kata: Kata, verdict: Verdict) -> set[str]:
    """Return the names of a kata's speed checks; each threshold belongs to one of them, and to one only."""
    if kata.speed_checks is None:
        return set()
    try:
        demands = demands_of([kata])
    except PackError as error:
        verdict.find("thresholds", error.message)
        return set()
    users: dict[str, list[str]] = {name: [] for name in kata.speed}
    for demand in demands:
        users[demand.name].append(demand.check)
    for name, checks in users.items():
        if len(checks) != 1:
            verdict.find(
                "thresholds",
                f"[speed.{name}] belongs to {', '.join(checks) or 'no speed check'}; it needs one",
            )
    return {demand.check for demand in demands}


def _look_at_files(kata: Kata, verdict: Verdict) -> None:
    learners = {
        "kata.toml",
        "README.md",
        "hints.md",
        "checks.py",
        "speed_checks.py",
        "baseline.py",
        "reflect.md",
        "demo.py",
        "real.py",
        "fingerprints.json.xz",
        "calibration.json",
    }
    # Every file in a kata's folder reaches learners with the pack: a forgotten draft would be published.
    learners |= {f"{kata.module}.py", *(path.name for path in (*kata.given, *kata.support))}
    lesson = kata.lesson.read_text(encoding="utf-8")
    for path in _visible(kata.folder):
        picture = path.suffix in (".svg", ".png") and path.name in lesson
        if path.name not in learners and not picture:
            verdict.find(
                "stray files",
                f"{path.name} does not belong in a kata's folder (a picture must be in README.md)",
            )
    folder = kata.solution_folder
    assert folder is not None
    # Here too by name: `kata pack build` puts all of this folder into the instructors' wheel.
    ours = {
        f"{kata.module}.py",
        HIDDEN,
        SOURCE,
        CHECKS,
        RUBRIC,
        "alternatives",
        *(["forms"] if kata.forms else []),
        "impossible",
        "mutants",
        "slow",
        TRANSCRIPTS,
        REASONS,
    }
    for path in _visible(folder):
        if path.name not in ours:
            verdict.find("stray files", f"{path.name} does not belong in a solution's folder")
    for name, forms in kata.forms.items():
        for form in forms:
            if kata.reference_in({name: form}) is None:
                verdict.find(
                    "forms",
                    f"forms/{name}_{form}.py is missing: what the reference has where that form holds",
                )


def _visible(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "__pycache__")))


def _look_at_hints(kata: Kata, verdict: Verdict) -> None:
    assert kata.solution is not None
    given = {_squeezed(line) for line in _body_lines(kata.stub)}
    answer = {_squeezed(line) for line in _body_lines(kata.solution)} - given
    for tier, hint in enumerate(read_hints(kata.hints), 1):
        squeezed = _squeezed(hint)
        for line in sorted(answer):
            if len(line) >= _LONG_LINE and line in squeezed:
                verdict.find("hints", f"hint {tier} holds a line of the reference: {line}")


def _look_at_preload(kata: Kata, verdict: Verdict) -> None:
    """Import what the kata wants imported before the fork, elsewhere: a thread of it would break every fork."""
    for name in kata.preload:
        with tempfile.TemporaryDirectory(prefix="kata-preload-") as folder:
            # As in a zygote: a library that starts threads in spite of that cannot be forked.
            one = {**interpreter.environment(), "OPENBLAS_NUM_THREADS": "1"}
            trial = interpreter.start(
                "grader.engine.worker.preloads", [name], Path(folder), variables=one, stderr=subprocess.PIPE
            )
            _, errors = trial.communicate()
        if trial.returncode:
            lines = errors.decode(errors="replace").strip().splitlines()
            last = (lines or ["it starts threads, which a forked worker would not have"])[-1]
            verdict.find("preload", f"{name} cannot be imported before the fork: {last}")


def _body_lines(path: Path) -> Iterator[str]:
    """Yield the lines of code, without docstrings, comments, signatures and imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(
            node,
            ast.FunctionDef
            | ast.ClassDef
            | ast.Import
            | ast.ImportFrom
            | ast.Expr
            | ast.If
            | ast.For
            | ast.With,
        ):
            yield from ast.unparse(node).splitlines()


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _look_at_names(mutant: Mistake, names: set[str], verdict: Verdict) -> None:
    """Demand that a mutant is recognised as itself, by its visible checks."""
    own = {name for name in names if mutant.name in name.split("/")}
    verdict.named += bool(own)
    if others := names - own:
        verdict.find("recognition", f"{mutant.name} is taken for {others.pop()}")
    elif not names and mutant.unnamed is None:
        verdict.find(
            "recognition",
            f'{mutant.name} is not recognised; add a check that tells it apart, or `unnamed="why"`',
        )


def _look_for_twins(fresh: Fingerprints, mutants: list[Mistake], verdict: Verdict) -> None:
    """Two mutants that no visible check tells apart are one mistake, unless their authors say why they are two."""
    for index, mutant in enumerate(mutants):
        for other in mutants[index + 1 :]:
            a, b = fresh.mutants[mutant.name].checks, fresh.mutants[other.name].checks
            excused = mutant.unnamed and other.unnamed
            if (
                not excused
                and a.keys() == b.keys()
                and all(equal_fingerprints(a[check], b[check]) for check in a)
            ):
                verdict.find("mutants", f"{mutant.name} and {other.name} give the same results everywhere")


def _renewed(stored: Fingerprints, fresh: Fingerprints) -> Fingerprints:
    """Return fresh fingerprints with the stored marks where they still hold, so that rounding changes nothing."""

    def renewed(
        fresh: Mapping[str, MutantSignatures], stored: Mapping[str, MutantSignatures]
    ) -> dict[str, MutantSignatures]:
        mutants = {}
        for name, mutant in fresh.items():
            old = stored[name].checks if name in stored else {}
            # Processors round differently: renewed as a whole, the file would differ in every line on another
            # machine.
            checks = {
                check: old[check] if equal_fingerprints(old.get(check), marks) else marks
                for check, marks in mutant.checks.items()
            }
            mutants[name] = MutantSignatures(mutant.say, checks, mutant.idle, mutant.convention)
        return mutants

    return Fingerprints(
        fresh.schema,
        fresh.seed,
        renewed(fresh.mutants, stored.mutants),
        renewed(fresh.pairs, stored.pairs),
        fresh.free,
    )


def decisive_checks(kata: Kata) -> dict[str, str]:
    """Return the check that each mistake of a kata has to fail: the one in its transcript."""
    return dict(_HEAD.findall("".join(_messages_of(kata).values())))


def _messages_of(kata: Kata) -> dict[str, str]:
    """Return the transcript of each mistake."""
    assert kata.solution is not None
    path = kata.solution.parent / TRANSCRIPTS
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    parts = re.split(r"^(?==== )", text, flags=re.MULTILINE)[1:]
    return {part.split(maxsplit=2)[1]: part.rstrip("\n") + "\n" for part in parts}


def _transcripts(
    mutants: Iterable[Mistake], decisive: Mapping[str, str], reports: dict[str, KataReport], trained: set[str]
) -> str:
    """Return what a learner reads who made each mistake, as one text to compare and to proof-read."""
    parts = []
    for mutant in mutants:
        check = next((c for c in reports[mutant.name].checks if c.id == decisive[mutant.name]), None)
        message: str
        if check is None:
            message = reports[mutant.name].status
        elif check.id in trained:
            message = "(what a trained model returns differs between processors)"
        else:
            message = _stable(check.message or "")
        parts.append(f"=== {mutant.name} · {decisive[mutant.name]}\n{message}\n")
    return "\n".join(parts)


_ALL_ROUNDING = re.compile(
    r"(?:all|(?:\d+|…) of) \d+ values differ[^\n;]*(?:; |\n)greatest difference \d(?:\.\d)?e-(?:0[7-9]|[1-9]\d)[^\n]*"
)
"""Which values these are, and how many, is another on each processor."""


def _stable(message: str) -> str:
    r"""Leave out what edits change, and what is another on each processor: last digits, tolerances, which are measured
    rounding, and how many values these count as wrong.

    >>> for most in ("2.3e-7", "4.8e-6"):
    ...     print(_stable(f"y\ngot 0.97123  want 0.97124\n9 of 28 values differ\ngreatest difference {most} at [0]"))
    y  got 0.97  want 0.97
    they differ by rounding
    y
    got 0.97  want 0.97
    9 of 28 values differ
    greatest difference 4.8e-06 at [0]
    """
    # A line that is added above moves all numbers, and says nothing of what learners read.
    message = re.sub(r"(\.py, line|\(line) \d+", r"\1 …", in_older_words(message))
    message = re.sub(r"\btolerance \d[\d.e+-]*", "tolerance …", message)
    message = re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda found: f"{float(found[0]):.2g}", message)
    message = re.sub(r"\b\d+( of \d+ \w+ differ \(tolerance …\))", r"…\1", message)
    shortened, rounding = _ALL_ROUNDING.subn("they differ by rounding", message)
    return shortened.replace("\ngot ", "  got ") if rounding else message


def _first_failure(report: KataReport) -> str:
    check = next((check for check in report.checks if check.status in WRONG or check.redrawn), None)
    text = f"{check.name}: {check.message}" if check is not None else report.message or report.status
    return text.replace("\n", " / ")[:300]


@contextmanager
def _copies(kata: Kata) -> Iterator[Copy]:
    """Give a function that puts an answer into a folder of its own, under the name that a submission has."""
    with tempfile.TemporaryDirectory(prefix="kata-gate-") as folder:

        def copy(answer: Path | Mistake) -> Path:
            source = answer.source.path if isinstance(answer, Mistake) else answer
            # Two mistakes at once have the place of one of them, and may be graded at the same time.
            target = Path(folder, str(os.getpid()), source.parent.name, source.stem, f"{kata.module}.py")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(answer.source.data if isinstance(answer, Mistake) else answer.read_bytes())
            return target

        yield copy
