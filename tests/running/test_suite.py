"""Checks of any pack run over a submission and become a report. These packs know nothing of transformers."""

from __future__ import annotations

import select
import shutil
import textwrap
from pathlib import Path

import pytest

from grader.engine.host import channel
from grader.engine.host.launcher import WorkerProcess
from grader.engine.mistakes.recognise import FailureSignature
from grader.engine.runner.suite import suites_of
from grader.errors import PackError, UsageError
from grader.machine import pace
from tests.conftest import TINY, Run
from tests.running.conftest import Bench, message, statuses

pytestmark = pytest.mark.slow

# --- a pack about something else, from start to pass ---


def test_another_pack_needs_no_change_of_the_engine(
    kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_PACKS", str(TINY))
    assert kata("start", "insertion-sort").code == 0
    file = folder / "1.1-sorting" / "insertion-sort" / "insertion_sort.py"

    stub = kata("check", "insertion-sort", "--json")
    assert (stub.code, stub.json["katas"][0]["status"]) == (1, "not_started")

    solutions = TINY.parent / "solutions" / "1.1-sorting" / "insertion-sort"
    right = (solutions / "insertion_sort.py").read_text()
    file.write_text(right.replace("other <= value", "other >= value"))
    wrong = kata("check", "insertion-sort")
    assert wrong.code == 1
    assert "1/4 points" in wrong.text
    assert "insertion_sort(values=[3, 1, 2])" in wrong.text
    assert "result[0]  got 3  want 1" in wrong.text
    assert "kata hint insertion-sort" in wrong.text

    for answer in (solutions / "insertion_sort.py", solutions / "alternatives" / "swaps.py"):
        shutil.copy(answer, file)
        right = kata("check", "insertion-sort").done()
        assert "4/4 points" in right.text


# --- what becomes of a check ---


def test_points_aspects_titles_and_order(bench: Bench) -> None:
    bench.checks("""
        @check(aspect="shape", points=0.5)
        def test_first(submission):
            "first claim"
            assert submission.thing(1) == 1

        @check(aspect="values", points=2)
        def test_second(submission):
            "second claim"
            expect(submission.thing(2), "result").is_value(3)

        @check(aspect="values", points=0)
        def test_third(submission):
            "third claim"
            submission.thing(3)
    """)
    report = bench.check("def thing(x):\n    return x\n")
    assert [(c.name, c.id, c.aspect, c.status, c.points, c.max_points) for c in report.checks] == [
        ("first claim", "test_first", "shape", "pass", 0.5, 0.5),
        ("second claim", "test_second", "values", "fail", 0.0, 2.0),
        ("third claim", "test_third", "values", "pass", 0.0, 0.0),
    ]
    assert (report.status, report.score, report.max_score) == ("fail", 0.5, 2.5)
    assert (report.kata, report.number, report.learner, report.device) == ("thing", "1.1.1", None, "cpu")
    assert set(report.versions) == {"kata", "torch", "python"}
    assert report.isolation in ("full", "confined", "process")
    assert report.duration_s > 0


def test_a_check_that_needs_another_is_skipped_and_says_so(bench: Bench) -> None:
    bench.checks("""
        @check(aspect="shape")
        def test_base(submission):
            "it answers"
            expect(submission.thing(1), "result").is_value(1)

        @check(aspect="values", needs=test_base)
        def test_next(submission):
            "it answers well"
            submission.thing(2)

        @check(aspect="values", needs=test_next)
        def test_last(submission):
            "and better still"
            submission.thing(3)
    """)
    report = bench.returns("0")
    assert statuses(report) == {"base": "fail", "next": "skipped", "last": "skipped"}
    assert "it answers" in message(report, "next")
    assert "it answers well" in message(report, "last")
    assert (report.score, report.max_score) == (0, 3)  # the submission is the reason, so the points stay
    assert statuses(bench.returns("1")) == {"base": "pass", "next": "pass", "last": "pass"}


def test_the_machine_as_reason_takes_the_points_out(bench: Bench) -> None:
    bench.checks("""
        @check(aspect="mode", points=4)
        def test_future(submission):
            "it runs on a machine of the future"
            pytest.skip("there is no such machine here")

        @check(aspect="values")
        def test_base(submission):
            "it answers"
            submission.thing(1)
    """)
    report = bench.returns("0")
    assert statuses(report) == {"future": "skipped", "base": "pass"}
    assert "no such machine" in message(report, "future")
    assert (report.status, report.score, report.max_score) == ("pass", 1, 1)


ENOUGH_S = 2.0
"""For one check beside one that never ends: more than a busy machine needs to begin a worker again."""

ENDS = """
    @check(aspect="errors")
    def test_raises(submission):
        "it raises"
        submission.raises(1)

    @check(aspect="errors")
    def test_leaves(submission):
        "it leaves"
        submission.thing(torch.ones(2, 3))
        submission.leaves(7)

    @check(aspect="errors")
    def test_loops(submission):
        "it loops"
        submission.loops()

    @check(aspect="errors")
    def test_lacks(submission):
        "it lacks something"
        submission.lacking(1)

    @check(aspect="values")
    def test_unreturnable(submission):
        "it returns the unreturnable"
        submission.huge()

    @check(aspect="values")
    def test_used(submission):
        "it is used wrongly"
        submission.thing(1) + "text"

    @check(aspect="values")
    def test_fine(submission):
        "it is fine"
        assert submission.thing(5) == 5
"""
ENDING = """
    import os
    import torch

    def thing(x):
        return x

    def raises(x):
        print("about to raise")
        raise KeyError("the key")

    def leaves(code):
        print("about to leave", flush=True)
        os._exit(code)

    def loops():
        while True:
            pass

    def huge():
        return torch.zeros(1).expand(10**9)
"""


def test_every_end_of_a_check_and_what_it_says(bench: Bench) -> None:
    bench.checks(ENDS)
    report = bench.check(ENDING, timeout_s=ENOUGH_S)
    assert statuses(report) == {
        "raises": "error",
        "leaves": "error",
        "loops": "timeout",
        "lacks": "fail",
        "unreturnable": "fail",
        "used": "fail",
        "fine": "pass",
    }
    raises = message(report, "raises")
    assert "raises(1)" in raises
    assert "thing.py, line 10 in raises" in raises
    assert "raise KeyError" in raises
    leaves = message(report, "leaves")
    assert "leaves(7)" in leaves  # the call that killed it, not the one before
    assert "exit code 7" in leaves
    assert "loops()" in message(report, "loops")
    assert f"{ENOUGH_S:g} s" in message(report, "loops")
    assert "thing.py has no `lacking`" in message(report, "lacks")
    assert "1000000000" in message(report, "unreturnable")
    assert "TypeError" in message(report, "used")
    assert report.status == "timeout"


CAUSES = """
    from grader.checks import Part, expect, expect_unchanged

    @check(aspect="arguments")
    def test_called(submission):
        "it is called by name"
        submission.thing(values=1)

    @check(aspect="arguments")
    def test_argument(submission):
        "it leaves its argument alone"
        submission.filled(torch.ones(3))
        expect_unchanged(submission)

    @check(aspect="dtype")
    def test_rounded(submission, draw):
        "it computes in float64"
        x = draw.normal(n=5).double() / 3
        expect(submission.rounded(x)).close_to(x)

    @check(aspect="values")
    def test_memory(submission, draw):
        "it remembers nothing"
        x, y = draw.normal(n=5), draw.normal(n=5)
        Part("kept").expect(submission, lambda x, y: x - y, draw, [{"x": x, "y": y}])

    @check(aspect="arguments")
    def test_layout(submission, draw):
        "it takes any layout"
        Part("viewed").expect(submission, lambda x: x.flatten(), draw, [{"x": draw.normal(row=2, column=3)}])

    @check(aspect="values")
    def test_other(submission, draw):
        "it is something else"
        x = draw.normal(n=5)
        expect(submission.thing(x)).close_to(x + 1)
"""
CAUSED = """
    FIRST = {}

    def thing(x):
        return x

    def filled(x):
        return x.fill_(2)

    def rounded(x):
        return x.float().double()

    def kept(x, y):
        return x - FIRST.setdefault("y", y)

    def viewed(x):
        return x.view(-1)
"""


def test_what_most_likely_caused_a_failure_is_said(bench: Bench) -> None:
    bench.checks(CAUSES)
    likely = {check.id: check.likely for check in bench.check(CAUSED).checks}
    assert likely.pop("test_other") is None
    words = {"called": "stub", "argument": "in place", "rounded": "float32", "memory": "earlier call"}
    words["layout"] = "contiguous"  # raised by torch, which says "view size is not compatible"
    assert [name for name, word in words.items() if word not in str(likely[f"test_{name}"])] == []


RELATIONS = """
    from grader.checks import expect, supposing

    ASKED = []

    def slips(submission, x, y):
        ASKED.append(x)
        return {
            "your thing adds 2": lambda: x + 2,
            "your thing adds 3 or 4": lambda: [x + 3, x + 4],
            "your thing is constant": lambda: (submission.thing(x) == submission.thing(x + 1)).all(),
            "your thing gives nothing": lambda: y is None,
            "your thing gives 5": lambda: torch.full_like(x, 5),
            "your thing gives a whole number": lambda: y[0] == 5,
            "your thing has another axis": lambda: y[0, 0] > 0,
        }

    @check(aspect="values")
    def test_sum(submission, draw):
        "it adds 1"
        x = draw.normal(n=5)
        with supposing("your thing fails for ones"):
            y = submission.thing(x)
            with supposing(slips(submission, x, y)):
                expect(y).close_to(x + 1)
"""


@pytest.mark.parametrize(
    ("thing", "likely"),
    [
        ("x + 1", None),
        ("x + 2", "your thing adds 2"),
        ("x + 4", "your thing adds 3 or 4"),
        # The relation that would hold asks for what it does not have.
        ("x.round()", "your thing fails for ones"),
        ("None", "your thing gives nothing"),
        ("x * 0 + 1", "your thing is constant"),
        ("x * 0 + 2.5", "your thing is constant"),
        ("x * 0 + 5", "your thing fails for ones"),  # three hold: nothing tells which it is
        ("{}[0]", "your thing fails for ones"),  # an exception
    ],
)
def test_a_relation_says_the_cause_in_any_design(bench: Bench, thing: str, likely: str | None) -> None:
    bench.checks(RELATIONS)
    report = bench.returns(thing)
    assert report.checks[0].likely == likely
    # What a relation asks for is not what the message is about.
    assert likely is None or "thing(x)" in (report.checks[0].message or "")


VISIBLE = """
    from grader.checks import Part

    PART = Part("Scale", {"width": 3}, ["output"], ["batch width"], [torch.float64])

    def right(state, x):
        return x * state["weight"]

    @check(aspect="values")
    def test_right(submission, draw):
        "it is what it should be"
        PART.expect(submission, right, draw, [{"x": draw.normal(batch=2, width=3)}])

    @check(aspect="values")
    def test_new(submission, draw):
        "it is what a new one is"
        PART.expect(submission, None, draw, [{"x": draw.normal(batch=2, width=3)}])
"""
SCALE = """
    import torch

    class Scale(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(width))

        def forward(self, x):
            return x * self.weight
"""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("x * self.weight", {}),
        ("(x.float() * self.weight.float()).to(x.dtype)", {"right": "float64", "new": "float64"}),
        (
            "x * self.__dict__.setdefault('kept', self.weight + 0 * x)",
            {"right": "row 1 alone", "new": "row 1 alone"},
        ),
        ("x * 0 if len(x) == 1 else x * self.weight", {"right": "row 1 alone", "new": "row 1 alone"}),
        ("x.mul_(self.weight)", {"right": "changed", "new": "changed"}),
        ("0 * x", {"right": "first difference", "new": "every value is 0"}),
        ("2 * x * self.weight", {"right": "first difference"}),
        ("x * self.weight.detach()", {"right": "no gradient"}),
        ("x * self.__dict__.setdefault('kept', x)", {"right": "first difference", "new": "second call"}),
        (
            "x * (self.__dict__.setdefault('kept', self.weight.data.clone()) + self.weight - self.weight.data)",
            {"right": "after other parameters are loaded", "new": "after other parameters are loaded"},
        ),
    ],
)
def test_a_contract_needs_no_reference(bench: Bench, change: str, words: dict[str, str]) -> None:
    bench.checks(VISIBLE)
    report = bench.check(SCALE.replace("x * self.weight\n", change + "\n"))
    failed = {
        check.id.removeprefix("test_"): str(check.message)
        for check in report.checks
        if check.status == "fail"
    }
    assert failed.keys() == words.keys()
    assert [name for name, word in words.items() if word not in failed[name]] == []


def test_a_contract_may_take_several_calls(bench: Bench) -> None:
    bench.asks("""
        from grader.checks import Part
        part = Part("Scale", {"width": 3}, used=lambda scale, x: scale(scale(x=x)))
        call = {"x": draw.normal(batch=2, width=3)}
        part.expect(submission, lambda state, x: x * state["weight"] ** 2, draw, [call])
    """)
    assert bench.check(SCALE).status == "pass"
    assert "gradient" in bench.said(SCALE.replace("x * self.weight\n", "x.detach() * self.weight\n"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("x * self.weight", None),
        ("x.detach() * self.weight", None),  # gradients are for others
        ("x + self.weight", "first difference  output"),
        ("(x * self.weight).float()", "wrong dtype  output in float64"),
        ("x * self.weight if len(x) > 1 else x", "first difference  output"),
    ],
)
def test_values_may_be_asked_for_alone(bench: Bench, change: str, words: str | None) -> None:
    bench.asks("""
        from grader.checks import Part
        part = Part("Scale", {"width": 3}, ["output"], ["batch width"], [torch.float64])
        calls = [{"x": draw.normal(batch=batch, width=3)} for batch in (2, 1)]
        part.expect_values(submission, lambda state, x: x * state["weight"], draw, calls)
    """)
    (check,) = bench.check(SCALE.replace("x * self.weight\n", change + "\n")).checks
    assert (check.message is None) if words is None else (words in str(check.message)), check.message


def test_a_default_is_what_the_stub_says(bench: Bench) -> None:
    bench.asks("""
        from grader.checks import Part
        part = Part("Scale", {"width": 3, "by": 2}, defaults=["by"])
        part.expect(submission, None, draw, [{"x": draw.normal(batch=2, width=3)}])
    """)
    right = SCALE.replace("self, width", "self, width, by=2").replace(
        "self.weight\n", "self.weight * self.by\n"
    )
    right = right.replace("__init__()", "__init__(); self.by = by")
    assert bench.check(right).status == "pass"
    assert "made by position" in bench.said(right.replace("by=2", "by=3"))


def test_a_design_of_the_learners_own_keeps_its_buffers(bench: Bench) -> None:
    bench.asks("""
        from grader.checks import Part
        Part("thing", {"size": 3}).expect(submission, None, draw, [{"x": draw.normal(row=2, size=3)}])
    """)
    answer = """
        import torch
        class thing(torch.nn.Module):
            def __init__(self, size):
                super().__init__()
                self.weight = self.bias = torch.nn.Parameter(torch.ones(size))
                self.register_buffer("random", torch.randn(size))
            def forward(self, x):
                return (x + self.random) * self.weight + self.bias
    """
    assert bench.check(answer).status == "pass"
    (check,) = bench.check(answer.replace("return (x", "self.eval(); return (x")).checks
    assert "module.training after a call in train mode" in check.message
    assert ".eval()" in (check.likely or "")


def test_the_parts_of_a_contract_may_be_shared_by_its_instances(bench: Bench) -> None:
    bench.asks("""
        from torch.nn.functional import linear
        from grader.checks import Part
        part = Part("Double", {"inner": submission.Inner(3, 3)}, dtypes=[torch.float64, torch.bfloat16])
        right = lambda state, x: 2 * linear(x, state["inner.weight"], state["inner.bias"])
        part.expect(submission, right, draw, [{"x": draw.normal(row=rows, size=3)} for rows in (2, 1)])
    """)
    answer = """
        import torch
        Inner = torch.nn.Linear
        class Double(torch.nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner
            def forward(self, x):
                return 2 * self.inner(x)
    """
    (check,) = bench.check(answer).checks
    assert check.status == "pass", check.message


def test_prints_belong_to_the_check_that_made_them(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask_and_wait(process: WorkerProcess) -> None:
        ask(process)
        select.select([process.output], [], [])

    ask = WorkerProcess.ask_where
    monkeypatch.setattr(WorkerProcess, "ask_where", ask_and_wait)
    monkeypatch.setattr(channel, "TRACE_S", 0.0)  # a busy machine: where it was comes, and too late
    bench.checks(ENDS)
    report = bench.check("print('at import')\n" + textwrap.dedent(ENDING), timeout_s=ENOUGH_S)
    assert report.output == "at import\n"
    outputs = {check.id: check.output for check in report.checks if check.output}
    assert outputs == {"test_raises": "about to raise\n", "test_leaves": "about to leave\n"}


def test_a_hostile_print_is_kept_as_text(bench: Bench) -> None:
    bench.asks("submission.thing(1)")
    report = bench.check("def thing(x):\n    print('\\x1b[2J' + 'x' * 10**6)\n    return x\n")
    assert len(report.checks[0].output or "") < 20_000


# --- what becomes of the kata ---


TWO = """
    @check(aspect="values")
    def test_one(submission):
        "the first works"
        assert submission.one(1) == 1

    @check(aspect="values")
    def test_two(submission):
        "the second works"
        assert submission.Two(1).value == 1
"""
STUB = """
    def one(x):
        raise NotImplementedError

    class Two:
        def __init__(self, x):
            raise NotImplementedError("Two")
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (STUB, "not_started"),
        (STUB.replace("raise NotImplementedError\n\n", "return x\n\n"), "in_progress"),
        (STUB.replace("raise NotImplementedError\n\n", "return 0\n\n"), "fail"),
        (STUB.replace("def one", "def other"), "fail"),
        ("pass", "fail"),
        (
            "def one(x):\n    return x\nclass Two:\n    def __init__(self, x):\n        self.value = x\n",
            "pass",
        ),
        ("import os\ndef one(x):\n    os._exit(1)\nTwo = one\n", "error"),
        ("import os\ndef one(x):\n    os._exit(1)\ndef Two(x):\n    raise NotImplementedError\n", "fail"),
        ("def one(x):\n    while True: pass\ndef Two(x):\n    raise NotImplementedError\n", "timeout"),
        ("while True: pass", "timeout"),
        ("import os\nos._exit(0)", "error"),
        ("import nowhere", "error"),
        ("import torch\ndef one(x):\n    torch.nn.Module().forward(x)\nTwo = one\n", "fail"),
        ("", "error"),
    ],
)
def test_the_status_of_a_kata(bench: Bench, answer: str, status: str) -> None:
    bench.kata_toml(required='["one", "Two"]')
    bench.checks(TWO)
    (bench.folder / "thing.py").write_text(textwrap.dedent(STUB))
    report = bench.check(answer, timeout_s=0.4 if status == "timeout" else None)
    assert (report.status, report.max_score) == (status, 2)
    assert len(report.checks) == 2
    if report.status in ("error", "timeout") and not report.score:
        assert report.message or report.checks[0].message


def test_a_missing_file_is_missing(bench: Bench) -> None:
    bench.checks(TWO)
    kata = bench.kata
    with suites_of([kata]) as suites:
        report = suites["thing"].check(bench.answer, None)  # type: ignore[arg-type]
    assert (report.status, report.score, report.max_score) == ("missing", 0, 2)
    assert {check.status for check in report.checks} == {"skipped"}


# --- how a run is asked for ---

DRAWS = """
    @check(aspect="values")
    def test_draws(submission, draw, seed):
        "it is never called with the same"
        submission.thing(draw.normal(batch=2))
        fail(f"{draw.integers(0, 10**9, n=1).item()} {seed}")

    @check(aspect="values")
    def test_other(submission, draw):
        "nor is this"
        fail(str(draw.integers(0, 10**9, n=1).item()))

    @check(aspect="values")
    def test_worker(submission):
        "the worker draws too"
        fail(str(submission.roll()))
"""
ROLLS = "import torch\ndef thing(x):\n    return x\ndef roll():\n    return int(torch.randint(10**9, ()))\n"


def test_a_seed_decides_every_draw_and_is_reported(bench: Bench) -> None:
    bench.checks(DRAWS)
    runs = [bench.check(ROLLS, seed=seed) for seed in (0, 0, 7)]
    words = [[check.message for check in report.checks] for report in runs]
    assert words[0] == words[1]
    assert all(one != other for one, other in zip(words[0], words[2], strict=True))
    assert [report.seed for report in runs] == [0, 0, 7]
    assert (words[2][0] or "").endswith(" 7")


def test_one_check_alone_draws_what_it_draws_among_others(bench: Bench) -> None:
    bench.checks(DRAWS)
    everything, alone = bench.check(ROLLS), bench.check(ROLLS, keyword="other or worker")
    assert [check.id for check in alone.checks] == ["test_other", "test_worker"]
    assert message(alone, "other") == message(everything, "other")
    assert message(alone, "worker") == message(everything, "worker")
    assert alone.max_score == 2


def test_what_a_check_draws_from_the_global_generators_hangs_on_the_seed_too(bench: Bench) -> None:
    bench.asks("""
        import random
        fail(f"{torch.randn(1).item()} {random.random()} {submission.thing(1)}")
    """)
    answer = "import torch\ndef thing(x): return float(torch.randn(1))"
    first, again, other = (message(bench.check(answer, seed=seed), "it") for seed in (5, 5, 6))
    assert first == again != other


@pytest.mark.parametrize("keyword", ["test_other", "nor", "NOR", "other and not draws"])
def test_a_keyword_finds_names_and_titles(bench: Bench, keyword: str) -> None:
    bench.checks(DRAWS)
    assert [check.id for check in bench.check(ROLLS, keyword=keyword).checks] == ["test_other"]


def test_the_first_failure_may_be_the_last(bench: Bench) -> None:
    bench.checks(DRAWS)
    report = bench.check(ROLLS, fail_fast=True)
    assert statuses(report) == {"draws": "fail"}
    assert (report.status, report.max_score) == ("fail", 3)


def test_hidden_checks_are_flagged_and_have_the_reference(bench: Bench) -> None:
    bench.asks("submission.thing(1)")
    (bench.solutions / "thing.py").write_text("def thing(x):\n    return x * 3\n")
    bench.hidden("""
        @check(aspect="values", points=2)
        def test_ours(submission, reference):
            "it agrees with ours"
            expect(submission.thing(2), "result").is_value(reference.thing(2))
    """)
    wrong = bench.returns("x", hidden=True)
    assert [(check.id, check.hidden, check.status) for check in wrong.checks] == [
        ("test_it", False, "pass"),
        ("test_ours", True, "fail"),
    ]
    assert (wrong.score, wrong.max_score) == (1, 3)
    assert bench.returns("x * 3", hidden=True).status == "pass"
    assert [check.id for check in bench.returns("x").checks] == ["test_it"]


def test_the_reference_is_no_secret_that_a_worker_could_find(bench: Bench) -> None:
    bench.asks("fail(str(submission.thing(1)))")
    (bench.solutions / "thing.py").write_text("ONLY_HERE = 'the answer is 42'\ndef thing(x):\n    return x\n")
    bench.hidden(
        "@check(aspect='values')\ndef test_h(submission, reference):\n    'hidden'\n    reference.thing(1)\n"
    )
    report = bench.check(
        """
        import gc, sys
        def thing(x):
            found = [o for o in gc.get_objects() if isinstance(o, dict) and "ONLY_HERE" in o and o is not globals()]
            return len(found), sorted(name for name in sys.modules if "checks" in name)
        """,
        hidden=True,
    )
    assert message(report, "it").splitlines()[-1] == "(0, [])"


# --- broken packs ---


def values(body: str = "pass", takes: str = "submission", more: str = "") -> str:
    return f"@check(aspect='values'{more})\ndef test_it({takes}):\n    'claim'\n    {body}\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def test_it(submission:\n    pass\n", "SyntaxError"),
        ("import no_such_module\n", "no_such_module"),
        ("raise RuntimeError('broken pack')\n", "broken pack"),
        ("def test_it(submission):\n    pass\n", "test_it has no @check"),
        ("@check(aspect='magic')\ndef test_it(submission):\n    'claim'\n    pass\n", "magic"),
        ("@check(aspect='values')\ndef test_it(submission):\n    ''\n    pass\n", "title"),
        (values("1 / 0"), "ZeroDivisionError"),
        (values(takes="no_such_fixture"), "no_such_fixture"),
        (values("submission.thing(object())"), "object"),
        (values("submission.thing(1)\n    draw.sizes(9, 1, 2)", "submission, draw"), "sizes"),
        (values(more=", needs=['test_typo']"), "test_typo"),
        (values(takes="submission, reference"), "reference"),
        ("pass\n", "no check"),
    ],
)
def test_a_broken_check_names_its_file(bench: Bench, source: str, words: str) -> None:
    bench.checks(source)
    with pytest.raises(PackError, match=words) as caught:
        bench.returns("x")
    assert "checks.py" in caught.value.message
    assert caught.value.exit_code == 3


def test_a_keyword_that_is_none_is_said(bench: Bench) -> None:
    bench.checks(TWO)
    with pytest.raises(UsageError, match=r"expression|collect"):
        bench.check("pass", keyword="and and")


# --- who is to blame ---


def test_a_value_where_a_function_was_asked_for_is_the_submissions_fault(bench: Bench) -> None:
    bench.asks("submission.thing(1)")
    report = bench.check("thing = [1, 2]\n")
    assert report.checks[0].status == "fail"
    assert "'list' object is not callable" in (report.checks[0].message or "")


def test_a_check_that_the_reference_passes_is_not_broken(bench: Bench) -> None:
    """Else an answer made for it could have its own report refused."""
    (bench.solutions / "thing.py").write_text("def thing(x):\n    return x\n")
    bench.asks("""
        from grader.errors import PackError
        if submission.thing(1) != 1:
            raise PackError("odd")
    """)
    report = bench.returns("x + 1")
    assert report.checks[0].status == "fail"
    assert "could not use what your code returned" in (report.checks[0].message or "")


def test_a_wrong_value_says_that_the_call_wrote_into_its_argument(bench: Bench) -> None:
    # The value is what the check sees; that x is another one since is why.
    bench.asks("""
        x = draw.normal(n=20)
        expect(submission.thing(x), "thing").close_to(2 * x.clone())
    """)
    told = "changed  x, which it was given"
    assert told in bench.said("def thing(x):\n    x += 1\n    return 3 * x\n")
    assert told not in (bench.returns("3 * x").checks[0].message or "")


# --- a title accuses nobody of what was not seen ---


PRESUPPOSED = """
    from grader.engine.checks import expect_unchanged, only_if, precondition

    @check(aspect="arguments")
    def test_unchanged(submission, draw):
        "x is left as it was"
        with precondition("thing has to return a tensor of 3"):
            expect(submission.thing(draw.normal(n=3)), "thing").is_tensor(shape=(3,))
        expect_unchanged(submission)

    @check(aspect="stability")
    def test_large(submission, draw):
        "large numbers work"
        def compare(scale):
            x = draw.normal(n=3, scale=scale)
            expect(submission.thing(x), "thing").close_to(2 * x)

        with only_if("ordinary numbers have to work", lambda: compare(1.0)):
            compare(1e30)
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("answer", "unchanged", "large"),
    [
        ("return 2 * x", ("pass", None), ("pass", None)),
        (
            "raise IndexError('out of range')",
            ("skipped", "skipped: first thing has to return a tensor of 3; then this can be checked\n"
             "  IndexError: out of range"),
            ("error", None),
        ),
        (
            "return x[:2]",
            ("skipped", "skipped: first thing has to return a tensor of 3; then this can be checked\n"
             "  wrong shape  thing  got [2]  want [3]"),
            ("skipped", None),
        ),
        ("return x.mul_(2)", ("fail", None), ("pass", None)),
        ("return (x * 1e10) * 2e-10", ("pass", None), ("fail", None)),
        ("return 3 * x", ("pass", None), ("skipped", None)),
        ("raise NotImplementedError", ("todo", None), ("todo", None)),
    ],
)  # fmt: skip
def test_what_a_check_rests_on_is_not_held_against_its_title(
    bench: Bench, answer: str, unchanged: tuple[str, str | None], large: tuple[str, str | None]
) -> None:
    bench.checks(PRESUPPOSED)
    report = bench.check(f"def thing(x):\n    {answer}\n")
    for check, (status, begins) in zip(report.checks, (unchanged, large), strict=True):
        assert check.status == status, check
        assert check.points == (1.0 if status == "pass" else 0.0)
        assert begins is None or (check.message or "").startswith(begins)
    passed = all(check.status == "pass" for check in report.checks)
    assert (report.status == "pass") is passed


def test_what_is_no_tensor_is_told_with_the_call_that_gave_it(bench: Bench) -> None:
    bench.asks("""
        first = submission.thing(draw.normal(time=3), which="first")
        submission.thing(draw.normal(time=5), which="second")
        expect(first, "thing").is_tensor(shape=(3,))
    """)
    said = bench.said("def thing(x, which):\n    return x if which == 'second' else None\n")
    assert "which='first'" in said
    assert "which='second'" not in said


MACHINE = """
import torch


class Machine:
    def __init__(self, width):
        self.width = width

    def turn(self, numbers, speed):
        return numbers

    def go(self):
        return 0


def joined(*masks):
    raise NotImplementedError


def spoilt(mask):
    raise NotImplementedError
"""


@pytest.fixture
def machine(bench: Bench) -> Bench:
    (bench.folder / "thing.py").write_text(MACHINE)
    (bench.folder / "probes.py").write_text("def look(machine):\n    return 0\n")
    bench.kata_toml('support = ["probes.py"]\n', required='["Machine"]')
    return bench


@pytest.mark.parametrize(
    ("call", "called"),
    [
        ("Machine(7).turn(draw.normal(time=3), 2)",
         "Machine(7).turn(numbers, speed=2)   numbers float32 [time 3]\n"),
        ("Machine([('ab', b'c'), {'k': 1.5}, *range(30)]).turn([1, 'x'], speed=2)",
         "Machine(width=[('ab', b'c'), {'k': 1.5}, 0, … 29 more]).turn(numbers=[1, 'x'], speed=2)\n"),
    ],
)  # fmt: skip
def test_a_method_is_called_as_the_stub_calls_it_and_what_it_was_made_with_is_shown(
    machine: Bench, call: str, called: str
) -> None:
    machine.asks(f"expect(submission.{call}, 'turned').is_value(0)")
    assert machine.said(MACHINE).startswith(f"called  {called}")


def test_what_is_given_is_told_only_where_nothing_of_the_learners_was_called(machine: Bench) -> None:
    machine.checks("""
        from grader.engine.checks import given_module

        @check(aspect="values", on_workers_word="it is about messages")
        def test_goes(submission):
            "it goes"
            made = submission.Machine(7)
            made.go()
            expect(given_module(submission, "probes").look(made) == 1, "looks right").is_value(True)

        @check(aspect="values", on_workers_word="it is about messages")
        def test_looks(submission):
            "it looks"
            expect(given_module(submission, "probes").look(1) == 1, "looks right").is_value(True)
    """)
    report = machine.check(MACHINE)
    assert message(report, "goes").startswith("called  Machine(7).go()\n")
    assert message(report, "looks").startswith("called  look(1)\n")


@pytest.mark.nightly
@pytest.mark.parametrize("answer", ["return masks", "return masks + 1"])
def test_a_star_that_is_missing_is_said_whatever_came_of_it(machine: Bench, answer: str) -> None:
    machine.checks("""
        @check(aspect="values")
        def test_one(submission, draw):
            "one"
            expect(submission.joined(draw.normal(time=3)), "joined").is_tensor(shape=(2, 3))

        @check(aspect="values")
        def test_two(submission, draw):
            "two"
            submission.joined(draw.normal(time=3), draw.normal(time=3))
    """)
    said = "it is to be joined(*masks), for any number of them; yours is joined(masks), without the *"
    report = machine.check(
        MACHINE.replace("*masks):\n    raise NotImplementedError", f"masks):\n    {answer}")
    )
    assert "is missing" not in message(report, "one")
    for name in ("one", "two"):
        assert message(report, name).endswith(said)
    starred = machine.check(
        MACHINE.replace("*masks):\n    raise NotImplementedError", "*all):\n    return all[0]")
    )
    assert "axis 0 is missing" in message(starred, "one")


def test_an_argument_that_was_changed_has_its_name(machine: Bench) -> None:
    machine.asks("""
        from grader.engine.checks import expect_unchanged
        submission.spoilt(draw.normal(time=3))
        expect_unchanged(submission)
    """)
    said = machine.said(
        MACHINE.replace("(mask):\n    raise NotImplementedError", "(mask):\n    mask.add_(1)")
    )
    assert "changed what it was given: mask\n" in said


def test_a_check_that_goes_back_itself_says_as_others_do_that_there_is_no_way(machine: Bench) -> None:
    machine.asks("""
        x = draw.normal(time=3, requires_grad=True)
        submission.Machine(7).turn(x, 2).sum().backward()
    """)
    said = machine.said(MACHINE.replace("return numbers", "return numbers.detach()"))
    assert "no gradient  the result  is cut off from its inputs: backward finds no way in" in said
    assert "could not use" not in said


def test_only_what_is_trained_has_all_the_time_that_a_kata_grants(bench: Bench) -> None:
    bench.kata_toml("[limits]\ncheck_timeout_s = 90.0\n")
    bench.checks("""
        @check(aspect="values")
        def test_quick(submission):
            "quick"
            expect(submission.thing(1), "thing").is_scalar(int)

        @check(aspect="values", trained=True)
        def test_learning(submission):
            "learning"
            expect(submission.thing(1), "thing").is_scalar(int)
    """)
    announced: list[tuple[str, float]] = []
    granted: list[float] = []
    watch = {"watch": lambda title, limit: announced.append((title, limit)), "tell": granted.append}
    assert bench.returns("1", **watch).status == "pass"
    assert announced == [("quick", 12 * pace()), ("learning", 90 * pace())]
    # The clock that a check starts says the same.
    assert any(11 < seconds / pace() <= 12 for seconds in granted)
    announced.clear()
    assert bench.returns("1", timeout_s=40.0, **watch).status == "pass"  # whoever types --timeout has chosen
    assert announced == [("quick", 40), ("learning", 40)]


# --- what says which mistake it was ---

GRADIENT = "expect_gradients(y, {'x': x}, draw, oracle=lambda x: 2 * x)"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("code", "then", "by_numbers"),
    [
        ("x * 3", "pass", True),
        ("x * 2 + x - x.detach()", GRADIENT, True),
        ("(x * 2).detach()", GRADIENT, False),
        ("(x * 2).detach()", "y.sum().backward()", False),
        ("x * 2", "expect(y, 'y').is_tensor(dtype=torch.float64)", True),
        ("x * 2", "submission.thing(None)", False),
    ],
)
def test_a_check_that_fails_beside_right_numbers_is_told_from_one_that_fails_by_them(
    bench: Bench, code: str, then: str, by_numbers: bool
) -> None:
    bench.asks(f"""
        from grader.engine.checks import expect_gradients
        x = torch.ones(3, requires_grad=True)
        y = submission.thing(x)
        expect(y, "y").equals(torch.full((3,), 2.0))
        {then}
    """)
    bench.answer.write_text(f"def thing(x):\n    return {code}\n")
    left: dict[str, FailureSignature | None] = {}
    with suites_of([bench.kata]) as suites:
        suites["thing"].check(bench.answer, bench._launcher, left_behind=left)
    found = left["test_it"]
    assert found is not None
    assert found.by_numbers is by_numbers
