"""The forms of a threshold: each lets an obviously good answer through and an obviously bad one not, and says why."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import load_pack
from grader.engine.runner.suite import suites_of
from grader.engine.timing import benchmark_run, cores
from grader.engine.timing.decision import StoppingRule
from grader.report.report import CheckReport, KataReport
from tests.sections import sections
from tests.timing.handmade import as_if_measured
from tests.timing.steps import tell_times

pytestmark = pytest.mark.slow

ROWS = Path(__file__).parents[1] / "hostile" / "speed"
"""A kata whose slow way is a loop over rows."""
ANSWERS = sections(ROWS / "answers.py")

FORMS = ("ratio", "growth", "roofline", "memory", "memory_exponent")
THRESHOLDS = {
    "ratio": 9.0,
    "growth": 9.0,
    "roofline": 0.02,
    "memory": 30.0,
    "memory_exponent": 0.45,
}
WASTED = "A loop over rows, or a pile of copies."
CHECKS = '''"""One check for each form."""

from grader.engine.checks import check, expect, oracle
from grader.engine.timing import Work

TOTAL = 1 << 18


def normalised(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt()


def right(y, x):
    expect(y, "y", axes="row width").close_to(oracle(normalised, x))


def work(*sizes):
    return Work(
        inputs=lambda draw, rows: (draw.normal(row=rows, width=TOTAL // rows, scale=3.0, shift=2.0),),
        prepare=lambda kata, rows: kata.Rows(TOTAL // rows),
        call=lambda rows, x: rows(x),
        right=right,
        sizes={"cpu": sizes, "cuda": sizes},
        axis="rows",
        traffic=lambda rows: 8 * TOTAL,
    )


TIME, MEMORY = work(16, 128, 1024), work(64, 512)
'''
CHECK = """

@check(aspect="performance", threshold="{form}")
def test_{form}(speed):
    "it holds: {form}"
    speed.{form}({work})
"""
GREEDY = """import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        pile = x.expand(max(1, len(x) // 4), *x.shape).clone()
        return waste.fast(pile[0])
"""
WRONG = """import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return waste.fast(x) if len(x) < waste.TIMED else waste.fast(x) + 1.0
"""
Examine = Callable[..., KataReport]


@pytest.fixture
def examine(
    launcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], KataReport]:
    """Check an answer by the values and one form: `examine("slow", "ratio")`; the answer's name or its source."""
    monkeypatch.setattr(benchmark_run, "MOST_CALLS", 1)
    monkeypatch.setattr("grader.engine.timing.speed.CUT_S", 60.0)  # turns are cut off by the real clock
    tell_times(monkeypatch, lambda source, x: 1e-3 * (len(x) if "waste.slow" in source else 1))
    monkeypatch.setenv("KATA_LOCKS", str(tmp_path))
    pack = Path(shutil.copytree(ROWS / "pack", tmp_path / "pack"))
    folder = pack / "1.1-rows" / "rows"
    about = (
        (folder / "kata.toml")
        .read_text()
        .partition("[speed.time]")[0]
        .replace("speed_points = 4.0", "speed_points = 5.0")
    )
    for form, threshold in THRESHOLDS.items():
        about += f'[speed.{form}]\npoints = 1.0\ncpu = {threshold}\nwasted = "{WASTED}"\n'
    (folder / "kata.toml").write_text(about)
    as_if_measured(folder)
    checks = [CHECK.format(form=form, work="MEMORY" if "memory" in form else "TIME") for form in FORMS]
    (folder / "speed_checks.py").write_text(CHECKS + "".join(checks))

    def run(answer: str, form: str) -> KataReport:
        shutil.copy(ROWS / "waste.py", tmp_path)
        file = tmp_path / "rows.py"
        file.write_text(ANSWERS.get(answer, answer))
        [kata] = load_pack(pack).katas
        with suites_of(
            [kata], speed=True, keyword=f"test_values or (test_{form} and not test_{form}_)"
        ) as suites:
            return suites["rows"].check(file, launcher)

    return run


def marks(report: KataReport) -> tuple[str, float, float, tuple[float, float] | None]:
    """Return the status, the points for being right, and apart from both those for being fast."""
    fast = (report.speed.score, report.speed.max_score) if report.speed else None
    return report.status, report.score, report.max_score, fast


def of_speed(report: KataReport) -> CheckReport:
    [values, speed] = report.checks
    assert values.id == "test_values"
    return speed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", FORMS)
def test_a_good_answer_passes(examine: Examine, form: str) -> None:
    report = examine("fast", form)
    speed = of_speed(report)
    assert (speed.status, speed.points) == ("pass", 1.0), speed.message
    assert marks(report) == ("pass", 1.0, 1.0, (1.0, 1.0))
    assert speed.speed
    assert (speed.speed.form, speed.speed.verdict) == (form, "pass")
    assert speed.speed.threshold == THRESHOLDS[form]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("form", "answer", "words"),
    [
        ("ratio", "slow", "times as long as the baseline; at most 9 times is allowed"),
        ("growth", "slow", "times as long at rows = 1024 as at 16; at most 9 times is allowed"),
        ("roofline", "slow", "of what this device can do; at least 2.0% is required"),
        (
            "memory",
            GREEDY,
            "times the memory of what goes in and out at its peak; at most 30 times is allowed",
        ),
        ("memory_exponent", GREEDY, "memory grows like rows to the power"),
    ],
)
def test_a_bad_one_fails_and_is_told_why(examine: Examine, form: str, answer: str, words: str) -> None:
    report = examine(answer, form)
    speed = of_speed(report)
    assert (speed.status, speed.points) == ("fail", 0.0), speed.message
    assert marks(report) == ("pass", 1.0, 1.0, (0.0, 1.0))
    told = speed.message or ""
    assert words in told
    assert WASTED in told
    assert speed.speed
    assert speed.speed.verdict == "fail"
    if answer == "slow":
        assert "this core's limit" in told
        assert "milliseconds by rows" in told  # the plot
        assert "2 series, each in fresh processes" in told


BASELINE = "variance + 1e-5"
"""Words of it alone."""
ROWS_AS = """import torch
import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return {result}
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("result", "seconds", "seen", "loop"),
    [
        ("waste.slow(x)", 5e-4, "a loop: torch's operators are called", True),
        ("waste.fast(torch.tensor(x.tolist()))", 5e-2, "Python itself", True),
        ("waste.fast(x.double()).float()", 5e-4, "double precision", False),
        ("waste.fast(x + 0 + 0 + 0 + 0)", 5e-4, "passes over memory", False),
    ],
)
def test_the_cause_that_is_told_is_the_one_that_was_seen(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, result: str, seconds: float, seen: str, loop: bool
) -> None:
    tell_times(monkeypatch, lambda source, x: 5e-5 if BASELINE in source else seconds)
    speed = of_speed(examine(ROWS_AS.format(result=result), "ratio"))
    assert speed.status == "fail"
    told = speed.message or ""
    assert f"Seen in a trace of one call: {seen}" in " ".join(told.split())
    assert (WASTED in told) == loop


def test_an_answer_that_is_wrong_while_it_is_timed_fails_like_any_wrong_one(examine: Examine) -> None:
    speed = of_speed(examine(WRONG, "ratio"))
    assert (speed.status, speed.points) == ("fail", 0.0)
    assert "first difference  y[row 0, width 0]" in (speed.message or "")
    assert "times as long" not in (speed.message or "")


def test_a_threshold_that_is_absent_for_a_device_is_skipped_and_costs_nothing(
    examine: Examine, tmp_path: Path
) -> None:
    about = tmp_path / "pack" / "1.1-rows" / "rows" / "kata.toml"
    about.write_text(about.read_text().replace("cpu = 9.0", "cuda = 9.0"))
    report = examine("fast", "ratio")
    speed = of_speed(report)
    assert speed.status == "skipped"
    assert "needs a GPU" in (speed.message or "")
    assert marks(report) == ("pass", 1.0, 1.0, None)


@pytest.mark.nightly
@pytest.mark.parametrize(("answer", "form"), [("fast", "ratio"), ("slow", "ratio"), ("fast", "memory")])
def test_a_threshold_that_was_not_measured_on_this_kind_of_device_is_shown_and_marks_nobody(
    answer: str, form: str, examine: Examine, tmp_path: Path
) -> None:
    kata = tmp_path / "pack" / "1.1-rows" / "rows"
    as_if_measured(kata, number=1234.5)  # for another number: nobody knows about this one
    report = examine(answer, form)
    speed = of_speed(report)
    assert (speed.status, speed.points) == ("skipped", 0.0)
    assert "shown, not marked" in (speed.message or "")
    assert f"the threshold is {THRESHOLDS[form]:g}" in (speed.message or "")
    assert speed.speed
    assert len(speed.speed.runs) == 1  # a second series would settle nothing
    assert speed.speed.verdict == ("fail" if answer == "slow" else "pass")
    assert marks(report) == ("pass", 1.0, 1.0, None)


def test_speed_counts_only_when_everything_is_right(examine: Examine) -> None:
    wrong = WRONG.replace("if len(x) < waste.TIMED else waste.fast(x) + 1.0", "+ 1.0")
    report = examine(wrong, "ratio")
    speed = of_speed(report)
    assert speed.status == "skipped"
    assert "has to hold, then speed counts" in (speed.message or "")
    assert marks(report) == ("fail", 0.0, 1.0, (0.0, 1.0))


@pytest.mark.parametrize("form", ["ratio", "growth"])
def test_a_neighbour_beside_empty_exchanges_makes_nobody_slow(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    # Four of the first five are longer than any call: their median subtracted would leave nothing of the baseline.
    tell_times(monkeypatch, lambda source, x: 1e-3, itertools.cycle([1.0, 1.0, 0.0, 1.0, 1.0]))
    speed = of_speed(examine("fast", form))
    assert (speed.status, speed.points) == ("pass", 1.0), speed.message
    assert speed.speed
    assert speed.speed.value == pytest.approx(1.0)


def test_who_is_quick_at_the_first_size_is_not_said_to_grow(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Eight times the baseline's first size at the last, eighty times its own.
    def seconds(source: str, x: Any) -> float:
        if BASELINE in source:
            return 1e-3
        return 8e-3 if len(x) > 16 else 1e-4

    tell_times(monkeypatch, seconds)
    speed = of_speed(examine("fast", "growth"))
    assert (speed.status, speed.points) == ("pass", 1.0), speed.message
    assert speed.speed
    assert speed.speed.value == pytest.approx(8.0)


@pytest.mark.nightly
def test_a_series_whose_end_is_clear_ends(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    tell_times(monkeypatch, lambda source, x: 1e-3 * (30 if "waste.slow" in source else 1))
    speed = of_speed(examine("slow", "ratio"))
    assert speed.speed
    assert (speed.status, len(speed.speed.rounds), speed.speed.runs) == ("fail", 6, ["fail", "fail"])
    tell_times(monkeypatch, lambda source, x: 1e-3 * (20 if "waste.slow" in source else 1))
    speed = of_speed(examine("slow", "ratio"))
    assert speed.speed
    assert (speed.status, len(speed.speed.rounds), speed.speed.runs) == ("fail", 10, ["fail", "fail"])


def test_what_cannot_be_decided_costs_nothing(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StoppingRule, "verdict", lambda *counts: "inconclusive" if sum(counts[1:]) else None)
    report = examine("fast", "ratio")
    speed = of_speed(report)
    assert speed.status == "skipped"
    assert "inconclusive: 3 rounds in 3 series" in (speed.message or "")
    assert marks(report) == ("pass", 1.0, 1.0, None)
    assert speed.speed
    assert speed.speed.runs == ["inconclusive"] * 3


def test_rounds_that_the_machine_below_disturbed_do_not_count(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = itertools.count()
    monkeypatch.setattr(cores, "stolen", lambda core: 1e6 * min(next(taken), 7))
    speed = of_speed(examine("fast", "ratio"))
    assert speed.speed
    assert (speed.status, speed.speed.void) == ("pass", 3)


def test_a_machine_that_is_disturbed_all_the_time_decides_nothing(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = itertools.count()
    monkeypatch.setattr(cores, "stolen", lambda core: 1e6 * next(taken))
    monkeypatch.setattr("grader.engine.timing.speed.VOID_S", 0.0)
    report = examine("fast", "ratio")
    speed = of_speed(report)
    assert speed.speed
    assert (speed.status, speed.speed.runs) == ("skipped", ["inconclusive"] * 3)
    assert "this virtual machine did not get its processors in every one of 3 rounds" in (speed.message or "")
    assert marks(report) == ("pass", 1.0, 1.0, None)


def test_what_was_cut_off_while_the_machine_below_disturbed_it_decides_nothing(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = itertools.count()
    monkeypatch.setattr(cores, "stolen", lambda core: 1e6 * next(taken))
    monkeypatch.setattr(benchmark_run, "WARM_S", 0.0)
    speed = of_speed(examine("fast", "ratio"))
    assert speed.speed
    assert (speed.status, speed.speed.runs, speed.speed.void) == ("skipped", ["inconclusive"] * 3, 3)
    assert "in every one of 3 rounds" in (speed.message or "")
