"""One slip costs what it is worth: what else is right is judged, and earns its points."""

from __future__ import annotations

from typing import Any

import pytest

from grader.engine.mistakes.mistakes import mistakes
from grader.engine.mistakes.recognise import SCHEMA, SEED, Fingerprints, MutantSignatures
from grader.engine.runner.suite import RunConfig, suites_of
from grader.errors import PackError
from grader.report.report import ALREADY_DEDUCTED
from tests.running.conftest import Bench, message, statuses

pytestmark = pytest.mark.slow

FOLLOWS = """
    @check(aspect="shape")
    def test_base(submission):
        "it answers 1"
        expect(submission.thing(1), "result").is_value(1)

    @check(aspect="dtype", follows=test_base)
    def test_integer(submission):
        "it is an integer"
        expect(type(submission.thing(1)).__name__, "type").is_value("int")

    @check(aspect="values", follows=test_base)
    def test_twice(submission):
        "twice is twice as much"
        expect(submission.thing(2), "result").is_value(2)
"""


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        ("return 0", ["fail", "pass", "skipped"]),
        ("return 1", ["pass", "pass", "fail"]),  # a failure that follows from nothing is told
        ("while True: pass", ["timeout", "skipped", "skipped"]),  # nobody waits again for what never ends
    ],
)
def test_a_check_that_follows_another_counts_where_it_holds(bench: Bench, body: str, ends: list[str]) -> None:
    bench.checks(FOLLOWS)
    report = bench.check(f"def thing(x):\n    {body}\n", timeout_s=0.5 if "True" in body else None)
    assert [check.status for check in report.checks] == ends
    assert report.score == ends.count("pass")
    if ends == ["fail", "pass", "skipped"]:
        assert message(report, "twice") == "skipped: “it answers 1” has to hold first"


def test_a_hidden_check_needs_a_visible_one(bench: Bench) -> None:
    bench.checks(FOLLOWS)
    (bench.solutions / "thing.py").write_text("def thing(x):\n    return 1\n")
    bench.hidden(
        "@check(aspect='values', needs=['test_base'])\ndef test_more(submission):\n    'more'\n    pass\n"
    )
    for answer, status in (("0", "skipped"), ("1", "pass")):
        assert statuses(bench.returns(answer, hidden=True))["more"] == status


def test_a_check_follows_checks_of_its_kata(bench: Bench) -> None:
    bench.checks(
        "@check(aspect='values', follows=['test_typo'])\ndef test_it(submission):\n    'claim'\n    pass\n"
    )
    with pytest.raises(PackError, match="test_it follows test_typo, and no check has that name"):
        bench.returns("x")


STAND_IN = """
    from grader.engine.checks import stand_in

    @stand_in("half")
    def right_half(x, more=None):
        return (x / 2, x.sum()) if more else x / 2

    @check(aspect="values")
    def test_half(submission, draw):
        "half is a half"
        x = draw.normal(time=3)
        expect(submission.half(x), "half").equals(x / 2)

    @check(aspect="values", stand_ins=["half"])
    def test_thing(submission, draw):
        "thing is a half and one"
        x = draw.normal(time=3)
        expect(submission.thing(x), "thing").equals(x / 2 + 1)

    @check(aspect="gradient", stand_ins=["half"])
    def test_gradient(submission, draw):
        "its gradient is a half"
        x = draw.normal(time=3, requires_grad=True)
        submission.thing(x).sum().backward()
        expect(x.grad, "gradient").equals(torch.full((3,), 0.5))

    @check(aspect="values")
    def test_gone(submission):
        "a stand-in is gone afterwards"
        expect(submission.own(), "own").is_value(True)
"""
THING = """
    def half(x):
        return {half}

    mine = half

    def own():
        return half is mine

    def thing(x):
        return {thing}
"""


@pytest.fixture
def halves(bench: Bench) -> Bench:
    (bench.folder / "thing.py").write_text(
        "def half(x):\n    raise NotImplementedError\n\n\ndef thing(x):\n    raise NotImplementedError\n"
    )
    bench.kata_toml(required='["thing", "half"]')
    bench.checks(STAND_IN)
    return bench


@pytest.mark.parametrize(
    "call", ["half(x) + 1", "half(x=x) + 1", "half(x, True)[0] + 1", "half(more=1, x=x)[0] + 1"]
)
def test_what_calls_a_wrong_function_is_judged_with_the_authors(
    halves: Bench, call: str, explicit_gradients: list[object]
) -> None:
    report = halves.check(THING.format(half="x / 3", thing=call))
    assert not explicit_gradients, "see grader.engine.wire.codec.products"
    assert statuses(report) == {"half": "fail", "thing": "pass", "gradient": "pass", "gone": "pass"}
    assert message(report, "thing") == "judged with our `half` in place of yours"
    assert (report.status, report.score) == ("fail", 3)


def test_nobody_stands_in_for_a_function_that_holds(halves: Bench) -> None:
    report = halves.check(THING.format(half="x / 2", thing="half(x) + 1"))
    assert report.status == "pass"
    assert not any(check.message for check in report.checks)


@pytest.mark.parametrize(("thing", "gradient"), [("half(x) + 2", "pass"), ("x / 3 + 1", "fail")])
def test_a_mistake_of_its_own_still_fails_and_without_a_call_nothing_is_gained(
    halves: Bench, thing: str, gradient: str
) -> None:
    report = halves.check(THING.format(half="x / 3", thing=thing))
    assert statuses(report) == {"half": "fail", "thing": "fail", "gradient": gradient, "gone": "pass"}
    assert "first difference" in message(report, "thing")  # of the learner's own answer, not of ours


def test_a_stand_in_cannot_be_judged_in_the_learners_place(halves: Bench) -> None:
    halves.checks(
        STAND_IN.replace("def test_half(submission, draw):", "def test_first(submission, draw):").replace(
            'aspect="values")\n    def test_gone', 'aspect="values", stand_ins=["half"])\n    def test_gone'
        )
        + """
    @check(aspect="values", stand_ins=["half"])
    def test_half(submission, draw):
        "half is still a half"
        x = draw.normal(time=3)
        expect(submission.half(x), "half").equals(x / 2)
    """
    )
    report = halves.check(THING.format(half="x / 3", thing="half(x) + 1"))
    assert statuses(report)["half"] == "fail"


@pytest.mark.parametrize(
    "call", ["half(torch.ones(100_000)).sum() + half(x) + 1", "[half(x) for _ in range(300)][0] + 1"]
)
def test_a_stand_in_does_no_more_than_a_check_asks_for(halves: Bench, call: str) -> None:
    report = halves.check("import torch\n" + THING.format(half="x / 3", thing=call).replace("\n    ", "\n"))
    assert statuses(report)["thing"] == "fail"


def test_a_stand_in_for_a_hidden_check_is_the_reference(halves: Bench) -> None:
    (halves.solutions / "thing.py").write_text(
        "def half(x):\n    return x / 2\n\n\ndef thing(x):\n    return half(x) + 1\n"
    )
    halves.hidden("""
        @check(aspect="values")
        def test_much(submission, draw):
            "half of a lot"
            x = draw.normal(time=30)
            expect(submission.half(x), "half").equals(x / 2)

        @check(aspect="values", stand_ins=["half"])
        def test_more(submission, draw):
            "thing of a lot"
            x = draw.normal(time=30)
            expect(submission.thing(x), "thing").equals(x / 2 + 1)
    """)
    report = halves.check(THING.format(half="x / 3", thing="half(x) + 1"), hidden=True)
    assert statuses(report) | {"much": "fail", "more": "pass"} == statuses(report)


COUNTS = "def thing(x):\n    thing.calls = getattr(thing, 'calls', 0) + 1\n    return x + thing.calls\n"
MISTAKE = """@mistake("two-added", "you add 2 where 1 is asked for")
def thing(x):
    return x + 2
"""
ADDS_TWO = "def thing(x):\n    return x + 2\n"


@pytest.fixture
def catalogued(bench: Bench, launcher: Any) -> Bench:
    """A kata whose catalogue holds one mistake, with its fingerprints taken."""
    return with_catalogue(bench, launcher, MISTAKE, ADDS_TWO)


FAILS_ALIKE = """
        @check(aspect="values")
        def test_other(submission, reference):
            "what fails alike, anew or not, says nothing of the next"
            for _ in range(2):
                expect(submission.thing(torch.zeros(3)), "thing").equals(torch.ones(3))
"""


def with_catalogue(bench: Bench, launcher: Any, mistake: str, text: str, first: str = "") -> Bench:
    bench.checks("""
        @check(aspect="values")
        def test_thing(submission, draw):
            "thing adds 1"
            x = draw.normal(time=3)
            for _ in range(2):
                expect(submission.thing(x), "thing").equals(x + 1)
    """)
    bench.hidden(
        first
        + """
        @check(aspect="values")
        def test_much(submission, reference, draw):
            "it adds 1 to a lot"
            x = draw.normal(time=300)
            expect(submission.thing(x), "thing").equals(reference.thing(x))

        @check(aspect="values")
        def test_whole(submission, draw):
            "it adds 1 to whole numbers"
            x = draw.integers(0, 9, time=3)
            expect(submission.thing(x), "thing").equals(x + 1)
    """
    )
    (bench.solutions / "thing.py").write_text("def thing(x):\n    return x + 1\n")
    (bench.solutions / "mutants").mkdir()
    (bench.solutions / "mutants" / "adding.py").write_text(mistake)
    bench.answer.write_text(text)
    marks: dict[str, Any] = {}
    kata = bench.kata
    with suites_of([kata]) as suites:
        suites["thing"].check(bench.answer, launcher, RunConfig(), marks=marks)
    [known] = mistakes(kata)
    kept = Fingerprints(SCHEMA, SEED, {known.name: MutantSignatures(known.say, marks)})
    kata.fingerprints.write_bytes(kept.encode())
    return bench


def test_a_known_mistake_is_not_charged_again_by_hidden_checks(catalogued: Bench) -> None:
    report = catalogued.check(ADDS_TWO, hidden=True, seed=3)
    assert statuses(report) == {"thing": "fail", "much": "pass", "whole": "fail"}
    assert message(report, "much") == ALREADY_DEDUCTED + "\n  you add 2 where 1 is asked for"
    assert (report.status, report.score, report.max_score) == ("fail", 1, 3)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("result", ["x * 0 + 7", "x", "3 * x", "x**4 + 7"])
def test_a_mistake_that_leaves_nothing_to_compute_is_not_counted_as_passed(
    bench: Bench,
    launcher: Any,
    result: str,
) -> None:
    text = f"def thing(x):\n    return {result}\n"
    mistake = MISTAKE.replace("x + 2", result)
    report = with_catalogue(bench, launcher, mistake, text).check(text, hidden=True, seed=3)
    much = next(check for check in report.checks if check.id == "test_much")
    assert report.checks[0].misconception == "two-added"
    depends = result in ("3 * x", "x**4 + 7")  # of which the least values are alike
    assert (much.status, much.same_mistake) == (("pass", "counted") if depends else ("fail", "idle"))


def test_a_known_mistake_that_keeps_state_begins_anew_when_it_is_judged_by_ours(
    bench: Bench,
    launcher: Any,
) -> None:
    mistake = f'@mistake("counted", "you add how often you were called")\n{COUNTS}'
    report = with_catalogue(bench, launcher, mistake, COUNTS, FAILS_ALIKE).check(COUNTS, hidden=True, seed=3)
    assert (statuses(report)["other"], statuses(report)["much"]) == ("fail", "pass")


def test_a_known_mistake_is_recognised_in_numbers_larger_than_a_tensor_holds(
    bench: Bench, launcher: Any
) -> None:
    huge = """
        @check(aspect="values")
        def test_huge(submission, reference):
            "it adds 1 to whole numbers of any size"
            for x in (2**70, 2**71):
                expect(submission.thing(x), "thing").is_value(reference.thing(x))
"""
    report = with_catalogue(bench, launcher, MISTAKE, ADDS_TWO, huge).check(ADDS_TWO, hidden=True, seed=3)
    assert statuses(report)["huge"] == "pass"
    assert message(report, "huge").startswith(ALREADY_DEDUCTED)


@pytest.mark.parametrize(
    ("result", "likely"), [("(x + 2)[:200]", "you add 2 where 1 is asked for"), ("x + 3", None)]
)
def test_what_is_not_the_known_mistake_is_charged_wherever_it_shows(
    catalogued: Bench, result: str, likely: str | None
) -> None:
    report = catalogued.returns(result, hidden=True)
    assert report.checks[0].likely == likely
    assert statuses(report) == {"thing": "fail", "much": "fail", "whole": "fail"}


def test_what_a_size_alone_suggests_gives_way_to_the_mistake_that_is_known(
    bench: Bench,
    launcher: Any,
) -> None:
    text = "import torch\n\n\ndef thing(x):\n    return torch.cat((x, {}))\n"
    ends_in_ones = text.format("torch.ones(1)")
    mistake = (
        'mistake("ends-in-ones", "you append ones where 1 is to be added")\n\nimport torch\n\n'
        "def thing(x):\n    return torch.cat((x, torch.ones(1)))\n"
    )
    kata = with_catalogue(bench, launcher, mistake, ends_in_ones)
    known, other = (message(kata.check(one), "thing") for one in (ends_in_ones, text.format("2 * x[:1]")))
    assert "wrong shape  thing  got [4]  want [3]" in known
    assert other.removeprefix(known) == "\naxis 0 is one longer than it should be"


def test_digits_are_not_called_lost_where_the_same_name_is_wrong_by_more_elsewhere(bench: Bench) -> None:
    bench.checks("""
        from grader.checks import oracle

        def asks(submission, draw, scale):
            x = draw.normal(time=3).double() / 3
            expect(submission.thing(x, scale), "thing").close_to(oracle(lambda x: x * 1.0, x))

        @check(aspect="values")
        def test_small(submission, draw):
            "in small"
            asks(submission, draw, 1e-8)

        @check(aspect="values")
        def test_large(submission, draw):
            "in large"
            asks(submission, draw, 1.0)
    """)

    def likely(body: str) -> list[bool]:
        report = bench.check(f"def thing(x, scale):\n    return {body}\n")
        return ["half of its digits" in (check.likely or "") for check in report.checks]

    assert likely("x.float().double()") == [True, True]
    assert likely("x + scale") == [False, False]
    assert likely("x + (scale if scale < 1 else 0)") == [True, False]
