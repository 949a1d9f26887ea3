"""Where a slip likely is: the place of a small change after which the failing check holds."""

from __future__ import annotations

import pytest

from grader.engine.runner.repairs import repaired
from grader.errors import MachineFault
from tests.running.conftest import Bench

SLIPS = {
    "keep = x.sum(dim=0, keepdim=True)\n    return x / keep": "line 4, x.sum(dim=0, keepdim=True): with another number",
    "total = x.sum(1)[:, None]\n    return x / x": "line 5, x / x: with another name than x",
    "total = x.sum(1)[:, None]\n    return x * total": "line 5, x * total: with another operator than *",
    "y = x\n    for _ in x.T:\n        total = x.sum(1)[:, None]\n        y = y / total\n    return y": (
        "at another indent"
    ),
    "total = x.sum(1)[:, None]\n    total = total + 1\n    return x / total": (
        "line 5, total + 1: with another"
    ),
    "total = torch.zeros(len(x), 1)\n    for column in x.T:\n        total = column[:, None]\n    return x / total": (
        "line 6, total = column[:, None]: with what was there before added to it"
    ),
    "columns, rows = x.shape\n    y = x.reshape(rows, columns)\n    return y / y.sum(1).reshape(rows, 1)": (
        "with its names in another order"
    ),
    "parts = x\n    for _ in range(2):\n        out = parts + 1\n    out = out - 2; return out / x.sum(1)[:, None]": (
        "with one name for out and parts"
    ),
    "parts = []\n    parts.append(x / x.sum(1)[:, None])\n    return torch.cat(parts).max(2 // 2).values": "",
    "return x / x.mean(1)[:, None]": "line 4, x.mean: with another function than mean",
    "return x / (x @ torch.ones(3, 2))[0][:, None]": "(x @ torch.ones(3, 2))[0]: with another axis",
    "return torch.exp(x.log() - x.sum(1, keepdim=True).log() + 0) * torch.exp(x * 0 + 1)": "with",
    "return x / x.exp().sum(1, keepdim=True).log()": "with",
    "n = 0\n    n += 2\n    return x / x.sum(n, keepdim=True)": "line 5, n += 2: with another number than 2",
    "total = 0\n    for column in x.T:\n        if len(column) == 0:\n            continue\n"
    "        total = total + column\n        break\n    return x / total[:, None]": (
        "line 9, break: with another word than break"
    ),
    "y = x\n    if len(x) == 4:\n        y = x / x.sum(1, keepdim=True)\n"
    "    if len(x) > 3:\n        y = y * 2\n    return y": ("line 7, if len(x) > 3: with elif"),
    "return x * 0": "",
}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine as much is tried as on an idle one."""
    monkeypatch.setattr("grader.engine.runner.repairs.SECONDS", 600.0)


@pytest.fixture
def shares(bench: Bench) -> Bench:
    """A check of a function that divides each row by its sum."""
    bench.asks("""
        x = draw.uniform(row=4, column=3) + 1
        expect(submission.thing(x), "shares").close_to(x / x.sum(1, keepdim=True))
    """)
    return bench


@pytest.mark.parametrize("body", SLIPS)
def test_the_place_of_a_slip_is_told_and_not_what_it_should_be(shares: Bench, body: str) -> None:
    (check,) = shares.check(f"import torch\n\ndef thing(x):\n    {body}\n", repairs=True).checks
    assert SLIPS[body] in (check.likely or "")
    assert bool(SLIPS[body]) == bool(check.likely)


def test_what_a_rule_says_of_the_same_line_stays(shares: Bench) -> None:
    answer = "def thing(x):\n    return x / x.sum(1, keepdim=True) ** (3 // 2 * 2)\n"
    (check,) = shares.check(answer, repairs=True).checks
    assert (check.likely or "").startswith("line 2, 3 // 2: // in an exponent")


def test_nothing_is_tried_where_nobody_waits_for_it(shares: Bench) -> None:
    (check,) = shares.check("def thing(x):\n    return x * x.sum(1)[:, None]\n").checks
    assert check.likely is None


def test_a_change_that_breaks_what_held_is_none(bench: Bench) -> None:
    bench.checks("""
        @check(aspect="values")
        def test_thing(submission, draw):
            "claim"
            x = draw.normal(row=4, column=3)
            expect(submission.thing(x), "sum").close_to(x + 1)

        @check(aspect="values")
        def test_other(submission):
            "another"
            expect(submission.other(1), "other").is_value(2)
    """)
    step, rest = "def step(x):\n    return x + 1\n", "def {}(x):\n    return step(x){}\n"
    text = step + rest.format("thing", " + 1") + rest.format("other", "")
    first, _ = bench.check(text, repairs=True).checks
    assert "line 2" not in (first.likely or "")


def test_only_what_the_check_calls_is_changed() -> None:
    data = b"def other():\n    return 1\n\ndef thing():\n    return helper()\n\ndef helper():\n    return 2\n"
    tried = []

    def holds(changed: bytes) -> bool:
        tried.append(changed)
        return False

    assert repaired(data, ["thing"], holds, lambda changed: "all") is None
    assert tried
    assert all(changed.startswith(data[:28]) for changed in tried)


def test_of_a_file_that_python_does_not_read_nothing_is_said() -> None:
    assert repaired(b"def thing(:\n", ["thing"], bool, lambda changed: "all") is None


def test_what_makes_everything_hold_is_taken_before_what_came_first() -> None:
    data = b"def thing(x):\n    return x + 1 - 2\n"
    found = repaired(data, ["thing"], bool, lambda changed: "all" if b"x + 1 - 1" in changed else "kept")
    assert found is not None
    assert found.sentence.startswith("line 2, x + 1 - 2: with another number than 2")
    kept = repaired(data, ["thing"], bool, lambda changed: "kept" if b"x - 1" in changed else "broken")
    assert kept is not None
    assert "with another operator than +" in kept.sentence


@pytest.mark.parametrize("error", [KeyboardInterrupt, MachineFault("nothing is left")])
def test_a_search_that_ends_early_leaves_the_verdict(
    shares: Bench, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def repaired(*given: object) -> None:
        raise error

    monkeypatch.setattr("grader.engine.runner.suite.repaired", repaired)
    (check,) = shares.check("def thing(x):\n    return x / x.sum(0)\n", repairs=True).checks
    assert check.status in ("fail", "error")
    assert "would hold" not in (check.likely or "")
