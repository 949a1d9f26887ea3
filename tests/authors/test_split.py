"""A kata that is written once: what is made of it, what never reaches learners, and packs of other fields."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from grader.author.build import build
from grader.author.new import new_kata
from grader.author.split import split_checks, split_pack, split_source
from grader.catalogue import load_pack
from grader.errors import PackError
from tests.conftest import Run

SOURCE = '''"""Two functions."""

# BEGIN SOLUTION
SECRET = 3
# END SOLUTION


def double(x):
    """Return twice x."""
    y = x
    # BEGIN SOLUTION
    return y + y
    # END SOLUTION


class Counter:
    """Count."""

    def count(self, x):
        """Return x and one."""
        # BEGIN SOLUTION
        return self._more(x)

    def _more(self, x):
        return x + 1
        # END SOLUTION
'''
CHECKS = """from grader.checks import check

SHARED, OPEN = 1, 2
TRICK = 7


def right(x):
    return x + SHARED


def tricky(x):
    return right(x) + TRICK


@check(aspect="values", points=2)
def test_shown(submission):
    "it is shown"
    right(OPEN)


# The trick is a seven.
@check(aspect="values", hidden=True)
def test_kept(submission, reference):
    "it is not"
    tricky(1)
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_stub_raises_where_a_solution_was_and_has_nothing_of_it(tmp_path: Path) -> None:
    stub, reference = split_source(written(tmp_path / "source.py", SOURCE))
    assert not re.search(r"SECRET|y \+ y|_more|SOLUTION", stub)
    assert '    y = x\n    raise NotImplementedError("double")\n' in stub
    assert '        """Return x and one."""\n        raise NotImplementedError("count")\n' in stub
    assert reference == re.sub(r" *# (BEGIN|END) SOLUTION\n", "", SOURCE)


def test_hidden_checks_take_their_helpers_and_comments_with_them(tmp_path: Path) -> None:
    visible, hidden = split_checks(written(tmp_path / "checks.py", CHECKS))
    assert not re.search(r"(?i)test_kept|tricky|trick|seven", visible)
    assert "def test_shown" in visible
    assert "def right" in visible
    assert "test_shown" not in hidden
    assert all(name in hidden for name in ("def right", "def tricky", "TRICK = 7", "SHARED", "import check"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f():\n    return 1\n", "marks no solution"),
        ("def f():\n    # BEGIN SOLUTION\n    return 1\n", "line 2: # BEGIN SOLUTION without"),
        ("def f():\n    # END SOLUTION\n    return 1\n", "line 2: this marker"),
        ("def f(:\n", "line 1: not valid Python"),
    ],
)
def test_a_source_that_cannot_be_split_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(PackError, match=words):
        split_source(written(tmp_path / "source.py", text))


@pytest.mark.parametrize(
    "text",
    [
        'if True:\n    @check(aspect="values", hidden=True)\n    def test_it(submission): "it"\n',
        'class TestIt:\n    @check(aspect="values", hidden=1)\n    def test_it(self, submission): "it"\n',
    ],
)
def test_a_hidden_check_that_would_be_left_where_learners_see_it_is_refused(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(PackError, match="at the top level"):
        split_checks(written(tmp_path / "checks.py", text))


def test_a_check_names_one_of_the_other_file_in_quotes(tmp_path: Path) -> None:
    text = CHECKS.replace("hidden=True", "hidden=True, follows=test_shown")
    with pytest.raises(PackError, match="names test_shown, which will be in another file"):
        split_checks(written(tmp_path / "checks.py", text))
    visible, hidden = split_checks(
        written(tmp_path / "checks.py", text.replace("=test_shown", "='test_shown'"))
    )
    assert "def test_shown" in visible
    assert "follows='test_shown'" in hidden


@pytest.fixture
def course(tmp_path: Path) -> Path:
    new_kata(tmp_path / "course" / "katas", "1.1.1", "average", "vectors")
    return tmp_path / "course"


def test_learners_get_neither_source_nor_hidden_checks(course: Path, tmp_path: Path) -> None:
    pack = load_pack(course / "katas")
    built = build(pack, tmp_path / "dist", "learner").path
    with zipfile.ZipFile(built) as wheel:
        text = b"".join(wheel.read(name) for name in wheel.namelist()).decode()
        assert not [name for name in wheel.namelist() if "source" in name or "hidden" in name]
    assert not re.search(r"SOLUTION|x\.shape\[-1\]|test_other_sizes|reference\b", text)


def test_a_hidden_check_among_the_visible_is_refused(course: Path, tmp_path: Path) -> None:
    solution, kata = (course / folder / "1.1-vectors" / "average" for folder in ("solutions", "katas"))
    (kata / "checks.py").write_text("\n" + (solution / "checks.py").read_text())
    with pytest.raises(PackError, match="holds a hidden check"):
        build(load_pack(course / "katas"), tmp_path / "dist", "learner")


def test_points_are_one_for_each_check_unless_said(course: Path) -> None:
    checks = course / "solutions" / "1.1-vectors" / "average" / "checks.py"
    checks.write_text(checks.read_text().replace("hidden=True", "hidden=True, points=3"))
    split_pack(course / "katas")
    [kata] = load_pack(course / "katas").katas
    assert (kata.points, kata.hidden_points) == (1, 3)


def test_hidden_checks_that_are_gone_leave_no_file(course: Path) -> None:
    solution = course / "solutions" / "1.1-vectors" / "average"
    checks = solution / "checks.py"
    checks.write_text(checks.read_text().replace(", hidden=True", ""))
    split_pack(course / "katas")
    assert not (solution / "hidden_checks.py").exists()


SORTING = (
    '''def merge(left: list[int], right: list[int]) -> list[int]:
    """Return the numbers of two sorted lists, sorted."""
    # BEGIN SOLUTION
    return sorted([*left, *right])
    # END SOLUTION
''',
    """from grader.checks import Part, check


def right(left, right):
    return sorted(left + right)


@check(aspect="values")
def test_contract(submission, draw):
    "two lists become one"
    lists = [sorted(draw.integers(0, 99, number=size).tolist()) for size in (5, 70, 1)]
    calls = [{"left": a, "right": b} for a, b in zip(lists, [*lists[1:], []], strict=True)]
    Part("merge").expect(submission, right, draw, [*calls, {"left": [], "right": []}])
""",
    '''def merge(one, other):
    """Cannot be called by name."""
    return sorted(one + other)
''',
)
COUNTING = (
    '''import numpy as np


def count(values: list[int], bins: int) -> list[int]:
    """Return how often each of the numbers below `bins` occurs."""
    # BEGIN SOLUTION
    return np.bincount(values, minlength=bins)[:bins].tolist()
    # END SOLUTION
''',
    """from grader.checks import Part, check


def right(values, bins):
    return [values.count(one) for one in range(bins)]


@check(aspect="values")
def test_contract(submission, draw):
    "each number is counted"
    calls = [{"values": draw.integers(0, 9, n=size).tolist(), "bins": 6} for size in (5, 70, 1)]
    Part("count").expect(submission, right, draw, calls)
""",
    '''import numpy as np

def count(values, bins):
    """Is as long as what occurs."""
    return np.bincount(values).tolist()
''',
)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "texts"), [("merge", SORTING), ("count", COUNTING)])
def test_a_kata_of_another_field_gets_the_same_battery(
    tmp_path: Path, kata_process: Run, name: str, texts: tuple[str, str, str]
) -> None:
    course, mine = tmp_path / "course", tmp_path / "mine"
    mine.mkdir()
    new_kata(course / "katas", "1.1.1", name, "lists")
    solution = course / "solutions" / "1.1-lists" / name
    source, checks, wrong = texts
    (solution / "source.py").write_text(source)
    (solution / "checks.py").write_text(checks)
    environment = {"KATA_PACKS": str(course / "katas")}
    kata_process("pack", "check", name, cwd=mine, env=environment).done()
    table = kata_process("pack", "contracts", name, cwd=mine, env=environment)
    assert re.search(rf"^{name} +.*yes", table.out, re.M), table.text
    answer = mine / f"{name}.py"
    answer.write_text(wrong)
    assert kata_process("check", str(answer), cwd=mine, env=environment).code == 1
    answer.write_text(source)
    assert kata_process("check", str(answer), cwd=mine, env=environment).code == 0
