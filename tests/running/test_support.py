"""Modules that support checks run next to the submission: what comes out of them earns nothing by itself."""

from __future__ import annotations

import textwrap

import pytest

from grader.errors import PackError
from tests.running.conftest import Bench, statuses

pytestmark = pytest.mark.slow

RIGHT = "def thing(x):\n    return x + 1\n"
PROBES = """
    from torch import nn

    import more
    from given import SIZE

    LIMIT = 3
    SIZES = [more.SEVEN, SIZE]

    class Doubles(nn.Module):
        size = 4

        def forward(self, x):
            return 2 * x

        def __getitem__(self, key):
            return key

    def make():
        return Doubles()

    def several():
        return [Doubles(), None]

    def nothing(x):
        pass

    def right():
        return True

    def refuses():
        raise ValueError("no")
"""


@pytest.fixture
def supported(bench: Bench) -> Bench:
    (bench.folder / "probes.py").write_text(textwrap.dedent(PROBES))
    (bench.folder / "more.py").write_text("SEVEN = 7\n")
    (bench.folder / "given.py").write_text("SIZE = 5\n")
    bench.kata_toml('support = ["probes.py", "more.py"]\ngiven = ["given.py"]\n')
    return bench


def check(bench: Bench, body: str, answer: str = RIGHT, options: str = "") -> dict[str, str]:
    checks = f"""
from grader.engine.checks import expect_raises, given_module

@check(aspect="values"{options})
def test_it(submission, draw):
    "it holds"
    probes, x = given_module(submission, "probes"), draw.normal(time=3)
{textwrap.indent(textwrap.dedent(body), "    ")}
    expect(submission.thing(x), "thing").equals(x + 1)
"""
    bench.checks(checks)
    return statuses(bench.check(answer))


VALUES = [
    ("probes.right()", "probes.right returned a value"),
    ("probes.LIMIT", "probes.LIMIT returned a value"),
    ("probes.Doubles()(x)", "probes.Doubles returned a value"),
    ("probes.make()(x)", "probes.make returned a value"),
    ("probes.make().size", "probes.make.size returned a value"),
    ("probes.make()[2]", "probes.make returned a value"),
    ("probes.make().train().eval()(x)", "probes.make returned a value"),
    ("probes.several()[0](x)", "probes.several returned a value"),
    ("with expect_raises('ValueError', what='no'): probes.refuses()", "probes.refuses raised ValueError"),
    ("given_module(submission, 'given').SIZE", "given.SIZE returned a value"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("use", "told"), VALUES)
def test_a_value_of_a_helper_is_an_error_of_the_pack(supported: Bench, use: str, told: str) -> None:
    with pytest.raises(PackError, match="test_it is broken") as caught:
        check(supported, use)
    assert f"{told}, which the submission can forge" in caught.value.message
    assert "on_workers_word" in caught.value.message


@pytest.mark.sampled(3)
@pytest.mark.parametrize("use", [use for use, _ in VALUES])
def test_a_check_that_declares_it_may_use_them(supported: Bench, use: str) -> None:
    options = ', on_workers_word="it is compared with what is computed here"'
    assert check(supported, use, options=options) == {"it": "pass"}


def test_objects_of_helpers_go_into_the_submission_and_its_values_come_out(supported: Bench) -> None:
    body = """
        made = probes.Doubles()
        made.train()
        assert probes.nothing(made) is None
        expect(submission.thing(made), "thing").equals(torch.full((3,), 2.0))
    """
    answer = "import torch\n\ndef thing(x):\n    return x + 1 if isinstance(x, torch.Tensor) else x(torch.ones(3))\n"
    assert check(supported, body, answer) == {"it": "pass"}


def test_helpers_import_each_other_and_what_is_given(supported: Bench) -> None:
    body = 'expect(probes.SIZES, "sizes").is_value([7, 5])'
    assert check(supported, body, options=', on_workers_word="a constant of the pack"') == {"it": "pass"}


@pytest.mark.parametrize(
    ("how", "line"),
    [("import probes", 1), ("import importlib\nprobes = importlib.import_module('probes')", 2)],
)
def test_a_submission_that_imports_a_helper_finds_it_empty_and_is_told_so(
    supported: Bench, how: str, line: int
) -> None:
    answer = f"{how}\nprobes.right = lambda: False\n\ndef thing(x):\n    raise NotImplementedError\n"
    supported.checks("""
        from grader.engine.checks import given_module

        @check(aspect="values")
        def test_it(submission):
            "it holds"
            submission.thing(0)

        @check(aspect="values", on_workers_word="to see which module it is")
        def test_word(submission):
            "the helper says so"
            expect(given_module(submission, "probes").right(), "it").is_value(False)
    """)
    report = supported.check(answer)
    assert (report.status, report.score) == ("not_started", 0.0)
    assert statuses(report) == {"it": "todo", "word": "fail"}
    told = f"thing.py, line {line}: `probes` belongs to the checks; for a submission it is empty\n"
    assert report.output == told


def test_a_file_of_that_name_next_to_the_submission_is_the_learners(supported: Bench) -> None:
    (supported.answer.parent / "probes.py").write_text("ONE = 1\n")
    assert check(supported, "", "import probes\n\ndef thing(x):\n    return x + probes.ONE\n") == {
        "it": "pass"
    }
    assert not supported.check("import probes\n\ndef thing(x):\n    return x + probes.ONE\n").output


def test_no_table_of_modules_lists_a_helper(supported: Bench) -> None:
    answer = """
        import sys

        def thing(x):
            for module in [*sys.modules.values()]:
                if callable(vars(module).get("refuses")):
                    return module.refuses()
            return x + 1
    """
    assert check(supported, "probes.nothing(x)", answer) == {"it": "pass"}
