"""Run the checks of a kata over one submission, one after the other, and judge each."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pytest
import torch

from grader.catalogue.pack_code import signatures_of
from grader.engine.checks.decorators import CheckInfo
from grader.engine.checks.describe import is_starred
from grader.engine.checks.failure import PROPERTIES, policy_breach
from grader.engine.checks.stand_ins import install_stand_ins
from grader.engine.host.calls import Calls
from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import Launcher
from grader.engine.host.session import Session
from grader.engine.host.source import Source, read_source
from grader.engine.host.syntax import MAX_CODE, UNPARSED, body_of
from grader.engine.mistakes.idle import IdleWatch
from grader.engine.mistakes.recognise import SEED, FailureSignature, Mark, fingerprint
from grader.engine.runner.backend import CheckContext, RunSettings, WorkerBackend, no_reference
from grader.engine.runner.charge import charge
from grader.engine.runner.collected import Collected
from grader.engine.runner.failure_context import Look
from grader.engine.runner.outcome import MessageContext, Outcome, judge, unusable_result
from grader.engine.runner.plugin import check_seed
from grader.engine.runner.remarks import SourceRemarks
from grader.errors import MachineFault, PackError
from grader.machine import shortage
from grader.report.report import ALREADY_DEDUCTED, WRONG, CheckReport, CheckStatus, KataStatus

RECOGNISED = 12
"""Failed checks that are run again to recognise a mistake."""
StandIns = Mapping[str, Callable[..., Any]]
NONE_STANDS_IN: StandIns = {}
UNMADE = ("fail", "error", "skipped", "todo")
"""How a check can end that may pass with a stand-in. What ran out of time is not run again."""
Progress = Callable[[CheckReport, Calls], None]
"""Told after every check: what became of it, and the calls it made."""


@dataclass(frozen=True)
class Options:
    """How a run is done."""

    seed: int = 0
    fail_fast: bool = False
    name: bool = True
    """Whether mistakes are named, for which checks run again: who only counts what is caught needs no name."""
    timeout_s: float | None = None
    device: str = "cpu"
    tell: Callable[[float], None] = lambda seconds: None
    """Told at every stage how many seconds it may take; beyond that the grader's own work is watched."""
    timed_s: float = 3600.0
    """What a check of speed may take: it waits until the device is free."""
    draws: int = 3
    """How many draws of a check are tried when the reference fails them: 1 in the gate, which looks for such draws."""


@dataclass(frozen=True)
class RunContext:
    """Context of a run: the submission, the worker that it runs in, and the options."""

    source: Source
    backend: WorkerBackend
    options: Options
    launcher: Launcher
    """Where workers come from."""
    progress: Progress | None = None
    look: Look | None = None
    """Told of every check that goes wrong, for the person who wrote the submission: then there are no marks."""


@dataclass
class CheckOutcome:
    """Outcome of one check, and what must be known of it after all have run."""

    item: pytest.Item
    report: CheckReport
    outcome: Outcome
    rests_on_policy: bool
    """Whether its result may not rest on anything that is excluded."""
    judged_uses: bool
    """Whether it judged that itself."""
    names_used: frozenset[str]
    """Which of the submission's names it asked for."""
    seed: int
    """Of the draw that it judged."""
    timed: bool = False
    """Whether it is a check of speed or memory, which no status depends on."""
    tells: bool = False
    """Whether it failed in a way that may say which mistake was made."""
    left: FailureSignature | None = None
    """What the submission left behind when it was run again to recognise a mistake."""


@dataclass
class KataRun:
    """One run of a kata's checks over one submission."""

    checks: Collected
    attempt: RunContext
    done: list[CheckOutcome] = field(default_factory=list)
    recognised: int = RECOGNISED
    """So many failed checks are run again."""
    marking: bool = False
    """Whether what is left behind is wanted even where no mistake is to be named."""
    left_behind: dict[str, FailureSignature | None] = field(default_factory=dict)
    """What the same submission left behind in checks that were run again in other runs."""
    used: dict[str, None] = field(default_factory=dict)
    """What the kata excludes and was used in any check."""

    def run(self) -> None:
        """Run every check, in order; then name the mistakes, and take back what rests on what is excluded."""
        attempt, who = self.attempt, self.attempt.backend
        try:
            for item in self.checks.items:
                if attempt.look is not None and attempt.launcher.name == "fork":
                    # A fork takes 10 ms; without one, what is made again begins with all earlier checks.
                    who.stop_worker()
                judged = self._judged(item)
                self.done.append(judged)
                self.used.update(dict.fromkeys(judged.outcome.used))
                if attempt.progress is not None:
                    attempt.progress(judged.report, who.calls)
                if attempt.options.fail_fast and judged.report.status in WRONG:
                    break
            broken = [one for one in self.done if one.outcome.pack_fault]
            if broken and len(broken) == len(self.done):
                first = broken[0]
                raise PackError(f"{first.item.path}: {first.item.name} is broken.\n{first.report.message}")
            if attempt.look is None:
                if attempt.options.name or self.marking:
                    self._recognise()
                if attempt.options.name and not who.session.forbidden_uses():
                    self._judge_by_the_mistake()
                    self._withhold_idle()  # first: no more is given back than the rest has earned
                    self._charge()
        finally:
            if self._model is not None:
                self._model.stop_worker()
        self._withhold()
        self._withhold_idle()

    def marks(self) -> dict[str, list[Mark]]:
        """Return what the submission left behind in each visible check that it failed."""
        return {one.report.id: one.left.marks for one in self.done if one.left is not None}

    def left_in(self, item: pytest.Item) -> list[Mark]:
        """Return what the submission leaves in a check, whether it passes or not."""
        self._attempted(item, self.attempt.backend, seed=None)
        return fingerprint(self.attempt.backend.session.log.observed)

    def lost(self, *, timed: bool) -> float:
        """Return the points that nobody could get, because of the machine: for being right, or for being fast."""
        return sum(one.report.max_points for one in self.done if one.outcome.machine and one.timed is timed)

    def todo(self) -> list[str]:
        """Return what is still to be written, in the order in which checks came upon it."""
        return list(dict.fromkeys(one.outcome.todo for one in self.done if one.outcome.todo))

    def status(self) -> KataStatus:
        """Return the kata's status: this is where a verdict is decided."""
        # Slow is not wrong; where speed alone was asked about, it is what there is to be told.
        judged = [one for one in self.done if not one.timed] or self.done
        statuses = {one.report.status for one in judged}
        outcomes, all_ran = self.attempt.backend.session.outcomes, len(self.done) == len(self.checks)
        if all_ran and all(one.report.status == "pass" or one.outcome.machine for one in judged):
            return "fail" if self.used else "pass"
        if self._is_stub_only(judged, all_ran):
            return "not_started"
        # It never answered at all: no check says anything about what it computes.
        if outcomes.died and not outcomes.answered:
            return "error"
        if "timeout" in statuses:
            return "timeout"
        return (
            "in_progress" if "todo" in statuses and statuses.isdisjoint(WRONG) and not self.used else "fail"
        )

    def _is_stub_only(self, judged: Sequence[CheckOutcome], all_ran: bool) -> bool:
        """Return whether nothing has been written yet of what the kata asks for."""
        outcomes, required = self.attempt.backend.session.outcomes, self.checks.kata.required
        if outcomes.written or not outcomes.not_written or any(one.report.points for one in judged):
            return False
        # Part of the checks says nothing about names that only the others call.
        return (self.checks.complete and all_ran) or outcomes.not_written.issuperset(required)

    # One check ----------------------------------------------------------------------------------------------------

    def _judged(self, item: pytest.Item) -> CheckOutcome:
        """Run one check, and decide what it says and what it is worth."""
        who = self.attempt.backend
        info, report, names = self.checks.info(item), self.checks.empty_report(item), frozenset[str]()
        timed, seed = info.threshold is not None, self.attempt.options.seed
        unmet = None if timed else self._unmet(info)
        if info.threshold is not None:
            outcome = self._timed(item, report, info.threshold)
        elif unmet is not None:
            outcome = unmet
        else:
            outcome = self._attempted(item, who, seed=seed)
            report.output = who.session.take_output() or None
            outcome, seed = self._answered(item, report, outcome)
            names = frozenset(who.session.log.names)
        # Looked up before the check is run again on its own: that needs another worker, which was asked other things.
        rests_on_policy = timed or who.rests_on_policy()
        judged_uses = who.session.log.asked_uses or report.aspect == "scratch"
        if not timed and unmet is None and outcome.status in UNMADE and not outcome.machine:
            outcome = self._on_its_own(item, info, outcome, seed)
        report.status, report.message, report.location = outcome.status, outcome.message, outcome.location
        report.likely = outcome.cause or None
        report.points = report.max_points if outcome.status == "pass" else 0.0
        # Nothing that was trained or timed says which mistake it was.
        silent = report.hidden or info.trained or timed
        tells = report.status in ("fail", "error") and not silent
        return CheckOutcome(item, report, outcome, rests_on_policy, judged_uses, names, seed, timed, tells)

    def _answered(self, item: pytest.Item, report: CheckReport, outcome: Outcome) -> tuple[Outcome, int]:
        """Return how a check ends in the first draw that the reference can answer, and that draw's seed.

        Where there is none, the check is the pack's fault: its points leave the maximum, as for the machine's.
        `outcome` is how it ended in the first draw of all.
        """
        who, options = self.attempt.backend, self.attempt.options
        seed = options.seed
        for number in range(1, options.draws + 1):
            control = self._control_of_failure(item, outcome, seed)
            # Without a reference the check's own word is all there is.
            if not (outcome.pack_fault if control is None else control.failed and not control.by_machine):
                return unusable_result([], outcome.lines) if outcome.pack_fault else outcome, seed
            report.redrawn = number
            if number < options.draws:
                seed = check_seed(options.seed, f"draw {number}")
                outcome = self._attempted(item, who, seed=seed)
                report.output = who.session.take_output() or None
        lines = ["not judged, and its points are not counted: the fault is the check's", *outcome.lines]
        return Outcome("skipped", lines, pack_fault=True, machine=True), seed

    def _control_of_failure(self, item: pytest.Item, outcome: Outcome, seed: int) -> Outcome | None:
        """Return how the reference ends in a draw that the submission failed; None where that is not known.

        Nothing that the submission did is part of it, so nobody can bring about another draw.
        """
        # At the gate's first seed the reference has passed.
        if self._model is None or not (outcome.pack_fault or (outcome.failed and seed != SEED)):
            return None
        known = self.checks.controls
        if (item.name, seed) not in known:
            control = self._control(item, seed)
            if control.failed:  # once more, with nothing of the submission's in its way
                self.attempt.backend.session.close()
                self._model.stop_worker()
                control = self._control(item, seed)
            known[item.name, seed] = control
        return known[item.name, seed]

    def _unmet(self, info: CheckInfo) -> Outcome | None:
        """Return the outcome of a check that needs another which did not pass, or follows one that never ended."""
        endless = [one.report.id for one in self.done if one.report.status == "timeout"]
        for need in (*info.needs, *(name for name in info.follows if name in endless)):
            for one in self.done:
                if one.report.id != need or one.report.status == "pass":
                    continue
                if one.report.status == "todo":
                    return Outcome("todo", [f"not written yet: it needs “{one.report.name}” to hold first"])
                lines = [f"skipped: it needs “{one.report.name}” to hold first"]
                return Outcome("skipped", lines, after=one.report.id)
        return None

    def _on_its_own(self, item: pytest.Item, info: CheckInfo, outcome: Outcome, seed: int) -> Outcome:
        """Return how a failed check ends when earlier failures are not charged to it.

        Where what failed is a function that the author can stand in for, it is run once more with that; where it is
        known to follow from another check that did not pass, that is all it says.
        """
        # Only for functions that another check has found wrong: nobody is helped over what nobody deducted.
        wrong = {name for one in self.done if one.report.status != "pass" for name in one.names_used}
        names = [name for name in info.stand_ins if name in wrong]
        if names:
            who = self.attempt.backend
            ours = self.checks.stand_ins(item, names)
            again = self._attempted(item, who, ours, seed=seed)
            # A check that asks for the function itself would have judged the author's.
            judged_ours = any(name in names for name in who.session.log.names)
            who.stop_worker()  # the next worker has all of the learner's own again
            if again.status == "pass" and not judged_ours:
                listed_names = " and ".join(f"`{name}`" for name in names)
                return Outcome("pass", [f"judged with our {listed_names} in place of yours"])
        for one in self.done if outcome.status != "todo" else ():
            if one.report.id in info.follows and one.report.status != "pass":
                lines = [f"skipped: “{one.report.name}” has to hold first"]
                return Outcome("skipped", lines, after=one.report.id, itself=outcome)
        return outcome

    def _attempted(
        self,
        item: pytest.Item,
        who: WorkerBackend,
        stand_ins: StandIns = NONE_STANDS_IN,
        reference: Callable[[], types.ModuleType] | None = None,
        *,
        seed: int | None,
    ) -> Outcome:
        """Run one check; a worker that died in an earlier one is replaced first.

        One that was killed may have been killed by the machine, so the check has a second chance; so has one in which
        the grader ran out of something. Without a seed it runs as fingerprints were taken.

        Raises:
            MachineFault: it ran out again, and does so for the reference.
        """
        alike, seed = seed is None, SEED if seed is None else seed
        conditions = self._conditions(seed)
        context = CheckContext(who, replace(conditions, reference=reference or conditions.reference))
        # A second chance and no third: what was killed or ran out twice is judged, with the reference as a
        # control.
        for last in (False, True):
            try:
                who.begin(check_seed(seed, item.name), alike=alike)
                # After `begin`, which may have started another worker: a stand-in lives in that one's module.
                install_stand_ins(who.submission, stand_ins)
            except WorkerTimeout as error:
                outcome = judge(error, who.calls, context.conditions.wording)
            except (WorkerDied, SubmissionRaised) as error:
                killed = isinstance(error, WorkerDied) and error.killed
                outcome = Outcome("error", [f"the submission did not load again: {error}"], killed=killed)
            else:
                outcome = self.checks.plugin.run(item, context)
            if outcome.shortage:
                who.stop_worker()  # in the middle of a frame, perhaps
                gc.collect()  # what the check held goes with its frames
            if last or not (outcome.killed or outcome.shortage):
                break
            who.session.take_output()
        judged = who is self.attempt.backend and self._model is not None
        if outcome.shortage and judged and self._control(item, seed).shortage:
            raise MachineFault(f"In {item.name} this machine ran out of something.", outcome.shortage)
        return outcome

    @cached_property
    def _unstarred(self) -> Mapping[str, Sequence[str]]:
        """The learner's own parameters where any number of arguments is asked for and none of them is that."""
        starred = {
            name for name, names in self.checks.kata.signatures().items() if any(map(is_starred, names))
        }
        if not starred or len(self.attempt.source.data) > MAX_CODE:
            return {}
        try:
            own = signatures_of(body_of(self.attempt.source))
        except UNPARSED:
            return {}
        return {name: own[name] for name in starred & own.keys() if not any(map(is_starred, own[name]))}

    @cached_property
    def _own_remarks(self) -> SourceRemarks:
        return SourceRemarks(self.attempt.source, self.checks.kata.required)

    def _remarks(self, name: str, message: str) -> list[str]:
        return self._own_remarks.on(name, message)  # read only when something has failed

    def _conditions(self, seed: int) -> RunSettings:
        attempt, checks = self.attempt, self.checks
        timeout_s = attempt.options.timeout_s or checks.terms.check_timeout_s
        return RunSettings(
            seed,
            torch.device(attempt.options.device),
            MessageContext(
                attempt.source.path.name, checks.kata.signatures(), timeout_s, self._unstarred, self._remarks
            ),
            # Where a learner looks around there is no answer.
            checks.reference if attempt.look is None else no_reference,
            attempt.look,
        )

    def _timed(self, item: pytest.Item, report: CheckReport, threshold: str) -> Outcome:
        """Run a check of speed or memory: only when all is right, and with nothing else of the submission alive."""
        attempt, kata = self.attempt, self.checks.kata
        if attempt.look is not None:
            return Outcome("skipped", ["under a debugger nothing can be timed"], machine=True)
        for one in self.done:
            same = one.report.aspect == report.aspect
            if not (same or one.report.status == "pass" or one.outcome.machine):
                return Outcome(
                    "skipped", [f"skipped: first “{one.report.name}” has to hold, then speed counts"]
                )
        # Late: most runs time nothing, and should not wait for what times.
        from grader.engine.runner.kata_terms import setting_of
        from grader.engine.timing.speed import Speed

        options, who = attempt.options, attempt.backend
        who.stop_worker()
        setting = setting_of(kata, attempt.source, attempt.launcher, options.device, who.calls)
        options.tell(options.timed_s)
        for _ in range(2):  # one that was killed may have been killed by the machine
            speed = Speed(setting, kata.speed[threshold], marks=kata.is_measured(threshold, setting.kind))
            outcome = self.checks.plugin.run(item, CheckContext(who, self._conditions(options.seed), speed))
            if not outcome.killed:
                break
        if outcome.pack_fault:
            raise PackError(f"{item.path}: {item.name} is broken.\n{outcome.message}")
        if speed.measured is not None:
            report.speed = speed.measured
        return outcome

    @cached_property
    def _model(self) -> WorkerBackend | None:
        """The reference in a worker of its own; None where there is none to compare with."""
        attempt, checks = self.attempt, self.checks
        solution, options = checks.kata.solution, attempt.options
        if attempt.look or solution in (None, attempt.source.path):
            return None
        source = read_source(solution)
        session = Session(attempt.launcher, source, checks.terms, device=options.device, tell=options.tell)
        return WorkerBackend(session, options.timeout_s)

    def _control(self, item: pytest.Item, seed: int) -> Outcome:
        """Return how the reference ends in a draw."""
        assert self._model is not None
        outcome = self._attempted(item, self._model, seed=seed)
        self._model.session.take_output()
        return outcome

    # All checks ---------------------------------------------------------------------------------------------------

    def _recognise(self) -> None:
        """Name the mistakes that failed checks make; see `recognise`."""
        # The first ones: each costs as much as it did, and a few name the mistake as well as all.
        telling = [one for one in self.done if one.tells][: self.recognised]
        if not telling:
            return
        if any(one.report.id not in self.left_behind for one in telling):
            self.attempt.backend.stop_worker()  # what keeps state leaves the same whatever was asked of it before
        # They run once more, as the fingerprints were taken: at their seed, and with parameters that are the
        # same in every submission. One that passes there says nothing.
        for one in telling:
            if one.report.id not in self.left_behind:
                self.left_behind[one.report.id] = self._marked(one.item)[1]
            one.left = self.left_behind[one.report.id]
        if not self.attempt.options.name:
            return
        left, passed = self._marks_of_the_rest()
        # What passed with the author's function in place of the submission's speaks against nothing.
        passed |= {
            one.report.id for one in self.done if one.report.status == "pass" and not one.outcome.lines
        }
        left |= {one.report.id: one.left for one in self.done if one.left is not None}
        by_numbers = {name for name, one in left.items() if one.by_numbers}
        marks = {name: one.marks for name, one in left.items()}
        found = self.checks.fingerprints.recognise(marks, passed, by_numbers)
        for one in self.done:
            if (named := found.get(one.report.id)) is not None:
                one.report.misconception = named.names[0].replace("_", "-")
                one.report.likely = named.say
                one.report.message = "\n".join(one.outcome.without_guess()) or None

    def _charge(self) -> None:
        """Charge each slip once."""
        kata, prints = self.checks.kata, self.checks.fingerprints
        reports = [(one.report, one.outcome) for one in self.done if not one.timed]
        known = {name.replace("_", "-"): mistake for name, mistake in prints.mutants.items()}
        unsure = {name: mistake.checks.keys() & set(prints.free) for name, mistake in known.items()}
        seen_idle = any(report.same_mistake == "idle" for report, _ in reports)
        hidden = kata.hidden_points if any(report.hidden for report, _ in reports) else 0
        charge(
            reports,
            kata.points + hidden,
            unsure,
            {name for name, mistake in known.items() if mistake.idle or seen_idle},
        )

    def _judge_by_the_mistake(self) -> None:
        """Judge hidden checks that failed by the reference with the mistake that visible ones have named and charged.

        Where the mistake is not known, or is not the only one, they stay as they are; so they do where something never
        ended, which would not end here either, and where the mistake leaves nothing to compute: a function that is
        constant would else earn the points of checks that look at its values.
        """
        # Of visible checks alone: hidden ones are never recognised (`tells`).
        named = {one.report.misconception: one.report.likely for one in self.done if one.report.misconception}
        failed = [
            one
            for one in self.done
            if one.report.hidden
            and one.report.status in ("fail", "error", "skipped")
            and not one.outcome.machine
            and "reference" in getattr(one.item, "fixturenames", ())
        ]
        if len(named) != 1 or not failed or any(one.report.status == "timeout" for one in self.done):
            return
        [(name, say)] = named.items()
        mistake = self.checks.catalogued(str(name).replace("-", "_"))
        if mistake is None:
            return
        who, given = self.attempt.backend, self.checks.terms.given
        for one in failed:
            # Whether the mistake leaves anything to compute shows only while it runs.
            watch = IdleWatch(mistake, given)
            who.stop_worker()  # what keeps state begins anew, as ours with the same mistake does
            again = self._attempted(one.item, who, reference=watch.reference, seed=one.seed)
            who.session.take_output()
            if again.status != "pass":
                continue
            one.report.same_mistake = "idle" if watch.idle else "counted"
            if not watch.idle:
                one.outcome, one.left = Outcome("pass", [ALREADY_DEDUCTED, f"  {say}"]), None
                one.report.status, one.report.message, one.report.location = "pass", one.outcome.message, None
                one.report.likely = None
                one.report.points = one.report.max_points

    def _marked(self, item: pytest.Item) -> tuple[CheckStatus, FailureSignature | None]:
        """Run a check to recognise a mistake; return how it ended, and what the submission left behind if it failed."""
        who = self.attempt.backend
        outcome = self._attempted(item, who, seed=None)
        who.session.take_output()
        if outcome.status not in ("fail", "error"):
            return outcome.status, None
        try:
            return outcome.status, FailureSignature(fingerprint(who.session.log.observed), outcome.by_numbers)
        except (MemoryError, RuntimeError) as error:
            if not shortage(error):
                raise
            return outcome.status, None  # too much to tell anything by

    def _marks_of_the_rest(self) -> tuple[dict[str, FailureSignature], set[str]]:
        """Run the checks that were not asked for, to see what they say of a mistake; nothing of it is reported.

        Returns what the submission left behind in those it failed, and those it passed.
        """
        # Some mistakes are alike in one check and are told apart by what else they break: the sentence that all
        # checks together led to must not be lost when one of them is repeated.
        ends: dict[str, CheckStatus] = {one.report.id: one.report.status for one in self.done}
        not_run = [item for item in (*self.checks.items, *self.checks.rest) if item.name not in ends]
        left: dict[str, FailureSignature] = {}
        passed: set[str] = set()
        # In the order of the file, as in a whole run: a check may need an earlier one.
        for item in sorted(not_run, key=lambda item: item.location[1] or 0):
            info = self.checks.info(item)
            # Training and timing take long and leave no mark that repeats; hidden checks tell learners
            # nothing.
            if info.trained or info.threshold is not None or item.path != self.checks.kata.checks:
                continue
            if any(ends.get(need, "pass") != "pass" for need in info.needs):
                ends[item.name] = "skipped"
                continue
            ends[item.name], found = self._marked(item)
            if ends[item.name] != "pass" and any(ends.get(name, "pass") != "pass" for name in info.follows):
                ends[item.name], found = "skipped", None
            # One may be a loop; every further check could take its whole time, for a sentence alone.
            if ends[item.name] == "timeout":
                break
            if found is not None:
                left[item.name] = found
            elif ends[item.name] == "pass":
                passed.add(item.name)
        return left, passed

    def _withhold_idle(self) -> None:
        """Take the points of checks that saw nothing but idle values, where others of these names were wrong."""
        stats, required = self.attempt.backend.session.outcomes, set(self.checks.kata.required)
        # A mask that is True everywhere may be right, and on the wrong device.
        wrong = {
            one.outcome.came_from
            for one in self.done
            if one.outcome.idle and one.outcome.stage not in PROPERTIES
        }
        idle = (stats.still - stats.works) & wrong
        for one in self.done:
            names = one.names_used & required
            if names and names <= idle and one.report.points:
                one.report.points = 0.0
                if one.report.status == "pass":
                    listed = " and ".join(f"`{name}`" for name in sorted(names))
                    one.report.message = (
                        f"no points: {listed} returned one number or an argument in every call"
                    )

    def _withhold(self) -> None:
        """Take the points of checks that rest on the policy when something was used that the kata excludes."""
        resting = [one for one in self.done if one.rests_on_policy]
        if resting:
            # Only here, after the last check: a use may come to light long after the check that rests on
            # its absence.
            self.used.update(dict.fromkeys(self.attempt.backend.session.forbidden_uses()))
        # What they say of the numbers stays: a check that holds still passes, for no points. One that judges
        # the uses fails, whether a later check brought the use to light or the refusal kept it from its question.
        for one in resting if self.used else ():
            check = one.report
            check.points = 0.0
            if check.status == "pass" or (one.judged_uses and check.status == "skipped"):
                lines = policy_breach(list(self.used), self.checks.terms.advice)
                if one.judged_uses:
                    check.status = "fail"
                else:
                    lines[0] = f"right, but no points: the submission {lines[0]}"
                check.message = "\n".join(lines)
