"""From what happened in a check to what the report says: one place for every kind of end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pytest
from msgspec import UNSET

from grader.catalogue.adapters import Adapter
from grader.engine.checks.decorators import CheckInfo
from grader.engine.checks.describe import describe_call, describe_changed, is_tensor
from grader.engine.checks.expect import IN_FLOAT32
from grader.engine.checks.failure import CheckFailure, PreconditionFailed
from grader.engine.checks.gradients import cut_off, is_cut_off
from grader.engine.checks.raised import (
    describe_frame,
    describe_raised,
    is_refused_call,
    is_refused_layout,
    supposed_of,
)
from grader.engine.checks.text import WHOLE, clean
from grader.engine.host.calls import CallRecord, Calls, is_idle
from grader.engine.host.errors import (
    BudgetSpent,
    StillHangs,
    SubmissionMissing,
    SubmissionRaised,
    SubmissionUnsendable,
    WorkerDied,
    WorkerTimeout,
)
from grader.engine.host.objects import RemoteObject, is_definition, state_of
from grader.engine.runner.doubtful_lines import Likely
from grader.engine.runner.riddles import riddle_of
from grader.errors import PackError
from grader.report.report import WRONG, CheckReport, CheckStatus, Location, Measured

NO_CALL = "?"


@dataclass(frozen=True, eq=False)
class RunCheck:
    """A check as a run goes through it."""

    item: pytest.Item
    info: CheckInfo
    """What its author says of it."""

    @property
    def id(self) -> str:
        """Its function's name."""
        return self.item.name

    @property
    def hidden(self) -> bool:
        """Whether learners do not have it: by the file, not by a mark."""
        return self.item.path.name == "hidden_checks.py"

    @property
    def timed(self) -> bool:
        """Whether it is a check of speed or memory, which no status depends on."""
        return self.info.threshold is not None


@dataclass(frozen=True)
class Circumstances:
    """What is noted of a run of a check, however it ends."""

    seed: int = 0
    """Of the draw that it judged."""
    redrawn: int = 0
    """How many draws the reference failed."""
    output: str | None = None
    """What the submission printed."""
    names: frozenset[str] = frozenset()
    """Which of the submission's names it asked for."""
    rests_on_policy: bool = False
    """Whether its result may not rest on anything that is excluded."""
    judged_uses: bool = False
    """Whether it judged that itself."""


@dataclass(frozen=True)
class Outcome:
    """What became of a check: how it ended, what explains that, and what it is worth.

    Three passes make it, and each returns another one: `KataRun` runs the checks and explains what failed, `charge`
    says what that costs. `report_of` turns it into what leaves the program.
    """

    status: CheckStatus
    lines: list[str] = field(default_factory=list)
    """The message."""
    location: Location | None = None
    pack_fault: bool = False
    """The check itself is broken: nothing of the submission was involved."""
    machine: bool = False
    """Skipped because of the machine: its points leave the maximum."""
    killed: bool = False
    """Its worker was ended by SIGKILL, which may have come from the machine."""
    shortage: str = ""
    """What would help, where the grader ran out of something in this check; whose fault that is, is not known yet."""
    used: tuple[str, ...] = ()
    """What the kata excludes and was used, where that is why it failed."""
    todo: str = ""
    """What is not written yet, where the check came upon that."""
    guess: str = ""
    """The line that what names the mistake takes the place of."""
    cause: str = ""
    """What likely made it fail, where no catalogued mistake is recognised."""
    fact: str = ""
    """A line that brings it about for certain, which no name or cause says as well."""
    riddle: str = ""
    """What an error's text or a line means, where neither a mistake nor a cause is known; marks do not go by it."""
    raised_at: str = ""
    """What was raised in which line of the submission, where it raised."""
    stage: str = ""
    """What it failed at, where it failed: see `failure.Stage`."""
    after: str = ""
    """The check that has to hold first, where it was skipped for that."""
    itself: Outcome | None = None
    """How it ended before it was skipped for that, where it was run."""
    idle: str | None = None
    """The name whose result it failed at, where that is one number everywhere or an argument (`NO_CALL` where no call
    returned it); "" where it took work, None where it is not a tensor."""
    ran: Circumstances = Circumstances()
    speed: Measured | None = None
    """What a check of speed measured."""
    mistake: str = ""
    """The catalogued mistake that explains it, by name."""
    says: str = ""
    """The sentence of that mistake."""
    same_mistake: Literal["counted", "idle"] | None = None
    """As in `CheckReport`."""
    points: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it costs points, by what the check saw and not because of time."""
        return self.status in ("fail", "error", "skipped") and not self.machine

    @property
    def by_numbers(self) -> bool:
        """Whether it failed by what was returned: a result that is cut off looks like one that is not."""
        return self.status == "fail" and self.stage not in ("", "gradient")

    @property
    def line(self) -> int:
        """The line of the submission that raised; 0 where none did."""
        return int(self.raised_at.rpartition(":")[2] or 0)

    @property
    def by_machine(self) -> bool:
        """Whether the machine may have brought it about."""
        return self.killed or bool(self.shortage)

    @property
    def message(self) -> str | None:
        """The lines as one text."""
        return "\n".join(self.lines) or None

    def without_guess(self) -> list[str]:
        """Return the lines where the mistake is known by name: a size that fits by chance would say another."""
        return [line for line in self.lines if line != self.guess]


Outcomes = Mapping[RunCheck, Outcome]
"""What became of the checks of one run, in the order in which they ran."""


def without_lost_digits(outcomes: Outcomes) -> dict[RunCheck, Outcome]:
    """Drop the guess that digits were lost where the same names are wrong by more than that in another check.

    A wrong step may differ from the right one by as little as float32 rounds, in one draw of many.
    """
    wrong = [
        outcome
        for check, outcome in outcomes.items()
        if outcome.status == "fail" and outcome.stage == "values" and not check.hidden
    ]
    return {
        check: replace(outcome, cause="", stage="values", lines=outcome.without_guess())
        if outcome.cause == IN_FLOAT32
        and not outcome.mistake
        and any(outcome.ran.names & other.ran.names for other in wrong)
        else outcome
        for check, outcome in outcomes.items()
    }


def after_crashes(outcomes: Outcomes) -> dict[RunCheck, Outcome]:
    """Let a check of an exception wait, where another one raised in the same line: that one shows what is wrong.

    Its input is valid, so the exception says nothing of how the submission treats what is not.
    """
    crashed: dict[str, RunCheck] = {}
    for check, outcome in outcomes.items():
        if outcome.status == "error" and outcome.raised_at:
            crashed.setdefault(outcome.raised_at, check)
    return {
        check: waits_for(crashed[outcome.raised_at], outcome)
        if outcome.stage == "raises" and not outcome.mistake and outcome.raised_at in crashed
        else outcome
        for check, outcome in outcomes.items()
    }


def waits_for(first: RunCheck, outcome: Outcome) -> Outcome:
    """Return the outcome of a check whose failure says nothing while another one does not hold."""
    return Outcome(
        "skipped", [f"skipped: “{first.info.title}” has to hold first"], after=first.id, itself=outcome
    )


_THIS_CHECK = "-k CHECK"
"""What a worker says that does not know which check it is asked by."""


def report_of(check: RunCheck, outcome: Outcome) -> CheckReport:
    """Return what the report says of a check."""
    info = check.info
    message = outcome.message.replace(_THIS_CHECK, f"-k {check.id}") if outcome.message else None
    return CheckReport(
        name=info.title,
        id=check.id,
        aspect=info.aspect,
        hidden=check.hidden,
        status=outcome.status,
        points=outcome.points,
        max_points=info.points,
        message=message,
        location=outcome.location,
        misconception=outcome.mistake or None,
        likely=outcome.fact or outcome.says or outcome.cause or outcome.riddle or None,
        output=outcome.ran.output,
        same_mistake=outcome.same_mistake or UNSET,
        redrawn=outcome.ran.redrawn or UNSET,
        speed=outcome.speed or UNSET,
    )


_NEAR = re.compile(r"Did you mean: '(\w+)'\?")
"""What Python adds where another name is nearly the one that was looked up."""
Signatures = Mapping[str, Sequence[str]]
_ITERATED = "it returned a generator, or another iterator, that was read as a list: return the value itself"


@dataclass(frozen=True)
class MessageContext:
    """Context that the wording of a message depends on."""

    file: str = ""
    signatures: Signatures = field(default_factory=dict)
    """Parameter names by function."""
    timeout_s: float = 0.0
    unstarred: Signatures = field(default_factory=dict)
    """The learner's own parameter names of functions that have to take any number of arguments, and do not."""
    remarks: Callable[[str, str], list[str]] = lambda name, message: []
    """What the source holds that may explain a failure of what was got by this name, with this message."""
    likely: Callable[[str, str, Collection[str]], Likely | None] = lambda name, message, names: None
    """Which lines of it likely bring such a failure about; the names are all that the check asked it for."""
    course: Adapter | None = None
    """What makes the kata of a course's own files, whose learners have names of their own."""
    is_empty: Callable[[str], bool] = lambda name: False
    """Whether nothing is done in the body of a function or method."""
    defaults: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By function or class of the stub, what parameters are where they are left out, as it is written there."""

    @property
    def own_names(self) -> Mapping[str, str]:
        """What learners of a course call functions and classes of the kata."""
        return self.course.own_names if self.course is not None else {}

    def made_with(self, name: str) -> Mapping[str, str]:
        """Return the parameters of a class in order, each with its default, or "" where it has none."""
        given = self.defaults.get(name, {})
        return {parameter: given.get(parameter, "") for parameter in self.signatures.get(name, ())}


UNSAID = MessageContext()


def judge(
    error: BaseException,
    calls: Calls,
    wording: MessageContext = UNSAID,
    observed: Sequence[Any] = (),
    names: Collection[str] = (),
) -> Outcome:
    """Return the outcome of a check that raised `error`.

    `observed` is what the submission answered, `names` what the check asked it for.
    """
    call = calls.origin(error.subject) if isinstance(error, CheckFailure) else calls.last
    # A stub's body without the line that raises, which is how many leave what they have not come to.
    if isinstance(error, CheckFailure) and call is not None and wording.is_empty(call.signature):
        name = clean(call.signature, 80)
        return Outcome("todo", [f"not written yet: nothing is done in `{name}`"], todo=name)
    outcome = _judged(error, calls, wording, observed)
    if call is not None and (own := wording.own_names.get(call.root)) and outcome.status in WRONG:
        at = 1 if outcome.lines[:1] and outcome.lines[0].startswith("called ") else 0
        spelled = [
            f"{name} is your {clean(theirs, 60)}"
            for name, theirs in (wording.course.spelling if wording.course else {}).get(call.root, {}).items()
            if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", outcome.message or "")
        ]
        where = f", where {', '.join(spelled)}" if spelled else ""
        uses = f"        which uses your {clean(own, 60)}{where}"
        lines = [*outcome.lines[:at], uses, *outcome.lines[at:]]
        outcome = replace(outcome, lines=lines)
    explicable = outcome.status in ("fail", "error", "timeout") and not outcome.pack_fault
    if call is None or not explicable or isinstance(error, SubmissionMissing):
        return outcome
    message = outcome.message or ""
    # What another function did wrong that the check called before may show only here.
    roots = dict.fromkeys([call.root, *(earlier.root for earlier in reversed(list(calls)))])
    doubts = [line for line in (wording.likely(root, message, names) for root in roots) if line is not None]
    written = next((line for line in doubts if line.certain), doubts[0] if doubts else None)
    fact = written.sentence if written is not None and written.certain else ""
    riddles = []
    # Where another exception was expected, the one that came is what has to be understood.
    raised = error.__context__ if outcome.stage == "raises" else error
    if isinstance(raised, SubmissionRaised):
        riddles.append(riddle_of(raised, call, wording.made_with(call.root)))
    # What the line itself shows goes before what the error means, and all else after it.
    riddles.insert(
        0 if written is not None and written.at_line else 1, written.sentence if written is not None else ""
    )
    riddle = next(filter(None, riddles), "")
    found = [f"  {clean(text, WHOLE)}" for text in wording.remarks(call.root, message)]
    return replace(outcome, lines=[*outcome.lines, *found], fact=fact, riddle=riddle)


def _judged(error: BaseException, calls: Calls, wording: MessageContext, observed: Sequence[Any]) -> Outcome:
    file, signatures = wording.file, wording.signatures
    if isinstance(error, CheckFailure):
        call = calls.origin(error.subject)
        wrote = [] if error.failure.stage == "arguments" else _changed(call, signatures)
        failure, star = error.failure, _unstarred(call, wording)
        failed = failure.lines()
        if failure.stage == "type" and call is not None and call.iterated:
            failed = [*failed[:1], _ITERATED]
        lines = [*_called(call, calls, signatures), *wrote, *failed, *star]
        idle, root = is_idle(error.subject, call), (call.root if call is not None else "") or NO_CALL
        judged = Outcome(
            "fail",
            lines,
            failure.location,
            used=error.used,
            guess=failure.guess,
            # Raised where the check expected another exception, or none.
            raised_at=_raised_at(error.__context__) if failure.stage == "raises" else "",
            stage=failure.stage,
            idle=root if idle else None if idle is None else "",
        )
        return replace(judged, lines=judged.without_guess()) if star else replace(judged, cause=failure.cause)
    if isinstance(error, PackError):
        return Outcome("error", [f"This check is broken: {_short(error)}"], pack_fault=True)
    called = _called(calls.last, calls, signatures)
    if isinstance(error, pytest.skip.Exception):
        return Outcome("skipped", [clean(str(error.msg))], machine=True)
    if isinstance(error, PreconditionFailed):
        why = [f"  {clean(error.why)}"] if error.why else []
        return Outcome("skipped", [f"skipped: first {error.first}; then this can be checked", *why])
    if isinstance(error, SubmissionRaised):
        # Python itself refuses a call whose arguments do not fit: the line that calls is not at fault.
        if error.shim is not None and not is_refused_call(error):
            at = f"{error.shim.file}, line {error.shim.line}"
            return Outcome("error", [clean(str(error), WHOLE)], pack_fault=True, raised_at=clean(at))
        # No line of a shim called it: what refused is the shim's own function, which the check calls.
        by_check = error.shim is None and calls.last is not None and calls.last.signature in wording.own_names
        if by_check and is_refused_call(error):
            return Outcome("error", [clean(str(error), WHOLE)], pack_fault=True)
        if error.not_written:
            return _unwritten(error, calls.last, wording)
        if isinstance(error, SubmissionMissing) and not error.frames:
            return Outcome("fail", _missing(error, file, called))
        lines = [*called, *describe_raised(error), *_unstarred(calls.last, wording)]
        # A shim takes the stub's arguments, and calls with the course's.
        stub = () if wording.own_names or calls.last is None else signatures.get(calls.last.signature, ())
        given = (*calls.last.args, *calls.last.kwargs.values()) if calls.last is not None else ()
        # Of arguments that lie otherwise in memory the numbers may be right.
        stage = error.stage or ("layout" if is_refused_layout(error, given) else "")
        return Outcome(
            "error", lines, cause=supposed_of(error, stub), raised_at=_raised_at(error), stage=stage
        )
    if isinstance(error, SubmissionUnsendable):
        return Outcome("fail", [*called, f"returned {clean(error.reason)}"])
    # Before WorkerTimeout: this one and the next are kinds of it.
    if isinstance(error, BudgetSpent):
        return Outcome("timeout", ["not run: the time for this whole submission is spent"])
    if isinstance(error, StillHangs):
        name, earlier = clean(error.name, 60), clean(error.earlier, 60)
        what = f"`{name}`" if name else "a call"
        reason = f"skipped: {what} did not answer within {error.seconds:g} s"
        which = "as it had not" if earlier == name else f"and `{earlier}` had not"
        return Outcome("skipped", [f"{reason}, {which} in an earlier check: fix that first"])
    if isinstance(error, WorkerTimeout):
        reason = (
            f"no answer within {wording.timeout_s:g} s, so it was stopped: is there a loop that never ends?"
        )
        return Outcome("timeout", [*called, *(describe_frame(error.frame) if error.frame else ()), reason])
    if isinstance(error, WorkerDied):
        return Outcome("error", [*called, f"your code {clean(error.how)}"], killed=error.killed)
    # Nothing of the submission has run yet, so what was raised is the check's own.
    if calls.last is None and all(is_definition(value) for value in observed):
        return Outcome("error", [f"This check is broken: {_short(error)}"], pack_fault=True)
    if is_cut_off(error):
        cut = cut_off("the result")
        return Outcome("fail", [*called, *cut.summary], cause=cut.cause)
    return unusable_result(called, [_short(error)])


def _raised_at(error: BaseException | None) -> str:
    if not isinstance(error, SubmissionRaised):
        return ""
    return "".join(f"{error.type_name} at {frame.file}:{frame.line}" for frame in error.frames[-1:])


def _unwritten(error: SubmissionRaised, call: CallRecord | None, wording: MessageContext) -> Outcome:
    """Return the outcome of a check that came upon a stub: nothing is wrong, something is to be written."""
    # A stub says its own name; where one does not, it is what the check called.
    name = error.message if error.message.removesuffix(".__init__") in wording.signatures else ""
    name = clean(name or (call.signature or call.label if call is not None else "") or error.message, 80)
    if (
        wording.own_names
    ):  # a course's stub says nothing, and the learner's name for it is that of the function
        name = clean(error.frames[-1].function if error.frames else error.message, 80)
    where = f" ({clean(error.frames[-1].file)}, line {error.frames[-1].line})" if error.frames else ""
    return Outcome("todo", [f"not written yet: `{name}` still raises NotImplementedError{where}"], todo=name)


def unusable_result(called: Sequence[str], why: Sequence[str]) -> Outcome:
    """Return the outcome of a check that what the submission returned made impossible."""
    lines = [f"  {line}" for line in why]
    return Outcome("fail", [*called, "the check could not use what your code returned", *lines])


def too_much(error: BaseException, help_for: str) -> Outcome:
    """Return the outcome of a check in which the grader ran out of something, as the submission's fault."""
    return replace(
        unusable_result([], ["that takes more than the grader has for one check", _short(error)]),
        shortage=help_for,
    )


def _called(call: CallRecord | None, calls: Calls, signatures: Signatures) -> list[str]:
    if call is None:
        return []
    names = signatures.get(call.signature, ())
    if call.label.endswith("]"):  # a layer within a stack has no signature of its own
        names = _names_before(call, calls, signatures)
    first = call.args[0] if call.args else None
    # Through the class itself, as in `Net.forward(net, x)`.
    if isinstance(first, RemoteObject) and call.label == call.signature:
        own = state_of(first).root == call.root or len(call.args) > len(names)
        names = ["self", *names] if own else names
    lines = describe_call(call.label, list(names), call.args, call.kwargs)
    name = call.label.partition("(")[0].partition(".")[0]
    # What an author gave a name of its own speaks for itself: the check's model.
    if call.root in calls.given and name.isidentifier():
        lines.append(f"  {clean(name, 60)} is a helper of the check: it calls what you wrote")
    return lines


def _names_before(call: CallRecord, calls: Calls, signatures: Signatures) -> list[str]:
    """Return what a call's arguments were called in earlier ones, "" where they were not."""
    known = {
        id(value): name
        for earlier in calls
        for name, value in zip(signatures.get(earlier.signature, ()), earlier.args, strict=False)
        if is_tensor(value)  # equal numbers are one object, whatever they are for
    }
    return [known.get(id(value), "") for value in call.args]


def _unstarred(call: CallRecord | None, wording: MessageContext) -> list[str]:
    """Say that a function takes one argument where any number is asked for, whatever came of it."""
    name = call.signature if call is not None else ""
    if name not in wording.unstarred:
        return []
    required, own = (", ".join(names[name]) for names in (wording.signatures, wording.unstarred))
    return [
        clean(
            f"it is to be {name}({required}), for any number of them; yours is {name}({own}), without the *"
        )
    ]


def _changed(call: CallRecord | None, signatures: Signatures) -> list[str]:
    if call is None:
        return []
    names = list(signatures.get(call.signature, ()))
    return describe_changed(names, call.args, call.kwargs, call.changed)


def _missing(error: SubmissionRaised, file: str, called: list[str]) -> list[str]:
    owner, _, name = error.message.rpartition("attribute ")
    if owner.startswith("module "):
        name = clean(name.strip("'"))
        lacks = f"{file} has no `{name}`"
        if error.hint.startswith("cell "):  # of a notebook, which makes it where it does not count
            return [clean(f"{lacks}: {error.hint}", WHOLE)]
        near = _NEAR.fullmatch(error.hint)
        line = f"it has `{near[1]}`, and the checks call `{name}`" if near else error.hint
        hint = [f"  {clean(line, WHOLE)}"] if line else []
        return [f"{lacks}: was it renamed or removed?", *hint]
    if owner.endswith("' object has no "):
        kind, name = clean(owner.split("'")[1], 40), clean(name.strip("'"), 40)
        return [
            *called,
            f"no attribute `{name}`  the {kind} has none",
            f"is it set in __init__, under this name? {clean(error.hint, WHOLE)}".rstrip(),
        ]
    return [*called, clean(f"{error.type_name}: {error.message}", WHOLE)]


def _short(error: BaseException) -> str:
    return clean(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", WHOLE)
