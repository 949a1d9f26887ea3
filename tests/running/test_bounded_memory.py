"""What the grader makes of a submission's answers is bounded; a fault is the machine's if the reference has it too."""

from __future__ import annotations

import sys

import pytest

from grader.errors import MachineFault
from tests.running.conftest import Bench, message, statuses

pytestmark = pytest.mark.slow

CHECKS = """
    @check(aspect="values")
    def test_sum(submission):
        "they add up"
        found = [submission.thing(number).double() for number in range(4)]
        expect(float(sum(one.sum() for one in found)), "sum").is_value(0.0)

    @check(aspect="values")
    def test_pairs(submission):
        "each with each"
        found = submission.thing(0)
        expect(float((found[:, None] - found).sum()), "sum").is_value(0.0)

    @check(aspect="values")
    def test_after(submission):
        "nothing else is touched by it"
        expect(submission.thing(0).ndim, "axes").is_value(1)
"""
RIGHT = "import torch\n\n\ndef thing(x):\n    return torch.zeros(3)\n"
TOO_MUCH = "takes more than the grader has for one check"


@pytest.fixture
def small(bench: Bench) -> Bench:
    bench.kata_toml("[limits]\nmemory_mb = 1024\n")  # beyond what a process of many tests has in use
    bench.checks(CHECKS)
    (bench.solutions / "thing.py").write_text(RIGHT)
    return bench


@pytest.mark.nightly
@pytest.mark.parametrize("reference", [True, False])
def test_bytes_that_become_many_are_the_submissions(small: Bench, reference: bool) -> None:
    if not reference:
        (small.solutions / "thing.py").unlink()
    report = small.check(RIGHT.replace("zeros(3)", "zeros(64 << 20, dtype=torch.uint8)"))
    assert statuses(report) == {"sum": "fail", "pairs": "fail", "after": "pass"}
    assert TOO_MUCH in message(report, "sum")
    assert "can't allocate memory" in message(report, "pairs")
    assert (report.status, report.score, report.max_score) == ("fail", 1, 3)


FAILS = """
    import errno

    tried = []

    @check(aspect="values")
    def test_thing(submission):
        "it is 0"
        tried.append(submission.thing(1))
        if {when}:
            raise {error}
"""
ERRORS = ["MemoryError()", "OSError(errno.EMFILE, 'too many files')", "torch.zeros(1 << 44) and None"]


@pytest.mark.nightly
@pytest.mark.parametrize("error", ERRORS)
def test_a_fault_is_the_machines_if_the_reference_has_it_too(bench: Bench, error: str) -> None:
    (bench.solutions / "thing.py").write_text("def thing(x):\n    return 0\n")
    bench.checks(FAILS.format(when="tried[-1]", error=error))
    report = bench.returns("1")
    assert statuses(report) == {"thing": "fail"}
    assert TOO_MUCH in message(report, "thing")
    bench.checks(FAILS.format(when="True", error=error))
    with pytest.raises(MachineFault, match="ran out of something"):
        bench.returns("1")


def test_a_fault_that_passes_is_in_no_report(bench: Bench) -> None:
    bench.checks(FAILS.format(when="len(tried) == 1", error="MemoryError()"))
    assert bench.returns("1").status == "pass"


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc")
@pytest.mark.parametrize("floats", [500_000, 150_000])
def test_what_was_freed_is_there_again_though_small_blocks_between_are_kept(
    bench: Bench, floats: int
) -> None:
    bench.kata_toml("[limits]\nmemory_mb = 224\n")
    bench.asks(f"expect(submission.thing(1), 'thing').is_value({50_000_000 // floats})")
    report = bench.check(f"""
        import torch

        def thing(x):
            torch.ones(5_000_000)  # after which malloc by itself keeps blocks of this size
            pairs = [(torch.ones({floats}), torch.ones(600)) for _ in range(50_000_000 // {floats})]
            kept = [small for _, small in pairs]
            del pairs
            torch.ones(50_000_000)
            return len(kept)
    """)
    assert report.status == "pass", report.checks[0].message
