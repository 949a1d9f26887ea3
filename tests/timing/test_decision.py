"""The sequential test: its verdicts, and its error rates against the closed form and against a simulation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.odds import odds, repeated
from grader.engine.timing.decision import StoppingRule, Verdict
from grader.engine.timing.speed import verdict_of

RULE = StoppingRule()


def play(rule: StoppingRule, over: float, source: random.Random) -> tuple[str, int]:
    below = above = 0
    while (verdict := rule.verdict(below, above)) is None:
        if source.random() < over:
            above += 1
        else:
            below += 1
    return verdict, below + above


def test_a_clear_pass_takes_as_many_rounds_as_its_lead() -> None:
    assert play(RULE, 0.0, random.Random(0)) == ("pass", 4)
    assert play(RULE, 1.0, random.Random(0)) == ("fail", 5)


def test_a_lead_beyond_what_is_asked_for_decides_as_well() -> None:
    assert RULE.verdict(RULE.pass_lead + 1, 0) == "pass"
    assert RULE.verdict(0, RULE.fail_lead + 1) == "fail"
    assert RULE.verdict(0, RULE.far_lead + 1, RULE.far_lead + 1) == "fail"
    assert RULE.verdict(0, RULE.far_lead, RULE.far_lead - 1) is None
    assert RULE.verdict(1, RULE.far_lead, RULE.far_lead) is None


def test_a_draw_is_inconclusive_at_the_cap() -> None:
    assert RULE.verdict(20, 20) is None
    assert RULE.verdict(21, 20) == "inconclusive"
    assert RULE.verdict(22, 21) == "inconclusive"


def test_three_rounds_that_are_all_far_over_are_enough() -> None:
    assert RULE.verdict(0, 2, 2) is None
    assert RULE.verdict(0, 3, 3) == "fail"
    assert RULE.verdict(0, 3) is None
    assert StoppingRule(far_lead=1).verdict(0, 1) is None


@pytest.mark.parametrize(
    ("over", "fails", "rounds"), [(0.1, 1.7e-5, 5.0), (0.2, 9.7e-4, 6.7), (0.3, 1.4e-2, 9.7)]
)
def test_false_fails_of_one_run(over: float, fails: float, rounds: float) -> None:
    """For p below one half, gambler's ruin without the cap: (r^4 - r^9...)/(1 - r^9) with r = p / (1 - p)."""
    found = odds(RULE, over)
    r = over / (1 - over)
    ruin = (r**5 - r**9) / (1 - r**9)
    assert found.fails == pytest.approx(ruin, rel=0.02)
    assert found.fails == pytest.approx(fails, rel=0.05)
    assert found.rounds == pytest.approx(rounds, rel=0.02)


@given(st.floats(0, 1), st.integers(1, 8), st.integers(1, 8), st.integers(1, 60))
def test_odds_are_probabilities(over: float, pass_lead: int, fail_lead: int, cap: int) -> None:
    found = odds(StoppingRule(pass_lead, fail_lead, cap), over)
    assert found.passes + found.fails + found.inconclusive == pytest.approx(1.0)
    assert min(found.passes, found.fails, found.inconclusive) >= 0.0
    assert min(pass_lead, fail_lead, cap) <= found.rounds + 1e-9
    assert found.rounds <= cap + 1e-9


@given(st.floats(0, 0.98), st.floats(0.001, 0.02))
def test_a_slower_submission_never_passes_more_often(over: float, slower: float) -> None:
    assert odds(RULE, over + slower).passes <= odds(RULE, over).passes + 1e-12


def test_the_odds_are_what_happens() -> None:
    source, rounds = random.Random(7), 20_000
    ends = [play(RULE, 0.4, source)[0] for _ in range(rounds)]
    assert ends.count("pass") / rounds == pytest.approx(odds(RULE, 0.4).passes, abs=0.015)


@pytest.mark.parametrize("over", [0.0, 0.2, 0.45, 0.5, 0.6, 1.0])
def test_grading_is_what_all_courses_of_series_amount_to(over: float) -> None:
    one, whole = odds(RULE, over), repeated(RULE, over)
    chances: dict[Verdict, float] = {
        "pass": one.passes,
        "fail": one.fails,
        "inconclusive": one.inconclusive,
    }
    ends = dict.fromkeys(chances, 0.0)
    series = 0.0
    courses: list[tuple[list[Verdict], float]] = [([], 1.0)]
    while courses:
        runs, likely = courses.pop()
        settled = verdict_of(runs) if runs else None
        if settled is not None:
            ends[settled] += likely
            series += likely * len(runs)
        else:
            courses += [([*runs, verdict], likely * chance) for verdict, chance in chances.items()]
    assert whole.passes == pytest.approx(ends["pass"])
    assert whole.fails == pytest.approx(ends["fail"])
    assert whole.inconclusive == pytest.approx(ends["inconclusive"])
    assert whole.rounds == pytest.approx(series * one.rounds)


def test_a_fail_must_repeat() -> None:
    one, whole = odds(RULE, 0.2), repeated(RULE, 0.2)
    assert whole.fails == pytest.approx(one.fails**2 * (1 + 2 * one.inconclusive))
    assert whole.passes + whole.fails + whole.inconclusive == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("runs", "settled"),
    [
        ("p", "pass"),
        ("fp", "pass"),
        ("ip", "pass"),
        ("fip", "pass"),
        ("iip", "pass"),
        ("ff", "fail"),
        ("fif", "fail"),
        ("iff", "fail"),
        ("iii", "inconclusive"),
        ("fii", "inconclusive"),
        ("iif", "inconclusive"),
        ("f", None),
        ("i", None),
        ("fi", None),
        ("ii", None),
    ],
)
def test_what_series_amount_to(runs: str, settled: str | None) -> None:
    names: dict[str, Verdict] = {"p": "pass", "f": "fail", "i": "inconclusive"}
    assert verdict_of([names[run] for run in runs]) == settled


@pytest.mark.parametrize("over", [-0.1, 1.1, float("nan")])
def test_no_probability(over: float) -> None:
    with pytest.raises(ValueError, match="not a probability"):
        odds(RULE, over)
