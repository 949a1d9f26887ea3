"""Run the checks of a kata over one submission, one after the other, and judge each."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from grader.engine.checks.failure import PROPERTIES
from grader.engine.checks.stand_ins import install_stand_ins
from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import Launcher
from grader.engine.host.session import Session
from grader.engine.mistakes.load_reference import IdleWatch
from grader.engine.mistakes.recognise import SEED, FailureSignature, Mark, fingerprint
from grader.engine.runner.charge import charge, withhold_excluded, withhold_idle
from grader.engine.runner.collected import Collected
from grader.engine.runner.outcome import (
    Circumstances,
    Outcome,
    Outcomes,
    RunCheck,
    after_crashes,
    judge,
    unusable_result,
    waits_for,
    without_lost_digits,
)
from grader.engine.runner.plugin import (
    PASSED,
    CheckContext,
    RunConfig,
    WorkerBackend,
    check_seed,
    info_of,
    no_reference,
)
from grader.errors import MachineFault, PackError
from grader.machine import shortage
from grader.report.report import ALREADY_DEDUCTED, WRONG, CheckStatus, KataStatus

if TYPE_CHECKING:
    from grader.engine.timing.speed import Speed

RECOGNISED = 12
"""Failed checks that are run again to recognise a mistake."""
StandIns = Mapping[str, Callable[..., Any]]
NONE_STANDS_IN: StandIns = {}
UNMADE = ("fail", "error", "skipped", "todo")
"""How a check can end that may pass with a stand-in. What ran out of time is not run again."""


@dataclass
class KataRun:
    """One run of a kata's checks over one submission."""

    suite: Collected
    backend: WorkerBackend
    """The submission in its worker."""
    launcher: Launcher
    """Where other workers come from."""
    config: RunConfig
    recognised: int = RECOGNISED
    """So many failed checks are run again."""
    marking: bool = False
    """Whether what is left behind is wanted even where no mistake is to be named."""
    left_behind: dict[str, FailureSignature | None] = field(default_factory=dict)
    """What the same submission left behind in checks that were run again, in this run and in others."""
    outcomes: dict[RunCheck, Outcome] = field(default_factory=dict)
    used: dict[str, None] = field(default_factory=dict)
    """What the kata excludes and was used in any check."""

    def run(self) -> None:
        """Run every check, explain what failed, and charge for it.

        Raises:
            PackError: every check is broken.
        """
        try:
            for check in self.suite.checks:
                if self.config.look is not None and self.launcher.name == "fork":
                    # A fork takes 10 ms; without one, what is made again begins with all earlier checks.
                    self.backend.stop_worker()
                outcome = self.outcomes[check] = self._judged(check)
                self.used.update(dict.fromkeys(outcome.used))
                if self.config.fail_fast and outcome.status in WRONG:
                    break
            broken = [check.item for check, outcome in self.outcomes.items() if outcome.pack_fault]
            if broken and len(broken) == len(self.outcomes):
                message = next(iter(self.outcomes.values())).message
                raise PackError(f"{broken[0].path}: {broken[0].name} is broken.\n{message}")
            self.outcomes = self._explained(self.outcomes)
        finally:
            if self._model is not None:
                self._model.stop_worker()
        self.outcomes = self._charged(self.outcomes)

    def marks(self) -> dict[str, list[Mark]]:
        """Return what the submission left behind in each visible check that it failed."""
        left = {check.id: self.left_behind.get(check.id) for check in self._telling(self.outcomes)}
        return {name: signature.marks for name, signature in left.items() if signature is not None}

    def left_in(self, check: RunCheck) -> tuple[CheckStatus, list[Mark]]:
        """Return how a check ends that is run as fingerprints are taken, and what the submission leaves in it."""
        outcome = self._attempted(check.item, self.backend, seed=None)
        return outcome.status, fingerprint(self.backend.session.log.observed)

    def lost(self, *, timed: bool) -> float:
        """Return the points that nobody could get, because of the machine: for being right, or for being fast."""
        return sum(
            check.info.points
            for check, outcome in self.outcomes.items()
            if outcome.machine and check.timed is timed
        )

    def earned(self, *, timed: bool) -> float:
        """Return the points of the submission: for being right, or for being fast."""
        return sum(outcome.points for check, outcome in self.outcomes.items() if check.timed is timed)

    def todo(self) -> list[str]:
        """Return what is still to be written, in the order in which checks came upon it."""
        return list(dict.fromkeys(outcome.todo for outcome in self.outcomes.values() if outcome.todo))

    def status(self) -> KataStatus:
        """Return the kata's status: this is where a verdict is decided."""
        # Slow is not wrong; where only speed was asked about, it decides.
        judged = [outcome for check, outcome in self.outcomes.items() if not check.timed]
        judged = judged or list(self.outcomes.values())
        statuses = {outcome.status for outcome in judged}
        stats, all_ran = self.backend.session.outcomes, len(self.outcomes) == len(self.suite)
        if all_ran and all(outcome.status == "pass" or outcome.machine for outcome in judged):
            return "fail" if self.used else "pass"
        if self._is_stub_only(judged, all_ran):
            return "not_started"
        # It never answered at all: no check says anything about what it computes.
        if stats.died and not stats.answered:
            return "error"
        if "timeout" in statuses:
            return "timeout"
        return (
            "in_progress" if "todo" in statuses and statuses.isdisjoint(WRONG) and not self.used else "fail"
        )

    def _is_stub_only(self, judged: Sequence[Outcome], all_ran: bool) -> bool:
        """Return whether nothing has been written yet of what the kata asks for."""
        stats, required = self.backend.session.outcomes, self.suite.kata.required
        if stats.written or not stats.not_written or any(outcome.points for outcome in judged):
            return False
        # Part of the checks says nothing about names that only the others call.
        return (self.suite.complete and all_ran) or stats.not_written.issuperset(required)

    # Run ----------------------------------------------------------------------------------------------------------

    def _judged(self, check: RunCheck) -> Outcome:
        """Run one check, and decide what it says and what it is worth by itself."""
        who, done = self.backend, self.outcomes
        self._announce(check, check.info.title)
        special = self._timed(check, done) if check.timed else _unmet(check, done)
        seed = self.config.seed
        if check.hidden and self.config.hidden_seed is not None:
            seed = self.config.hidden_seed
        outcome = special or self._attempted(check.item, who, seed=seed)
        if special is None:
            outcome = self._redrawn(check.item, outcome, seed)
        log = who.session.log
        ran = replace(
            outcome.ran if special is None else Circumstances(seed),
            names=frozenset(log.names if special is None else ()),
            rests_on_policy=check.timed or who.rests_on_policy(),
            judged_uses=log.asked_uses or check.info.aspect == "scratch",
        )
        if special is None and outcome.status in UNMADE and not outcome.machine:
            outcome = self._on_its_own(check, outcome, ran, done)
        return replace(outcome, ran=ran, points=check.info.points if outcome.status == "pass" else 0.0)

    def _announce(self, check: RunCheck, title: str) -> None:
        """Report what runs now, and how long it may."""
        self.config.watch(title, self.config.timeout_s or self.suite.limit_of(check.info))

    def _redrawn(self, item: pytest.Item, outcome: Outcome, seed: int) -> Outcome:
        """Return how a check ends in the first draw that the reference can answer.

        Where there is none, the check is the pack's fault: its points leave the maximum, as for the machine's.
        `outcome` is how it ended in the first draw of all, which `seed` made.
        """
        who, config = self.backend, self.config
        ran = Circumstances(seed, 0, who.session.take_output() or None)
        for redrawn in range(1, config.draws + 1):
            control = self._control_of_failure(item, outcome, ran.seed)
            # Without a reference the check's own word is all there is.
            if not (outcome.pack_fault if control is None else control.failed and not control.by_machine):
                usable = unusable_result([], outcome.lines) if outcome.pack_fault else outcome
                return replace(usable, ran=ran)
            if redrawn < config.draws:
                other = check_seed(seed, f"draw {redrawn}")
                outcome = self._attempted(item, who, seed=other)
                ran = Circumstances(other, redrawn, who.session.take_output() or None)
        lines = ["not judged, and its points are not counted: the fault is the check's", *outcome.lines]
        lines += [outcome.raised_at] if outcome.pack_fault and outcome.raised_at else []
        ran = replace(ran, redrawn=config.draws)
        return Outcome("skipped", lines, pack_fault=True, machine=True, ran=ran)

    def _control_of_failure(self, item: pytest.Item, outcome: Outcome, seed: int) -> Outcome | None:
        """Return how the reference ends in a draw that the submission failed; None where that is not known.

        Nothing that the submission did is part of it, so nobody can bring about another draw.
        """
        # At the gate's first seed the reference has passed.
        if self._model is None or not (outcome.pack_fault or (outcome.failed and seed != SEED)):
            return None
        known = self.suite.controls
        if (item.name, seed) not in known:
            control = self._control(item, seed)
            if control.failed:  # once more, with nothing of the submission's in its way
                self.backend.session.close()
                self._model.stop_worker()
                control = self._control(item, seed)
            known[item.name, seed] = control
        return known[item.name, seed]

    def _on_its_own(self, check: RunCheck, outcome: Outcome, ran: Circumstances, done: Outcomes) -> Outcome:
        """Return how a failed check ends when earlier failures are not charged to it.

        Where what failed is a function that the author can stand in for, it is run once more with that; where it is
        known to follow from another check that did not pass, that is all it says.
        """
        # Only for functions that another check has found wrong: nobody is helped over what nobody deducted.
        wrong = {name for other in done.values() if other.status != "pass" for name in other.ran.names}
        names = [name for name in check.info.stand_ins if name in wrong]
        if names:
            who = self.backend
            ours = self.suite.stand_ins(check.item, names)
            again = self._attempted(check.item, who, ours, seed=ran.seed)
            # A check that asks for the function itself would have judged the author's.
            judged_ours = any(name in names for name in who.session.log.names)
            who.load_again()  # all of the learner's own is there again
            if again.status == "pass" and not judged_ours:
                listed_names = " and ".join(f"`{name}`" for name in names)
                return Outcome("pass", [f"judged with our {listed_names} in place of yours"])
        for other, end in done.items() if outcome.status != "todo" else ():
            if other.id in check.info.follows and end.status != "pass":
                return waits_for(other, outcome)
        return outcome

    def _attempted(
        self,
        item: pytest.Item,
        who: WorkerBackend,
        stand_ins: StandIns = NONE_STANDS_IN,
        wrong: IdleWatch | None = None,
        *,
        seed: int | None,
    ) -> Outcome:
        """Run one check; a worker that died in an earlier one is replaced first.

        One that was killed may have been killed by the machine, so the check has a second chance; so has one in which
        the grader ran out of something. Without a seed it runs as fingerprints were taken; with `wrong` that is the
        reference.

        Raises:
            MachineFault: it ran out again, and does so for the reference.
        """
        alike, seed = seed is None, SEED if seed is None else seed
        as_handed_in = who is self.backend and not (stand_ins or alike)
        reference = wrong.reference if wrong is not None else None
        context = self._context(who, seed, reference, explains=as_handed_in and wrong is None)
        scripted = self.config.by_script and as_handed_in
        # A second chance and no third: what was killed or ran out twice is judged, with the reference as a
        # control.
        for last in (False, True):
            outcome = self._ran(item, context, stand_ins, wrong, alike=alike, scripted=scripted)
            if outcome.shortage:
                who.stop_worker()  # in the middle of a frame, perhaps
                gc.collect()  # what the check held goes with its frames
            if last or not (outcome.killed or outcome.shortage):
                break
            who.session.take_output()
        judged = who is self.backend and self._model is not None
        if outcome.shortage and judged and self._control(item, seed).shortage:
            raise MachineFault(f"In {item.name} this machine ran out of something.", outcome.shortage)
        return outcome

    def _ran(
        self,
        item: pytest.Item,
        context: CheckContext,
        stand_ins: StandIns,
        wrong: IdleWatch | None,
        *,
        alike: bool,
        scripted: bool,
    ) -> Outcome:
        """Run a check once: in one go if it has a script, else call by call."""
        who, seed, scripts = context.backend, context.config.seed, self.suite.scripts
        # What passes next to a mistake may fail next to the reference.
        name = item.name if wrong is None else f"{item.name} {wrong.name}"
        script = scripts.find(name, seed) if scripted else None
        for known in (script, None):
            try:
                limit_s = self.suite.limit_of(info_of(item))
                who.begin(check_seed(seed, item.name), limit_s, alike=alike, keep=scripted)
                if known is not None and who.session.follow(known):
                    return PASSED
                # After `begin`, which may have started another worker: a stand-in lives in that one's module.
                install_stand_ins(who.submission, stand_ins)
            except WorkerTimeout as error:
                return judge(error, who.calls, who.wording)
            except (WorkerDied, SubmissionRaised) as error:
                killed = isinstance(error, WorkerDied) and error.killed
                return Outcome("error", [f"the submission did not load again: {error}"], killed=killed)
            outcome = self.suite.plugin.run(item, context)
            if not who.session.off_script:
                break
            who.stop_worker()
        if scripted and outcome.status != "pass":
            who.session.note_failure(scripts, name, seed)
        elif scripted and not (wrong is not None and wrong.idle):
            who.session.note_pass(scripts, name, seed)
        return outcome

    def _context(
        self,
        who: WorkerBackend,
        seed: int,
        reference: Callable[[], types.ModuleType] | None = None,
        speed: Speed | None = None,
        *,
        explains: bool = True,
    ) -> CheckContext:
        # Where a learner looks around there is no answer.
        ours = self.suite.reference if self.config.look is None else no_reference
        return CheckContext(who, replace(self.config, seed=seed), reference or ours, speed, explains)

    def _timed(self, check: RunCheck, done: Outcomes) -> Outcome:
        """Run a check of speed or memory: only when all is right, and with nothing else of the submission alive."""
        config, kata, item = self.config, self.suite.kata, check.item
        if config.look is not None:
            return Outcome("skipped", ["under a debugger nothing can be timed"], machine=True)
        for other, end in done.items():
            same = other.info.aspect == check.info.aspect
            if not (same or end.status == "pass" or end.machine):
                return Outcome(
                    "skipped", [f"skipped: first “{other.info.title}” has to hold, then speed counts"]
                )
        # Late: most runs time nothing, and should not wait for what times.
        from grader.engine.runner.collected import setting_of
        from grader.engine.timing.speed import Speed

        who, threshold = self.backend, check.info.threshold
        assert threshold is not None
        who.stop_worker()
        setting = setting_of(kata, who.session.source, self.launcher, config.device, who.calls)
        config.tell(config.timed_s)
        for _ in range(2):  # one that was killed may have been killed by the machine
            speed = Speed(setting, kata.speed[threshold], marks=kata.is_measured(threshold, setting.kind))
            outcome = self.suite.plugin.run(item, self._context(who, config.seed, speed=speed))
            if not outcome.killed:
                break
        if outcome.pack_fault:
            raise PackError(f"{item.path}: {item.name} is broken.\n{outcome.message}")
        return replace(outcome, speed=speed.measured)

    @cached_property
    def _model(self) -> WorkerBackend | None:
        """The reference in a worker of its own; None where there is none to compare with."""
        suite, config, submission = self.suite, self.config, self.backend.session.source
        source = None if config.look else suite.control()
        if source is None or (source.path == submission.path and not suite.kata.turned):
            return None
        session = Session(self.launcher, source, suite.terms, device=config.device, tell=config.tell)
        return WorkerBackend(session, config.timeout_s, self.backend.wording)

    def _control(self, item: pytest.Item, seed: int) -> Outcome:
        """Return how the reference ends in a draw."""
        assert self._model is not None
        outcome = self._attempted(item, self._model, seed=seed)
        self._model.session.take_output()
        return outcome

    # Explain ------------------------------------------------------------------------------------------------------

    def _explained(self, outcomes: Outcomes) -> dict[RunCheck, Outcome]:
        """Name the mistakes that failed checks make, and judge hidden checks by the one that is known."""
        name = self.config.name and self.config.look is None
        if name or self.marking:
            self._mark(outcomes)
        if name:
            outcomes = self._recognised(self._in_other_forms(outcomes))
            if not self.backend.session.forbidden_uses():
                outcomes = self._judged_by_the_mistake(outcomes)
        return after_crashes(without_lost_digits(outcomes))

    def _telling(self, outcomes: Outcomes) -> list[RunCheck]:
        """Return the checks that failed in a way that may say which mistake was made.

        The first ones: each costs as much as it did, and a few name the mistake as well as all.
        """
        return [
            check
            for check, outcome in outcomes.items()
            if outcome.status in ("fail", "error") and not (check.hidden or check.timed or check.info.trained)
        ][: self.recognised]

    def _mark(self, outcomes: Outcomes) -> None:
        """Run what failed once more, as the fingerprints were taken, and note the fingerprint.

        That is at their seed, and with parameters that are the same in every submission. A check that passes there says
        nothing.
        """
        unmarked = [check for check in self._telling(outcomes) if check.id not in self.left_behind]
        if unmarked:
            self.backend.load_again()  # what keeps state leaves the same whatever was asked of it before
        for check in unmarked:
            self._announce(check, "which mistake it is")
            self.left_behind[check.id] = self._marked(check)[1]

    def _in_other_forms(self, outcomes: Outcomes) -> Outcomes:
        """Name what has another form of a convention than the chosen one, which its check has seen."""
        named = {}
        for check, outcome in outcomes.items():
            name, *_ = self.suite.other_forms.get(outcome.cause, ("",))
            named[check] = replace(outcome, mistake=name, says=outcome.cause) if name else outcome
        return named

    def _recognised(self, outcomes: Outcomes) -> dict[RunCheck, Outcome]:
        """Name mistakes by what was left behind; see `recognise`."""
        telling = self._telling(outcomes)
        if not telling:
            return dict(outcomes)
        left, passed = self._marks_of_the_rest(outcomes)
        # What passed with the author's function in place of the submission's speaks against nothing.
        passed |= {
            check.id for check, outcome in outcomes.items() if outcome.status == "pass" and not outcome.lines
        }
        adapter = self.suite.kata.adapter
        read_off = adapter.read_off if adapter is not None else frozenset()
        for check in telling:
            signature = self.left_behind[check.id]
            # Of a mask that a shim reads off a course's numbers nobody knows what these were.
            known = signature is not None and (
                signature.has_numbers or read_off.isdisjoint(outcomes[check].ran.names)
            )
            if signature is not None and known:
                left[check.id] = signature
        by_numbers = {name for name, signature in left.items() if signature.by_numbers}
        marks = {name: signature.marks for name, signature in left.items()}
        mistakes = self.suite.fingerprints.recognise(marks, passed, by_numbers)
        explained = dict(outcomes)
        for check, outcome in outcomes.items():
            if (named := mistakes.get(check.id)) is not None:
                name = named.names[0].replace("_", "-")
                explained[check] = replace(
                    outcome, mistake=name, says=named.say, lines=outcome.without_guess()
                )
        return explained

    def _judged_by_the_mistake(self, outcomes: Outcomes) -> dict[RunCheck, Outcome]:
        """Judge hidden checks that failed by the reference with the mistake that visible ones have named and charged.

        Where the mistake is not known, or is not the only one, they stay as they are; so they do where something never
        ended, which would not end here either, and where the mistake leaves nothing to compute: a function that is
        constant would else earn the points of checks that look at its values.
        """
        judged = dict(outcomes)
        # Of visible checks alone: hidden ones are never recognised (`_telling`).
        named = {outcome.mistake: outcome.says for outcome in outcomes.values() if outcome.mistake}
        failed = [
            check
            for check, outcome in outcomes.items()
            if check.hidden
            and outcome.status in ("fail", "error", "skipped")
            and not outcome.machine
            and "reference" in getattr(check.item, "fixturenames", ())
        ]
        if len(named) != 1 or not failed or any(end.status == "timeout" for end in outcomes.values()):
            return judged
        [(name, says)] = named.items()
        mistake = self.suite.catalogued(name.replace("-", "_"))
        if mistake is None:
            return judged
        who, given = self.backend, self.suite.terms.given
        for check in failed:
            outcome = outcomes[check]
            # Whether the mistake leaves anything to compute shows only while it runs.
            watch = IdleWatch(mistake, given)
            who.load_again()  # what keeps state begins anew, as ours with the same mistake does
            again = self._attempted(check.item, who, wrong=watch, seed=outcome.ran.seed)
            who.session.take_output()
            if again.status != "pass":
                continue
            if watch.idle:
                judged[check] = replace(outcome, same_mistake="idle")
            else:
                counted = Outcome("pass", [ALREADY_DEDUCTED, f"  {says}"], same_mistake="counted")
                judged[check] = replace(counted, ran=outcome.ran, points=check.info.points)
        return judged

    def _marked(self, check: RunCheck) -> tuple[CheckStatus, FailureSignature | None]:
        """Run a check to recognise a mistake; return how it ended, and what the submission left behind if it failed."""
        who = self.backend
        outcome = self._attempted(check.item, who, seed=None)
        who.session.take_output()
        if outcome.status not in ("fail", "error"):
            return outcome.status, None
        try:
            return outcome.status, FailureSignature(fingerprint(who.session.log.observed), outcome.by_numbers)
        except (MemoryError, RuntimeError) as error:
            if not shortage(error):
                raise
            return outcome.status, None  # too much to tell anything by

    def _marks_of_the_rest(self, outcomes: Outcomes) -> tuple[dict[str, FailureSignature], set[str]]:
        """Run the checks that were not asked for, to see what they say of a mistake; nothing of it is reported.

        Returns what the submission left behind in those it failed, and those it passed.
        """
        # Some mistakes are alike in one check and are told apart by what else they break: the sentence that all
        # checks together led to must not be lost when one of them is repeated.
        ends: dict[str, CheckStatus] = {check.id: outcome.status for check, outcome in outcomes.items()}
        not_run = [check for check in self.suite.every if check.id not in ends]
        left: dict[str, FailureSignature] = {}
        passed: set[str] = set()
        # In the order of the file, as in a whole run: a check may need an earlier one.
        for check in sorted(not_run, key=lambda check: check.item.location[1] or 0):
            info = check.info
            # Training and timing take long and leave no mark that repeats; hidden checks tell learners
            # nothing.
            if info.trained or check.timed or check.item.path != self.suite.kata.checks:
                continue
            if any(ends.get(need, "pass") != "pass" for need in info.needs):
                ends[check.id] = "skipped"
                continue
            ends[check.id], signature = self._marked(check)
            if ends[check.id] != "pass" and any(ends.get(name, "pass") != "pass" for name in info.follows):
                ends[check.id], signature = "skipped", None
            # One may be a loop; every further check could take its whole time, for a sentence alone.
            if ends[check.id] == "timeout":
                break
            if signature is not None:
                left[check.id] = signature
            elif ends[check.id] == "pass":
                passed.add(check.id)
        return left, passed

    # Charge -------------------------------------------------------------------------------------------------------

    def _charged(self, outcomes: Outcomes) -> dict[RunCheck, Outcome]:
        """Charge each slip once, and take back what was earned by doing nothing or by what is excluded."""
        session, suite = self.backend.session, self.suite
        idle_checks = self._idle_checks(outcomes)
        charged = withhold_idle(outcomes, idle_checks)
        if self.config.look is None and self.config.name and not session.forbidden_uses():
            prints = suite.fingerprints
            known = {name.replace("_", "-"): mistake for name, mistake in prints.mutants.items()}
            unsure = {name: mistake.checks.keys() & set(prints.free) for name, mistake in known.items()}
            seen_idle = any(outcome.same_mistake == "idle" for outcome in outcomes.values())
            idle = {name for name, mistake in known.items() if mistake.idle or seen_idle}
            conventions = {name for name, mistake in known.items() if mistake.convention}
            conventions |= {name for name, *_ in suite.other_forms.values()}
            hidden = suite.kata.hidden_points if any(check.hidden for check in outcomes) else 0
            rest = {check: outcome for check, outcome in charged.items() if not check.timed}
            # No more is given back than the rest has earned, so that idle values have been looked at before.
            charged |= charge(rest, suite.kata.points + hidden, unsure, idle, idle_checks, conventions)
        if any(outcome.ran.rests_on_policy for outcome in outcomes.values()):
            # After the last check: a use may come to light long after the check that rests on its absence.
            self.used.update(dict.fromkeys(session.forbidden_uses()))
        return withhold_excluded(charged, list(self.used), session.users, suite.terms.advice)

    def _idle_checks(self, outcomes: Outcomes) -> dict[RunCheck, frozenset[str]]:
        """Return the checks that saw nothing but idle values, of names that were wrong elsewhere, with these names."""
        stats, required = self.backend.session.outcomes, set(self.suite.kata.required)
        # A mask that is True everywhere may be right, and on the wrong device.
        wrong = {
            outcome.idle for outcome in outcomes.values() if outcome.idle and outcome.stage not in PROPERTIES
        }
        idle = (stats.still - stats.works) & wrong
        names = {check: outcome.ran.names & required for check, outcome in outcomes.items()}
        return {check: asked for check, asked in names.items() if asked and asked <= idle}


def _unmet(check: RunCheck, done: Outcomes) -> Outcome | None:
    """Return the outcome of a check that needs another which did not pass, or follows one that never ended."""
    ends = {other.id: (other, outcome.status) for other, outcome in done.items()}
    endless = [name for name in check.info.follows if name in ends and ends[name][1] == "timeout"]
    for name in (*check.info.needs, *endless):
        other, status = ends.get(name, (check, "pass"))
        needed = f"it needs “{other.info.title}” to hold first"
        if status == "todo":
            return Outcome("todo", [f"not written yet: {needed}"])
        if status != "pass":
            return Outcome("skipped", [f"skipped: {needed}"], after=name)
    return None
