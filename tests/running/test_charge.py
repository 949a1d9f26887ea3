"""One slip is charged once: what the failed checks of a run cost together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.engine.checks.decorators import CheckInfo
from grader.engine.runner.charge import charge
from grader.engine.runner.outcome import Outcome, RunCheck
from grader.report.report import KataReport
from tests.running.conftest import Bench, message, statuses

Ended = tuple[RunCheck, Outcome]


def check(name: str, points: float, *, hidden: bool = False, **how: Any) -> Ended:
    """Return a check that failed, with what is known of why."""
    item: Any = SimpleNamespace(name=name, path=Path("hidden_checks.py" if hidden else "checks.py"))
    outcome = Outcome(how.pop("status", "fail"), **how)
    earned = points if outcome.status == "pass" else 0.0
    return RunCheck(item, CheckInfo(name, "values", points, ())), replace(outcome, points=earned)


HOLDS = check("holds", 60, status="pass")


def lost(*checks: Ended, holds: Ended = HOLDS, unsure: Any = {}, idle: Any = ()) -> dict[str, float]:  # noqa: B006
    """Return what each check costs in a kata of 100 points."""
    charged = charge(dict((*checks, holds)), 100, unsure, idle)
    return {check.id: check.info.points - charged[check].points for check, _ in checks}


def test_checks_that_fail_by_one_cause_cost_the_most_expensive_and_a_tenth() -> None:
    one, two, three = (
        check(name, points, cause="it is kept") for name, points in zip("abc", (8, 10, 9), strict=True)
    )
    assert lost(one, two, three) == {"a": 1, "b": 10, "c": 9}
    # Whose cause nobody knows may be another slip each.
    assert lost(check("a", 8), check("b", 10), check("c", 9)) == {"a": 8, "b": 10, "c": 9}


def test_a_mistake_that_is_named_is_one_slip_with_what_it_likely_was() -> None:
    named = check("a", 8, mistake="kept", cause="it is kept")
    hidden = check("b", 20, hidden=True, cause="it is kept")
    assert lost(named, hidden, check("c", 9, cause="it is kept")) == {"a": 1, "b": 20, "c": 9}
    # In another's design a mistake leaves other numbers: where all that is named fails there as well, it is that.
    free = check("b", 20)
    assert lost(check("a", 15, mistake="kept"), free, unsure={"kept": {"b"}}) == {"a": 10, "b": 20}
    assert lost(check("a", 15, mistake="kept"), free) == {"a": 15, "b": 20}
    two = check("c", 1, mistake="other")
    assert lost(check("a", 15, mistake="kept"), free, two, unsure={"kept": {"b"}}) == {
        "a": 15,
        "b": 20,
        "c": 1,
    }


def test_what_is_raised_in_one_line_is_one_slip() -> None:
    line = {"status": "error", "raised_at": "RuntimeError at a.py:3"}
    assert lost(check("a", 15, **line), check("b", 20, **line)) == {"a": 10, "b": 20}
    other = {"status": "error", "raised_at": "RuntimeError at a.py:4"}
    assert lost(check("a", 15, **line), check("b", 20, **other)) == {"a": 15, "b": 20}
    named = check("a", 15, mistake="turned", **line)
    assert lost(named, check("b", 20, hidden=True, **line), check("c", 2, mistake="turned")) == {
        "a": 10,
        "b": 20,
        "c": 0,
    }


def test_with_what_is_skipped_because_of_it_a_slip_costs_half() -> None:
    first = check("a", 20, mistake="kept")
    after = [check(name, 15, status="skipped", after="a") for name in "bcd"]
    assert sum(lost(first, *after).values()) == 50
    # What was skipped may hide another slip: below half it costs what it is worth.
    assert sum(lost(first, after[0]).values()) == 35
    # Another that was run, and would have failed by the same cause, hides none.
    first = check("a", 20, cause="it is kept")
    same = check("b", 15, status="skipped", after="a", itself=Outcome("fail", cause="it is kept"))
    assert sum(lost(first, same).values()) == 30


def test_properties_cost_15_of_100_together_and_one_of_them_its_most_expensive_check() -> None:
    def wrong(name: str, points: float, cause: str) -> Ended:
        return check(name, points, cause=cause, stage="dtype")

    assert lost(wrong("a", 2, "float32"), wrong("b", 7, "float32")) == {"a": 0, "b": 7}
    several = (wrong("a", 9, "float32"), wrong("b", 7, "layout"), wrong("c", 3, ""))
    assert lost(*several) == {"a": 9, "b": 6, "c": 0}


def test_no_more_is_given_back_than_was_earned_and_nothing_for_no_work() -> None:
    slip = [check(name, 20, mistake="zeros") for name in "abcd"]
    little = check("holds", 5, status="pass")
    assert sum(lost(*slip, holds=little).values()) == 75
    assert sum(lost(*slip).values()) == 30
    assert sum(lost(*slip, idle={"zeros"}).values()) == 80
    idle = [(check, replace(outcome, idle="zeros")) for check, outcome in slip]
    assert sum(lost(*idle).values()) == 80
    assert sum(lost(*idle[:3], slip[3]).values()) == 80
    assert sum(lost(*idle[:3], (slip[3][0], replace(slip[3][1], idle=""))).values()) == 30


def test_a_convention_costs_one_check_and_a_tenth_whatever_the_rest_earned() -> None:
    turned = [check(name, 20, mistake="true-blocks") for name in "abcd"]
    after = check("e", 20, status="skipped", after="a")
    every = dict((*turned, after, check("holds", 0, status="pass")))
    constant = next(iter(every))  # True everywhere in a right answer, too
    charged = charge(every, 100, {}, (), {constant}, {"true-blocks"})
    assert 100 - sum(outcome.points for outcome in charged.values()) == 30


def test_what_the_machine_is_to_blame_for_is_no_slip() -> None:
    assert lost(check("a", 8, status="skipped", machine=True, cause="it is kept")) == {"a": 8}


@pytest.mark.slow
def test_a_report_says_where_a_slip_is_charged(bench: Bench) -> None:
    bench.checks("""
        from grader.engine.checks import fail

        @check(aspect="values", points=8)
        def test_holds(submission):
            "it holds"
            expect(submission.thing(1), "thing").is_value(1)

        @check(aspect="shape", points=2)
        def test_shape(submission):
            "its shape"
            fail("no", cause="it is kept")

        @check(aspect="values", points=5)
        def test_values(submission):
            "its values"
            fail("no", cause="it is kept")

        @check(aspect="gradient", points=2)
        def test_gradient(submission):
            "its gradient"
            fail("no", cause="it is kept")
    """)
    toml = bench.folder / "kata.toml"
    toml.write_text(toml.read_text().replace("points = 1\n", "points = 17\n"))
    report = bench.returns("x")
    assert statuses(report) == {"holds": "pass", "shape": "fail", "values": "fail", "gradient": "fail"}
    assert (report.status, report.score, report.max_score) == ("fail", 10, 17)
    assert message(report, "shape") == "no"
    assert message(report, "gradient") == "no\n2 of 2 points count: one slip is charged once, in “its values”"


def test_the_rest_says_where_it_is_charged() -> None:
    slip = [check(name, points, cause="it is kept") for name, points in zip("abc", (8, 10, 9), strict=True)]
    messages = {check.id: outcome.message for check, outcome in charge(dict([*slip, HOLDS]), 100, {}).items()}
    assert messages == {
        "a": "7 of 8 points count: one slip is charged once, in “b”",
        "b": None,
        "c": None,
        "holds": None,
    }
    hidden = check("d", 20, hidden=True, cause="it is kept")
    first = check("a", 12, cause="it is kept")
    message = charge(dict([first, hidden, HOLDS]), 100, {})[first[0]].message
    assert message == "2 of 12 points count: one slip is charged once, in a hidden check"


CALLED_OTHERWISE = """
    from grader.checks import Part

    @check(aspect="values", points=20)
    def test_plain(submission, draw):
        "it adds 1"
        x = draw.normal(row=2, column=3)
        expect(submission.thing(x)).close_to(x + 1)

    @check(aspect="arguments", points=2)
    def test_promises(submission, draw):
        "however it is called"
        Part("thing").expect(submission, lambda x: x + 1, draw, [{"x": draw.normal(row=2, column=3)}])

    @check(aspect="arguments", points=4)
    def test_contract(submission, draw):
        "whatever its size"
        Part("thing").expect(submission, lambda x: x + 1, draw, [{"x": draw.normal(row=5, column=7)}])

    @check(aspect="values", points=3)
    def test_strided(submission, draw):
        "however it lies in memory"
        x = draw.noncontiguous(draw.normal(row=2, column=3))
        expect(submission.thing(x)).close_to(x + 1)
"""


def _called_otherwise(bench: Bench, answer: str) -> KataReport:
    bench.checks(CALLED_OTHERWISE)
    table = bench.folder / "kata.toml"
    table.write_text(table.read_text().replace("points = 1", "points = 29"))
    return bench.check(answer)


@pytest.mark.parametrize(
    ("answer", "failed", "likely"),
    [
        (
            "def thing(given):\n    return given + 1\n",
            ["promises", "contract"],
            "its parameters are not those of the stub (x): keep their names, order and defaults",
        ),
        (
            "def thing(x):\n    return x.view(-1).view(x.shape) + 1\n",
            ["promises", "contract", "strided"],
            "a tensor is not contiguous in memory, which .view needs: .reshape works on any",
        ),
    ],
    ids=["renamed arguments", "view"],
)
def test_who_is_right_until_called_otherwise_loses_no_more_than_one_check(
    bench: Bench, answer: str, failed: list[str], likely: str
) -> None:
    report = _called_otherwise(bench, answer)
    assert [check.likely for check in report.checks if check.status != "pass"] == [likely] * len(failed)
    assert [name for name, status in statuses(report).items() if status != "pass"] == failed
    assert report.max_score - report.score == 4


def test_who_never_takes_the_layout_is_charged_as_for_any_slip(bench: Bench) -> None:
    report = _called_otherwise(bench, "def thing(x):\n    return x.mT.view(-1).view(x.mT.shape).mT + 1\n")
    assert report.max_score - report.score == 20 + 3


def test_what_is_excluded_is_charged_where_it_is_used(bench: Bench) -> None:
    bench.kata_toml('[policy]\nforbid = ["gelu", "normalisation"]\n', '["one", "other"]')
    bench.checks("""
        from grader.engine.checks import expect_from_scratch

        @check(aspect="values")
        def test_one(submission, draw):
            "one adds"
            x = draw.normal(time=3)
            expect(submission.one(x), "one").close_to(x + 1)

        @check(aspect="values")
        def test_other(submission, draw):
            "the other adds two"
            x = draw.normal(time=3)
            expect(submission.other(x), "other").close_to(x + 2)

        @check(aspect="scratch")
        def test_scratch(submission, draw):
            "from scratch"
            submission.one(draw.normal(time=3))
            expect_from_scratch(submission)
    """)
    (bench.folder / "thing.py").write_text(
        "def one(x):\n    raise NotImplementedError\n\n\ndef other(x):\n    raise NotImplementedError\n"
    )
    used = """
        import torch

        def one(x):
            try:
                torch.nn.functional.gelu(x)
            finally:
                return x + 1

        def other(x):
            if x is None:
                torch.nn.functional.layer_norm(x, (3,))
            return x + 2
    """
    report = bench.check(used)
    assert {check.id: check.points for check in report.checks} == {
        "test_one": 0,
        "test_other": 1,
        "test_scratch": 0,
    }
    assert report.status == "fail"
    # What is named and never reached is no use.
    assert "used torch.ops.aten.gelu (line 6)" in message(report, "one")
    assert "norm" not in message(report, "one")
    # Where a use is the other's as well, both lose their points.
    both = bench.check(
        used.replace("if x is None", "if x is not None").replace("layer_norm(x, (3,))", "gelu(x)")
    )
    assert both.score == 0
