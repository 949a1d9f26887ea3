"""A draw that the reference fails says nothing of a submission: the check is drawn again, and costs nobody a point."""

from __future__ import annotations

import msgspec
import pytest

from grader.report.report import CheckReport, KataReport
from tests.running.conftest import Bench, message, statuses

pytestmark = pytest.mark.slow

RIGHT, WRONG = "def thing(x):\n    return x + 1\n", "def thing(x):\n    return x + 3\n"
BAD = 7
"""The seed whose draw nobody can answer."""
BROKEN = "1 / (seed - 7)"
OVERFLOWS = "oracle(lambda x: (x * x).sqrt(), torch.tensor([1e30 if seed == 7 else 1.0])).tolerance"
WANTS_MORE = "want = want + (seed == 7)"
HIDES = """
    from grader.engine.checks import oracle

    @check(aspect="values")
    def test_it(submission, draw, seed):
        "it adds"
        x = draw.normal(time=3)
        want = x + 1
        {}
        expect(submission.thing(x), "thing").equals(want)
"""


def drawn(bench: Bench, line: str, answer: str, seed: int, *, reference: bool = True) -> KataReport:
    """Check an answer where the drawn check has this line, next to another check that always holds."""
    bench.checks("""
        @check(aspect="shape")
        def test_other(submission):
            "it answers"
            submission.thing(torch.ones(1))
    """)
    bench.hidden(HIDES.format(line))
    if reference:
        (bench.solutions / "thing.py").write_text(RIGHT)
    return bench.check(answer, hidden=True, seed=seed)


def the_check(report: KataReport) -> CheckReport:
    return next(check for check in report.checks if check.id == "test_it")


@pytest.mark.parametrize("line", [BROKEN, OVERFLOWS, WANTS_MORE])
def test_a_draw_that_the_reference_fails_is_drawn_again(bench: Bench, line: str) -> None:
    report = drawn(bench, line, RIGHT, BAD)
    assert (report.status, report.score, report.max_score) == ("pass", 2, 2)
    assert msgspec.to_builtins(the_check(report))["redrawn"] == 1
    again = drawn(bench, line, WRONG, BAD)
    assert (again.status, again.score, again.max_score) == ("fail", 1, 2)
    assert (the_check(again).status, the_check(again).redrawn) == ("fail", 1)
    other = drawn(bench, line, WRONG, BAD + 1)
    assert "redrawn" not in msgspec.to_builtins(the_check(other))


@pytest.mark.parametrize("line", ["1 / 0", "want = want + 1"])
def test_a_check_that_fails_the_reference_in_every_draw_leaves_the_points(bench: Bench, line: str) -> None:
    report = drawn(bench, line, RIGHT, BAD)
    assert (report.status, report.score, report.max_score) == ("pass", 1, 1)
    assert statuses(report) == {"other": "pass", "it": "skipped"}
    assert the_check(report).redrawn == 3
    assert message(report, "it").startswith(
        "not judged, and its points are not counted: the fault is the check's"
    )


def test_without_a_reference_a_check_that_says_it_is_broken_is_drawn_again(bench: Bench) -> None:
    report = drawn(bench, OVERFLOWS, RIGHT, BAD, reference=False)
    assert (report.status, report.score, the_check(report).redrawn) == ("pass", 2, 1)


def test_what_a_submission_returns_brings_about_no_other_draw(bench: Bench) -> None:
    """It would wait for an easy one."""
    asks = "oracle(lambda x: (x * x).sqrt(), submission.thing(torch.zeros(1))).tolerance"
    report = drawn(bench, asks, "def thing(x):\n    return x + 1e30\n", BAD)
    assert (report.status, report.max_score, the_check(report).status) == ("fail", 2, "fail")
    assert "redrawn" not in msgspec.to_builtins(the_check(report))
    assert "could not use what your code returned" in message(report, "it")
