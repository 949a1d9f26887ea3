"""What hung once is not waited for again, whatever leads to it; what is only slow is."""

from __future__ import annotations

import pytest

from grader.engine.host import patience
from tests.running.conftest import Bench, message, statuses

CHECKS = "\n".join(
    f"@check(aspect='values')\ndef test_{name}(submission):\n    'claim'\n    {body}\n"
    for name, body in {
        "loops": "submission.thing(1)",
        "leads_there": "submission.Other()(1)",
        "is_handed_it": "submission.calls(submission.Other())",
        "leads_there_still": "submission.Other()(2)",
        "is_right": "assert submission.right(1) == 1",
        "loops_as_well": "submission.again(1)",
        "loops_too": "submission.third(1)",
    }.items()
)
ANSWER = """
def helper():
    while True: pass

def thing(x):
    return helper()

class Other:
    def __call__(self, x):
        return helper()

def calls(other):
    return other(1)

def right(x):
    return x

def again(x):
    while True: pass

def third(x):
    while True: pass
"""


@pytest.mark.parametrize("hurried", [True, False])
def test_one_loop_is_waited_for_once_whatever_leads_to_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, hurried: bool
) -> None:
    # So short that nothing answers within it: what passes was given all its time.
    monkeypatch.setattr(patience, "AGAIN_S", 1e-9)
    (bench.folder / "thing.py").write_text(ANSWER)  # a stub is read and never run
    bench.kata_toml(required='["thing", "Other", "calls", "right", "again", "third"]')
    bench.checks(CHECKS)
    report = bench.check(ANSWER, timeout_s=2.0, hurried=hurried)
    end = "skipped" if hurried else "timeout"
    assert statuses(report) == {
        "loops": "timeout",
        "leads_there": "skipped",
        "is_handed_it": "skipped",
        "leads_there_still": "skipped",
        "is_right": "pass",
        "loops_as_well": end,
        "loops_too": end,
    }
    assert "`Other` did not answer within 1e-09 s, and `helper` had not in an earlier check" in message(
        report, "leads_there"
    )
    if hurried:  # of several loops each is waited for half as long as the last
        assert "`again` did not answer within 1 s, and `helper` had not" in message(report, "loops_as_well")
        assert "`third` did not answer within 0.5 s" in message(report, "loops_too")
    assert report.status == "timeout"


def test_a_check_that_is_slow_as_a_whole_shortens_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "AGAIN_S", 1e-9)
    answer = "import time\n\ndef thing(seconds):\n    time.sleep(seconds)\n    return 1\n"
    (bench.folder / "thing.py").write_text(answer)
    # Its time ends in a call that has waited for less than half of it: it may be right.
    bench.checks("""
        @check(aspect='values')
        def test_slow(submission):
            'claim'
            for seconds in (1.6, 60):
                submission.thing(seconds)

        @check(aspect='values')
        def test_right(submission):
            'claim'
            assert submission.thing(0) == 1
    """)
    assert statuses(bench.check(answer, timeout_s=2.0)) == {"slow": "timeout", "right": "pass"}
