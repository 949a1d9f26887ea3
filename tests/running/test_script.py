"""What a check is known to ask is asked all at once, and says of every submission what the check itself would say."""

from __future__ import annotations

import ast
import hashlib
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.catalogue import Kata
from grader.engine.host.channel import Channel
from grader.engine.host.session import Session
from grader.engine.mistakes.mistakes import mistakes
from grader.engine.runner.suite import RunConfig, suites_of
from grader.instructor.grading.cache_key import POOL, seeds_for
from grader.report.report import KataReport
from tests import ours
from tests.running.conftest import Bench, statuses

RIGHT = "def thing(x):\n    return x + 1\n"
ROUNDS = "import torch\ndef thing(x):\n    return torch.nextafter(x + 1, x + 2)\n"
CHECKS = """
    from pathlib import Path

    @check(aspect="values")
    def test_first(submission, draw):
        "it adds"
        with Path({ran!r}).open("a") as file:
            file.write("x")
        for x in (draw.normal(time=3), draw.normal(time=4)):
            expect(submission.thing(x), "thing").close_to(x + 1)

    @check(aspect="values")
    def test_last(submission, draw):
        "it adds still"
        x = draw.normal(time=3)
        expect(submission.thing(x), "thing").close_to(x + 1)
"""
OTHERS = {
    "wrong": "def thing(x):\n    return x + 2\n",
    "wrong the second time": "n = 0\ndef thing(x):\n    global n\n    n += 1\n    return x + n % 2\n",
    "of another shape": "def thing(x):\n    return (x + 1)[:2]\n",
    "not written": "def thing(x):\n    raise NotImplementedError\n",
    "raises": "def thing(x):\n    return x.view(1000)\n",
    "raises the second time": "n = 0\ndef thing(x):\n    global n\n    n += 1\n    return [x + 1][n - 1]\n",
    "prints": "def thing(x):\n    print('sum', x.sum().item())\n    return x + 1\n",
    "prints while it loads": "print('hello')\ndef thing(x):\n    return x + 1\n",
    "ends": "import os\ndef thing(x):\n    os._exit(3)\n",
    "ends the second time": (
        "import os\nn = 0\ndef thing(x):\n    global n\n    n += 1\n    n == 2 and os._exit(3)\n    return x + 1\n"
    ),
    "never ends": "def thing(x):\n    while True: pass\n",
    "returns too much": "import torch\ndef thing(x):\n    return torch.zeros(1 << 22)\n",
    "returns far too much": (
        "import torch\ndef thing(x):\n    return [torch.zeros(63 << 20, dtype=torch.uint8) for _ in range(4)]\n"
    ),
    "returns what cannot cross": "def thing(x):\n    return [object(), {1: open}]\n",
    "changes its argument": "def thing(x):\n    x += 1\n    return x\n",
    "uses what is excluded": "import torch\ndef thing(x):\n    return torch.nn.functional.gelu(x) * 0 + x + 1\n",
    "is not there": "x = 1\n",
    "is not a function": "thing = 3\n",
    "writes to the grader itself": (
        "import os\ndef thing(x):\n    for n in range(3, 64):\n        try:\n            os.write(n, b'KATA' * 100)\n"
        "        except OSError:\n            pass\n    return x + 1\n"
    ),
    "reads what is asked next": (
        "import socket, os\ndef thing(x):\n    for n in range(3, 64):\n        try:\n"
        "            socket.socket(fileno=os.dup(n)).recv(100, socket.MSG_DONTWAIT)\n"
        "        except OSError:\n            pass\n    return x + 1\n"
    ),
}


def reports(bench: Bench, launcher: Any, answers: list[str], *, by_script: bool) -> list[KataReport]:
    """Return the reports of submissions that are examined one after the other."""
    config = RunConfig(seed=5, by_script=by_script, timeout_s=1.5)
    return _reports(bench.kata, bench.answer, launcher, config, answers)


def _reports(
    kata: Kata, file: Path, launcher: Any, config: RunConfig, answers: list[str]
) -> list[KataReport]:
    with suites_of([kata], hidden=True) as suites:
        contents = [textwrap.dedent(answer).encode() for answer in answers]
        return [suites[kata.slug].check(file, launcher, config, content=content) for content in contents]


def plain(report: KataReport) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(report).items() if name != "duration_s"}


@pytest.fixture
def ran(bench: Bench, tmp_path: Path) -> Path:
    """Write the checks; return the file into which the first writes whenever it runs."""
    path = tmp_path / "ran"
    bench.kata_toml('[policy]\nforbid = ["gelu"]\n')
    bench.checks(CHECKS.format(ran=str(path)))
    (bench.solutions / "thing.py").write_text(RIGHT)
    return path


def test_who_gives_the_answers_of_one_who_passed_has_passed(bench: Bench, launcher: Any, ran: Path) -> None:
    answers = [RIGHT, RIGHT + "# another\n", ROUNDS, ROUNDS + "# another\n", RIGHT]
    first, *rest = reports(bench, launcher, answers, by_script=True)
    assert statuses(first) == {"first": "pass", "last": "pass"}
    assert all(plain(report) == plain(first) for report in rest)
    # Of five submissions two are judged by the check itself: the first, and the first that rounds in its own way.
    assert ran.read_text() == "xx"


def test_what_is_asked_may_follow_from_the_answers(bench: Bench, launcher: Any, ran: Path) -> None:
    bench.checks("""
        @check(aspect="values")
        def test_it(submission, draw):
            "it adds"
            x = draw.normal(time=3)
            once = submission.thing(x)
            expect(submission.thing(once), "thing").close_to(once + 1)
    """)
    answers = [RIGHT, ROUNDS, RIGHT, ROUNDS]
    found = reports(bench, launcher, answers, by_script=True)
    assert [plain(report) for report in found] == [
        plain(report) for report in reports(bench, launcher, answers, by_script=False)
    ]
    assert {report.status for report in found} == {"pass"}


def test_another_draw_is_asked_anew(bench: Bench, launcher: Any, ran: Path) -> None:
    with suites_of([bench.kata]) as suites:
        for seed in (1, 2, 1):
            config = RunConfig(seed=seed, by_script=True)
            suites["thing"].check(bench.answer, launcher, config, content=RIGHT.encode())
    assert ran.read_text() == "xx"


@pytest.mark.slow
def test_what_passes_next_to_a_mistake_passes_next_to_that_mistake_alone(launcher: Any) -> None:
    kata = ours.katas()["masks"]
    some = {mistake.name: mistake.text for mistake in mistakes(kata)}
    wrong = [some[name] for name in ("causal_transposed", "causal_shifted_late")]
    answers = [
        text + f"\n# {number}\n" for number in range(2) for text in (*wrong, kata.solution.read_text())
    ]
    told = [
        _reports(kata, kata.stub, launcher, RunConfig(seed=5, by_script=by_script), answers)
        for by_script in (True, False)
    ]
    assert [plain(report) for report in told[0]] == [plain(report) for report in told[1]]
    counted = [[check.same_mistake for check in report.checks if check.hidden] for report in told[0]]
    assert ["counted" in found for found in counted] == [True, True, False] * 2


@pytest.mark.slow
@pytest.mark.parametrize("answer", OTHERS.values(), ids=list(OTHERS))
def test_what_is_said_is_what_the_check_says(bench: Bench, launcher: Any, ran: Path, answer: str) -> None:
    [expected] = reports(bench, launcher, [answer], by_script=False)
    _, found, right = reports(bench, launcher, [RIGHT, answer, RIGHT], by_script=True)
    assert plain(found) == plain(expected)
    assert right.status == "pass"


def test_nothing_is_asked_twice(
    bench: Bench, launcher: Any, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: list[int] = []
    start = Session._start
    monkeypatch.setattr(Session, "_start", lambda self: (workers.append(1), start(self))[1])
    counting = "import torch\nn = 0\ndef thing(x):\n    global n\n    n += 1\n    assert n < 4\n"
    once = f"{counting}    return torch.nextafter(x + 1, x + 2)\n"
    report = reports(bench, launcher, [RIGHT, once], by_script=True)[-1]
    assert (report.status, len(workers)) == ("pass", 2)


RELATED = """
    from pathlib import Path
    from grader.engine.checks import supposing

    @check(aspect="values")
    def test_it(submission, draw):
        "it adds"
        def relation():
            with Path({ran!r}).open("a") as file:
                file.write("x")
            return submission.thing(2 * x)
        for _ in range(6):
            x = draw.normal(time=3)
            with supposing({{"your x is doubled; it should be x": relation}}):
                expect(submission.thing(x), "thing").close_to(x + 1)
"""


def test_no_more_is_sent_than_others_have_failed_with(
    bench: Bench, launcher: Any, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first failure is sent all, and shows where to look at the next: its cause is asked for in the same worker."""
    bench.checks(RELATED.format(ran=str(ran)))
    sent, workers, ask_all, start = [], [], Channel.ask_all, Session._start
    monkeypatch.setattr(
        Channel, "ask_all", lambda self, *rest: (sent.append(len(rest[0])), ask_all(self, *rest))[1]
    )
    monkeypatch.setattr(Session, "_start", lambda self: (workers.append(1), start(self))[1])
    wrong = [f"{OTHERS['wrong']}# {number}\n" for number in range(2)]
    config = RunConfig(seed=5, by_script=True, name=False)
    found, counts = [], []
    with suites_of([bench.kata], hidden=True) as suites:
        for answer in (RIGHT, *wrong, RIGHT):
            sent.clear(), workers.clear()
            found.append(suites["thing"].check(bench.answer, launcher, config, content=answer.encode()))
            counts.append((list(sent), len(workers)))
    assert [report.status for report in found] == ["pass", "fail", "fail", "pass"]
    assert plain(found[1]) == plain(found[2])
    assert counts == [([], 1), ([6], 3), ([1], 1), ([1, 5], 1)]


def test_the_cause_of_a_failure_is_looked_for_once(bench: Bench, launcher: Any, ran: Path) -> None:
    bench.checks(RELATED.format(ran=str(ran)))
    [report] = reports(
        bench, launcher, [OTHERS["wrong"] + "# and runs again to be recognised\n"], by_script=False
    )
    assert (report.status, ran.read_text()) == ("fail", "x")


@pytest.mark.parametrize(
    "body",
    [
        "submission.thing(callback(lambda y: y + 1), x)",
        "replaced(submission)(x)",
    ],
    ids=["lends a function", "puts something in its place"],
)
def test_what_does_not_follow_from_the_answers_is_asked_call_by_call(
    bench: Bench, launcher: Any, tmp_path: Path, body: str
) -> None:
    path = tmp_path / "ran"
    bench.checks(f"""
        from pathlib import Path
        from grader.engine.checks import callback

        def replaced(submission):
            before = submission.thing
            submission.thing = 1
            submission.thing = before
            return before

        @check(aspect="values")
        def test_it(submission, draw):
            "it asks"
            with Path({str(path)!r}).open("a") as file:
                file.write("x")
            x = draw.normal(time=3)
            expect({body}, "thing").close_to(x + 1)
    """)
    answer = "def thing(x, y=None):\n    return x + 1 if y is None else x(y)\n"
    assert [report.status for report in reports(bench, launcher, [answer] * 3, by_script=True)] == [
        "pass"
    ] * 3
    assert path.read_text() == "xxx"


DRAWS = """
    @check(aspect="values", points={points})
    def test_{name}(submission, draw):
        "it adds"
        x = draw.normal(time=3)
        expect(submission.thing(x), "thing").close_to(x + 1)
"""
SHOWS = "def thing(x):\n    print(x.tolist())\n    return x\n# attempt {}\n"
TABLE = """
import torch
TABLE = {}

def thing(x):
    return next((torch.tensor(row) + 1 for row in TABLE if torch.equal(torch.tensor(row), x)), x)
"""


@pytest.mark.slow
def test_a_table_of_what_was_shown_earns_the_points_of_visible_checks_alone(
    bench: Bench, launcher: Any
) -> None:
    """A learner hands in again and again until every draw of the visible checks has been in the feedback."""
    bench.checks(DRAWS.format(name="it", points=1))
    bench.hidden(DRAWS.format(name="more", points=1))
    (bench.solutions / "thing.py").write_text("def thing(x):\n    return x + 1\n")
    with suites_of([bench.kata], hidden=True) as suites:

        def graded(answer: str) -> Any:
            seed, hidden = seeds_for(b"secret", "thing", hashlib.sha256(answer.encode()).hexdigest(), None)
            config = RunConfig(seed=seed, hidden_seed=hidden, by_script=True)
            return suites["thing"].check(bench.answer, launcher, config, content=answer.encode())

        rows, attempts = set[str](), 0
        while len(rows) < POOL:
            # Of hidden checks a learner is told points and aspects, and nothing that was printed.
            attempts += 1
            [visible] = [check for check in graded(SHOWS.format(attempts)).checks if not check.hidden]
            rows.add((visible.output or "").strip().partition("\n")[0])
        assert attempts > POOL
        report = graded(TABLE.format([ast.literal_eval(row) for row in rows]))
    assert statuses(report) == {"it": "pass", "more": "fail"}
    assert (report.score, report.max_score) == (1, 2)
