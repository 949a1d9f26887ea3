"""Where a threshold belongs: above the slowest right answer, below the fastest that wastes, with room on both sides."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from grader.author.gate import Finding
from grader.author.perf_requests import demands_of
from grader.catalogue import Kata
from grader.catalogue.file_types import CalibrationFile, MeasuredOn, MeasuredThreshold
from grader.devices import Device, kind_of
from grader.engine.checks.failure import CheckFailure
from grader.engine.checks.raised import describe_raised
from grader.engine.host.errors import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import Launcher
from grader.engine.host.source import Unreadable, read_source
from grader.engine.mistakes.mistakes import Mistake, full_text, slow_answers
from grader.engine.runner.collected import setting_of
from grader.engine.runner.suite import versions
from grader.engine.timing.benchmark_run import TurnTimeout
from grader.engine.timing.speed import CUT_FACTOR, MEMORY, Round, Speed
from grader.engine.timing.work import PerfRequest
from grader.errors import EngineError, PackError, UsageError
from grader.files import write_atomic

ROOM = {"cpu": 1.5, "cuda": 1.25}
"""How many times better than the threshold right answers are, and how many times worse slow ones."""
ROUNDS = 7
Step = Callable[[str, int], None]
"""Told what is measured, and how many rounds were done since the last time."""


@dataclass(frozen=True)
class Measurement:
    """What one answer takes, in the threshold's unit."""

    answer: str
    value: float
    """The median of its rounds; where they were cut off, what it is beyond."""
    excess: float
    """How many times over the threshold, or over the anchor where that is more; below 1 it is under."""
    rounds: list[float] = field(default_factory=list)
    anchored: float | None = None
    """Where growth counts: how many times the baseline's time the smallest size takes."""
    cut_off: bool = False
    caught_by_anchor: bool = False
    """It is over the anchor with room, whatever the value."""


@dataclass
class Calibration:
    """One threshold and what was measured for it."""

    kata: str
    number: str
    name: str
    """The threshold's, as kata.toml has it."""
    check: str
    form: str
    threshold: float
    anchor: float | None
    accepted: list[Measurement] = field(default_factory=list)
    slow: list[Measurement] = field(default_factory=list)
    slowest_accepted: Measurement | None = None
    fastest_slow: Measurement | None = None
    proposed: float | None = None
    """In the middle between both; None where only the anchor tells them apart, or one of them is missing."""
    room_below: float | None = None
    """How many times better than the threshold the slowest right answer is."""
    room_above: float | None = None
    """How many times worse than the threshold the fastest slow answer is."""
    findings: list[Finding] = field(default_factory=list)


@dataclass
class Calibrated:
    """What `kata pack calibrate` found."""

    device: str
    machine: str
    versions: dict[str, str]
    rounds: int
    room: float
    thresholds: list[Calibration]
    ungraded: list[str]
    """Thresholds that kata.toml does not grade on this device."""
    findings: list[Finding]
    """Everything that is refused."""


class Scale:
    """How a form's values compare: growth by sizes counts in time, not in exponents."""

    def __init__(self, demand: PerfRequest, kind: str) -> None:
        sizes = demand.work.sizes_on(kind)
        limit = demand.threshold.on(kind)
        assert limit is not None
        self.limit = limit
        self.larger_is_better = demand.form == "roofline"
        self._span = sizes[-1] / sizes[0] if demand.form == "memory_exponent" else None

    def excess(self, value: float) -> float:
        """Return how many times over the threshold a value is."""
        if self._span is not None:
            return float(self._span ** (value - self.limit))
        return self.limit / value if self.larger_is_better else value / self.limit

    def beyond(self, excess: float) -> float:
        """Return the value that is so many times over."""
        if self._span is not None:
            return self.limit + math.log(excess) / math.log(self._span)
        return self.limit / excess if self.larger_is_better else self.limit * excess

    def middle(self, one: float, other: float) -> float:
        """Return the value that is as many times better than one as it is worse than the other."""
        return (one + other) / 2 if self._span is not None else math.sqrt(one * other)


class Calibrator:
    """Measures answers for thresholds, on one device."""

    def __init__(self, launcher: Launcher, *, device: str = "cpu", rounds: int = ROUNDS) -> None:
        self._launcher = launcher
        self._device = device
        self._kind = kind_of(device)
        self._rounds = rounds
        self.room = ROOM.get(self._kind, ROOM["cuda"])

    def calibrate(
        self,
        katas: Sequence[Kata],
        start: Callable[[int], None] = lambda _: None,
        step: Step = lambda *_: None,
    ) -> Calibrated:
        """Measure all that the speed checks of these katas ask for; `start` is told how many rounds that is.

        Raises:
            UsageError: no kata has speed checks.
            PackError: there are no solutions, or the checks are broken.
        """
        timed = [kata for kata in katas if kata.speed_checks is not None]
        if not timed:
            raise UsageError(
                "There are no speed checks to calibrate.", "They are in speed_checks.py of a kata's folder."
            )
        findings: list[Finding] = []
        plan: list[tuple[PerfRequest, list[Path], list[Mistake]]] = []
        ungraded = []
        demands = demands_of(timed)
        for kata in timed:
            if kata.solution is None:
                # Found while planning, not after hours of measuring the katas before it.
                raise PackError(f"{kata.slug}: there are no answers to measure in this install.")
            theirs = [demand for demand in demands if demand.kata is kata]
            slow = _slow_answers(kata, {demand.check for demand in theirs}, findings)
            for demand in theirs:
                measurable = demand.form not in MEMORY or sys.platform == "linux"
                if demand.threshold.on(self._kind) is None or not measurable:
                    ungraded.append(f"{kata.slug} {demand.name}")
                    continue
                named = [
                    answer
                    for answer in slow
                    if demand.check in answer.fails and answer.is_told_on(self._kind)
                ]
                plan.append((demand, [kata.solution, *kata.alternatives], named))
        # Planned as a whole before the first round: it takes hours, and somebody waits for a number.
        start(self._rounds * sum(len(right) + len(named) for _, right, named in plan))
        thresholds = [self._one(demand, right, named, step) for demand, right, named in plan]
        findings += [finding for found in thresholds for finding in found.findings]
        return Calibrated(
            self._device,
            machine(self._device),
            versions(),
            self._rounds,
            self.room,
            thresholds,
            ungraded,
            findings,
        )

    def _one(self, demand: PerfRequest, right: list[Path], named: list[Mistake], step: Step) -> Calibration:
        threshold = demand.threshold.on(self._kind)
        assert threshold is not None
        grows = demand.form == "growth"
        found = Calibration(
            demand.kata.slug,
            demand.kata.number,
            demand.name,
            demand.check,
            demand.form,
            threshold,
            demand.threshold.anchor if grows else None,
        )
        scale = Scale(demand, self._kind)
        for answers, readings, rule in (
            (right, found.accepted, "right answers"),
            (named, found.slow, "slow answers"),
        ):
            for answer in answers:
                reading = self._read(demand, scale, answer, step)
                if isinstance(reading, Measurement):
                    readings.append(reading)
                else:
                    self._find(found, rule, f"{_name(answer)} cannot be measured: {reading}")
        self._judge(found, scale)
        return found

    def _read(
        self, demand: PerfRequest, scale: Scale, answer: Path | Mistake, step: Step
    ) -> Measurement | str:
        """Return what an answer takes, or why that cannot be said."""
        kata, name = demand.kata, _name(answer)
        left = self._rounds
        rounds: list[Round] = []
        cut_off = False
        step(f"{kata.slug} {demand.name}: {name}", 0)
        try:
            source = read_source(answer) if isinstance(answer, Path) else answer.source
            setting = setting_of(kata, source, self._launcher, self._device)
            for round_ in Speed(setting, demand.threshold).rounds(demand.form, demand.work, left):
                rounds.append(round_)
                left -= 1
                step(f"{kata.slug} {demand.name}: {name}", 1)
        except TurnTimeout:
            # The median is among the rounds that ended when more than half of them did.
            cut_off = len(rounds) < self._rounds / 2
        except CheckFailure as error:
            return " ".join(line.strip() for line in error.failure.summary)
        except SubmissionRaised as error:
            return " ".join(line.strip() for line in describe_raised(error))
        except (WorkerDied, WorkerTimeout, SubmissionUnsendable, Unreadable) as error:
            return str(error)
        finally:
            # Rounds that an answer did not need are counted as done, or the bar would never be full.
            step("", left)
        # Medians, as the check takes them: a mean would follow the one round in which the machine was busy.
        values = [round_.value for round_ in rounds]
        if cut_off:
            return Measurement(name, scale.beyond(CUT_FACTOR), CUT_FACTOR, values, cut_off=True)
        value = statistics.median(values)
        anchors = [round_.anchored for round_ in rounds if round_.anchored is not None]
        anchored = statistics.median(anchors) if anchors else None
        over_anchor = anchored / demand.threshold.anchor if anchored is not None else 0.0
        return Measurement(
            name,
            value,
            max(scale.excess(value), over_anchor),
            values,
            anchored,
            caught_by_anchor=over_anchor >= self.room,
        )

    def _judge(self, found: Calibration, scale: Scale) -> None:
        """Say where the threshold lies among what was measured, and what is wrong with that."""
        for reading in found.accepted:
            if reading.excess > 1:
                self._find(
                    found,
                    "right answers",
                    f"{reading.answer} is over the threshold: {_against(found, reading)}",
                )
        for reading in found.slow:
            if reading.excess <= 1:
                self._find(
                    found,
                    "slow answers",
                    f"{reading.answer} is not over the threshold: {_against(found, reading)}",
                )
        if not found.slow:
            self._find(found, "slow answers", "no slow answer names this check and can be measured")
        # By how far each is over, not by its value: of a form where more is better, the slowest has the least.
        found.slowest_accepted = max(found.accepted, key=lambda reading: reading.excess, default=None)
        found.fastest_slow = min(found.slow, key=lambda reading: reading.excess, default=None)
        # What its absolute time gives away need not be told apart by growth as well.
        told_apart = [reading for reading in found.slow if not reading.caught_by_anchor]
        if found.accepted and told_apart:
            worst = max(found.accepted, key=lambda reading: scale.excess(reading.value))
            best = min(told_apart, key=lambda reading: scale.excess(reading.value))
            found.proposed = scale.middle(worst.value, best.value)
        if found.slowest_accepted is not None:
            found.room_below = 1 / found.slowest_accepted.excess
            if 1 <= found.room_below < self.room:
                self._narrow(found, found.slowest_accepted, found.room_below, "below")
        if found.fastest_slow is not None:
            found.room_above = found.fastest_slow.excess
            if 1 < found.room_above < self.room:
                self._narrow(found, found.fastest_slow, found.room_above, "above")

    def _narrow(self, found: Calibration, reading: Measurement, room: float, side: str) -> None:
        text = f"×{room:.2f} {side} it ({_against(found, reading)}, {reading.answer}), but ×{self.room:g} is required"
        if found.proposed is not None and found.room_below is not None and found.fastest_slow is not None:
            each = math.sqrt(found.fastest_slow.excess * found.room_below)
            text += (
                f"; {_number(found.form, found.proposed)} would have ×{each:.2f} on both sides"
                if each >= self.room
                else f"; no number has more than ×{each:.2f} on both sides: change the sizes or the work"
            )
        self._find(found, "headroom", text)

    def _find(self, found: Calibration, rule: str, message: str) -> None:
        found.findings.append(Finding(found.kata, rule, f"{found.name} ({found.check}): {message}"))


def _slow_answers(kata: Kata, checks: set[str], findings: list[Finding]) -> list[Mistake]:
    """Return the slow answers; those that name no speed check are refused."""
    try:
        found = slow_answers(kata)
    except PackError as error:
        findings.append(Finding(kata.slug, "slow answers", full_text(error)))
        return []
    for answer in found:
        if unknown := [name for name in answer.fails if name not in checks]:
            message = f"{answer.name} names {', '.join(unknown)}, which is not a speed check: "
            findings.append(
                Finding(kata.slug, "slow answers", f"{message}there are {', '.join(sorted(checks))}")
            )
    return found


def _name(answer: Path | Mistake) -> str:
    return answer.stem if isinstance(answer, Path) else answer.name


# --- For people ---


def _shown(form: str, reading: Measurement) -> str:
    """Return a reading in the form's unit."""
    if reading.cut_off:
        return f"{'<' if form == 'roofline' else '>'} {_number(form, reading.value)}"
    return _number(form, reading.value)


def _number(form: str, value: float) -> str:
    return f"{value:.1%}" if form == "roofline" else f"{value:.3g}"


def _against(found: Calibration, reading: Measurement) -> str:
    text = f"{_shown(found.form, reading)} where {_number(found.form, found.threshold)} is the threshold"
    if reading.anchored is not None:
        text += f", {reading.anchored:.2g} times the baseline where the anchor is {found.anchor:g}"
    return text


def machine(device: str) -> str:
    """Return what the figures depend on: processor and its clock, and the GPU where that computes."""
    model, clocks = "unknown processor", []
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = (part.strip() for part in line.partition(":"))
            if name == "model name":
                model = value
            elif name == "cpu MHz":
                clocks.append(float(value))
    except (OSError, ValueError):
        pass
    text = f"{model}, {max(clocks):.0f} MHz" if clocks else model
    on = Device(device)
    return f"{on.describe()}; {text}" if on.accelerates else text


COLUMNS = (
    "kata",
    "threshold",
    "form",
    "slowest right",
    "τ",
    "fastest slow",
    "proposed τ",
    "room below / above",
    "verdict",
)


def rows(found: Calibrated) -> list[tuple[str, ...]]:
    """Return the table's rows, one a threshold."""
    return [_cells(f"{item.number} {item.kata}", item.name, _fact(item)) for item in found.thresholds]


def _cells(kata: str, name: str, fact: MeasuredThreshold) -> tuple[str, ...]:
    return (
        kata,
        name,
        fact.form.replace("_", " "),
        fact.slowest_right,
        fact.tau,
        fact.fastest_slow,
        fact.proposed,
        fact.room,
        fact.verdict,
    )


def _fact(item: Calibration) -> MeasuredThreshold:
    ends = [
        "–" if reading is None else f"{_shown(item.form, reading)} ({reading.answer}{_by_anchor(reading)})"
        for reading in (item.slowest_accepted, item.fastest_slow)
    ]
    room = [f"×{room:.2f}" if room is not None else "–" for room in (item.room_below, item.room_above)]
    rules = ", ".join(dict.fromkeys(finding.rule for finding in item.findings))
    return MeasuredThreshold(
        form=item.form,
        threshold=item.threshold,
        slowest_right=ends[0],
        tau=_number(item.form, item.threshold),
        fastest_slow=ends[1],
        proposed="–" if item.proposed is None else _number(item.form, item.proposed),
        room=" / ".join(room),
        verdict=f"refused: {rules}" if rules else "holds",
    )


def _by_anchor(reading: Measurement) -> str:
    return f", first size {reading.anchored:.2g} times the baseline" if reading.caught_by_anchor else ""


# --- The page ---

PAGE = """# Performance

How the thresholds of speed and memory were found.

## On a CPU

<!-- calibration cpu -->
<!-- /calibration cpu -->

## On a GPU

<!-- calibration cuda -->
<!-- /calibration cuda -->
"""


def read_page(path: Path, kind: str) -> tuple[str, str]:
    """Return what stands before and after the table of a kind of device; a page that is not there is begun.

    Raises:
        UsageError: the page has no marks for it.
        EngineError: the page cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else PAGE
    except (OSError, UnicodeDecodeError) as error:
        raise EngineError(f"{path} cannot be read: {error}.") from error
    begin, end = f"<!-- calibration {kind} -->", f"<!-- /calibration {kind} -->"
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (opened and closed):
        raise UsageError(f"{path} has no marks {begin} and {end}.", "Put both lines where the table belongs.")
    return before + begin, end + after


def record(found: Calibrated, katas: Sequence[Kata]) -> None:
    """Store what was measured next to each kata: from then on these thresholds count on this kind of device."""
    kind = kind_of(found.device)
    for kata in katas:
        theirs = {item.name: _fact(item) for item in found.thresholds if item.kata == kata.slug}
        if theirs:
            there = MeasuredOn(
                machine=found.machine,
                versions=found.versions,
                rounds=found.rounds,
                room=found.room,
                thresholds=theirs,
            )
            # Other kinds of devices stay: few authors have all of them at hand.
            renewed = CalibrationFile(measured={**kata.measured, kind: there})
            write_atomic(
                kata.calibration, msgspec.json.format(msgspec.json.encode(renewed), indent=2) + b"\n"
            )


def write_page(path: Path, kind: str, katas: Sequence[Kata]) -> None:
    """Put the table of what is kept for these katas between its marks."""
    before, after = read_page(path, kind)
    write_atomic(path, f"{before}\n\n{markdown(kind, katas)}\n\n{after}")


def markdown(kind: str, katas: Sequence[Kata]) -> str:
    """Return the table of what is kept for these katas, and what it depends on, as Markdown."""
    runs: dict[str, list[str]] = {}
    for kata in katas:
        there = kata.measured.get(kind)
        if there is not None:
            made = ", ".join(f"{name} {version}" for name, version in there.versions.items())
            run = (
                f"`kata pack calibrate --rounds {there.rounds} --device {kind}` on {there.machine}; {made}.\n"
                f"Medians of {there.rounds} rounds; room of ×{there.room:g} is asked on both sides of τ."
            )
            runs.setdefault(run, []).append(kata.slug)
    lines = [run if len(runs) == 1 else f"{', '.join(which)}: {run}\n" for run, which in runs.items()]
    table = [
        _cells(f"{kata.number} {kata.slug}", name, fact)
        for kata in katas
        if kind in kata.measured
        for name, fact in kata.measured[kind].thresholds.items()
    ]
    lines += [
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "|".join("---" for _ in COLUMNS) + "|",
        *("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in table),
    ]
    return "\n".join(lines)
