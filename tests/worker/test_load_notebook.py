"""Of a notebook only imports, definitions and simple assignments count."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader import notebooks
from grader.engine.checks.raised import describe_raised
from grader.engine.host.errors import SubmissionMissing, SubmissionRaised, WorkerTimeout
from grader.notebooks import UnreadableNotebook, parse_cell, parse_module, read_notebook

DEFINES = "def f(x):\n    return x + 1\n"


def notebook(*cells: str) -> str:
    made = [nbformat.v4.new_markdown_cell("# Notes with ``code``"), *map(nbformat.v4.new_code_cell, cells)]
    return str(nbformat.writes(nbformat.v4.new_notebook(cells=made)))


@pytest.fixture
def load(examine: Any) -> Any:
    def load(*cells: str, **terms: Any) -> Any:
        return examine(notebook(*cells), name="answer.ipynb", **{"required": ("f",), **terms}).submission

    return load


@pytest.mark.sampled(33)
@pytest.mark.slow
@pytest.mark.parametrize(
    "scratch",
    [
        "%matplotlib inline\n%load_ext autoreload",
        "!pip install torch",
        "!ls\n!cd /tmp && ls",
        "files = !ls -l",
        "a, b = !echo 1 2",
        "timing = %timeit -o f(1)",
        "%%time\nf(1)\nno python at all",
        "TABLE = [f(1)]\nTABLE[0] = undefined\nTABLE.append(1)",
        "%%bash\nfor x in *; do echo $x; done",
        "\n\n%%html\n<b>bold</b>",
        "f?",
        "f??",
        "?f",
        "torch.nn.Linear?",
        "raise RuntimeError('scratch')",
        "undefined_name",
        "from google.colab import drive\ndrive.mount('/content/drive')",
        "from IPython.display import display\ndisplay(1)",
        "import google.colab",
        "1 / 0",
        "x = 1 / 0",
        "assert f(1) == 3",
        "while True:\n    f(1)",
        "for i in range(10**12):\n    f(i)",
        "with open('/etc/passwd') as file:\n    print(file.read())",
        "if True:\n    raise ValueError",
        "result = f(undefined)",
        "values = [f(i) for i in range(10**12)]",
        "print(f(1)); f(2)",
        "this is not python",
        "x = (1,\n",
        "del f",
        "await f(1)",
        "x: int = undefined",
        "import os\nos.environ['X']",
        "try:\n    f()\nexcept TypeError:\n    raise",
    ],
)
@pytest.mark.parametrize("place", ["before", "after"])
def test_scratch_cells_do_not_matter(load: Any, scratch: str, place: str) -> None:
    cells = (scratch, DEFINES) if place == "before" else (DEFINES, scratch)
    assert load(*cells).f(1) == 2


def test_magics_inside_a_defining_cell_are_left_out_and_lines_stay(load: Any) -> None:
    answer = load(
        "%matplotlib inline\nimport torch\n!ls\n\ndef f(x):\n    %time y = 1\n    !echo hi\n    return torch.ones(x)\n"
    )
    assert answer.f(2).tolist() == [1, 1]
    with pytest.raises(SubmissionRaised) as caught:
        answer.f("two")
    assert (caught.value.frames[0].line, caught.value.frames[0].text) == (8, "return torch.ones(x)")


def test_constants_imports_and_later_definitions_count(load: Any) -> None:
    answer = load(
        "import torch\nfrom math import pi as PI\nWIDTH, DEPTH = 3, 4\nSCALE: float = 2.0\nEYE = torch.eye(WIDTH)",
        "class Base:\n    value = 1",
        "class Child(Base):\n    value = WIDTH * 2\n\n@staticmethod\ndef g():\n    return PI",
        "def f(x):\n    return 'first'",
        "def f(x):\n    return 'second'",
    )
    assert answer.f(0) == "second"
    assert answer.EYE.shape == (3, 3)
    assert (answer.DEPTH, answer.SCALE, answer.Child.value) == (4, 2.0, 6)


@pytest.mark.parametrize(
    "magic", ["%%time", "%%timeit -n 3", "%%capture out", "%%prun", "\n%%time\n%%capture"]
)
def test_the_body_of_a_magic_that_runs_it_counts_on_its_own_lines(load: Any, magic: str) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        load(f"{magic}\ndef f(x):\n    return x + None\n").f(1)
    assert caught.value.frames[0].line == magic.count("\n") + 3


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (f"%%writefile answer.py\n{DEFINES}", "cell 2 begins with %%writefile and was left out"),
        ("%%script python\nf = 1", "cell 2 begins with %%script and was left out"),
        ("x = 1\n%time f = len", "cell 2, line 2 is a magic, %time f = len, and was left out"),
        ("%run answer.py", "cell 2, line 1 is a magic, %run answer.py, and was left out"),
    ],
)
def test_a_magic_that_hides_a_name_is_told(load: Any, cell: str, told: str) -> None:
    answer = load("def g(x):\n    return f(x)\n", cell)
    with pytest.raises(SubmissionMissing) as missing:
        _ = answer.f
    with pytest.raises(SubmissionRaised) as caught:
        answer.g(1)
    assert missing.value.hint.startswith(told)
    assert caught.value.hint.startswith(told)


@pytest.mark.parametrize("together", [True, False])
def test_what_is_imported_from_the_future_holds_in_every_cell(load: Any, together: bool) -> None:
    cells = [
        "from __future__ import annotations\n",
        f"class Box:\n    def again(self) -> Box: ...\n{DEFINES}",
    ]
    assert load(*(["".join(cells)] if together else cells)).f(1) == 2


@pytest.mark.parametrize(
    "cell",
    [
        "TABLE = [0] * 9\nTABLE[3] = 2",
        "TABLE = {3: 1}\nTABLE[3] += 1",
        "TABLE = None\nclass A: pass\nA.two = 2\nTABLE = [0, 0, 0, A.two]",
        "def two(): return 2\nTABLE = [0, 0, 0, 1]\nlater = lambda: two()\nTABLE, (x, TABLE[3]) = [0] * 9, (1, 2)",
    ],
)
def test_assignments_to_parts_and_by_operators_count(load: Any, cell: str) -> None:
    assert load(cell, "def f(x):\n    return TABLE[x]\n").f(3) == 2


def test_a_required_name_is_made_by_whatever_makes_it(load: Any) -> None:
    partial = "from functools import partial\ndef own(x, y):\n    return x + y\nf = partial(own, 1)"
    assert load(partial).f(1) == 2
    # Scratch work where it is defined.
    assert load(DEFINES, "def own(g):\n    return None\nf = own(f)").f(1) == 2
    with pytest.raises(SubmissionMissing) as caught:
        _ = load("class A: pass\na = A()\nf = a.f").f
    assert "makes f, and that failed: NameError: cell 1, line 2 makes a" in caught.value.hint


def test_text_that_looks_like_a_magic_is_kept(load: Any) -> None:
    answer = load('def f(x):\n    text = """\n%d items\n!important\n"""\n    return text % x\n')
    assert answer.f(3) == "\n3 items\n!important\n"


def test_magics_and_such_text_in_one_cell(load: Any) -> None:
    answer = load("!echo (\n%cd it's\nx = !ls\n\ndef f(x):\n    return (x\n        % 4)\n")
    assert answer.f(7) == 3


def test_a_magic_whose_end_python_finds_further_down(load: Any) -> None:
    assert load("!echo (\n" + DEFINES + "y = [1]\n").f(1) == 2
    assert load("!echo '''\n" + DEFINES).f(1) == 2


def test_an_operator_at_the_start_of_a_line_is_no_magic(load: Any) -> None:
    answer = load("def f(x):\n    return (7\n        % x\n        != 0)\n")
    assert answer.f(2) is True


def test_a_notebook_may_list_its_lines_and_hold_outputs(examine: Any) -> None:
    document = {
        "nbformat": 4,
        "nbformat_minor": 2,  # which knows no ids
        "cells": [
            {"cell_type": "raw", "id": "same", "source": "def f(x): return 'raw'"},
            {
                "cell_type": "code",
                "id": "same",
                "source": ["def f(x):\n", "    return x\n"],
                "outputs": [{"data": {"image/png": "A" * 4_000_000}}],
            },
            {"cell_type": "code"},
            {"cell_type": "code", "source": 5},
            "no cell",
        ],
    }
    assert examine(json.dumps(document), name="answer.ipynb").submission.f(3) == 3


def test_a_byte_order_mark_is_no_obstacle(examine: Any) -> None:
    assert examine(b"\xef\xbb\xbf" + notebook(DEFINES).encode(), name="answer.ipynb").submission.f(1) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON: line 1"),
        ("{\n 'cells': []}", "not JSON: line 2"),
        ("[]", "no list of cells"),
        ('{"cells": {}}', "no list of cells"),
        ('{"worksheets": []}', "no list of cells"),
        ("3", "no list of cells"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_broken_notebook_says_in_what_way(examine: Any, content: str | bytes, words: str) -> None:
    with pytest.raises(SubmissionRaised, match=words) as caught:
        examine(content, name="answer.ipynb", required=("f",))
    assert caught.value.frames == ()


def test_a_notebook_without_cells_is_one_without_answers(examine: Any) -> None:
    answer = examine('{"cells": []}', name="answer.ipynb", required=("f",)).submission
    assert not hasattr(answer, "f")


def test_a_syntax_error_where_the_answer_should_be_is_told(load: Any) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        load("import torch", "def f(x):\n    return x +* 1\n")
    frame = caught.value.frames[0]
    assert (caught.value.type_name, frame.file, frame.line) == ("SyntaxError", "answer.ipynb, cell 2", 2)
    assert frame.text == "return x +* 1"


def test_a_merge_that_was_not_finished_is_told_within_a_cell(load: Any) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        load("<<<<<<< HEAD\ndef f(x):\n    return x\n")
    assert "an unfinished merge" in describe_raised(caught.value)[-1]


def test_an_error_in_a_definition_is_told_with_its_cell(load: Any) -> None:
    with pytest.raises(SubmissionRaised, match="ZeroDivisionError") as caught:
        load("import math", "class Model:\n    rate = 1 / 0\n\ndef f(x):\n    return x\n")
    assert (caught.value.frames[-1].file, caught.value.frames[-1].line) == ("answer.ipynb, cell 2", 2)
    with pytest.raises(SubmissionRaised, match="ModuleNotFoundError"):
        load("import no_such_module", "def f(x):\n    return no_such_module.g(x)\n")
    with pytest.raises(SubmissionRaised, match="ModuleNotFoundError"):
        load("from no_such_module import *", DEFINES)


def test_a_definition_that_loops_is_a_timeout(load: Any) -> None:
    with pytest.raises(WorkerTimeout):
        load("class A:\n    while True:\n        pass\n", DEFINES, check_timeout_s=0.2)


def test_a_helper_beside_a_notebook_is_found(load: Any, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def g():\n    return 5\n")
    assert load("from helper import g\ndef f(x):\n    return g()\n").f(1) == 5


def test_a_broken_definition_counts_unless_a_later_cell_has_a_good_one(load: Any) -> None:
    broken = "def f(x):\n    return x +* 1\n"
    with pytest.raises(SubmissionRaised, match="SyntaxError") as caught:
        load(DEFINES, broken)
    assert caught.value.frames[0].file == "answer.ipynb, cell 2"
    assert load(broken, DEFINES).f(1) == 2
    assert load(DEFINES, broken.replace("def f", "def other")).f(1) == 2


def raw(*sources: object, **more: object) -> bytes:
    cells = [{"cell_type": "code", "source": source} for source in sources]
    return json.dumps({"cells": cells, **more}).encode()


def test_a_line_is_looked_at_once_for_a_magic() -> None:
    # each of these took as many steps as the square of its length
    for line in (
        " " * 300_000 + "$",
        "a b." * 75_000 + "$",
        "x" * 300_000 + "?" * 9,
        "=" * 9 + " " * 300_000 + "$",
    ):
        cells, broken = read_notebook("n", raw(line, DEFINES))
        assert (len(cells), len(broken)) == (1, 1)


def test_a_cell_of_many_magics_is_parsed_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    parse = ast.parse

    def counted(source: str, *rest: object) -> ast.Module:
        nonlocal read
        read += len(source)
        return parse(source, *rest)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(notebooks.ast, "parse", counted)  # type: ignore[attr-defined]
    cell = "%pip list\n" * 20_000 + DEFINES
    cells, broken = read_notebook("n", raw(cell))
    assert not broken
    assert [type(node) for node in cells[0].tree.body] == [ast.FunctionDef]
    assert read <= notebooks.MAX_REREAD + 3 * len(cell)


def test_what_is_written_as_python_writes_it_is_read(examine: Any) -> None:
    made = raw(DEFINES, metadata={"loss": [float("nan"), float("inf")]})
    assert b"NaN" in made
    assert len(read_notebook("n", made)[0]) == 1


TOO_MUCH = {
    "cells": (raw(*[""] * 10_001), "more than 10,000 cells"),
    "parts": (raw(more=[[float("nan")] * 600_000, [0] * 600_000]), "1,048,576 parts"),
    "code": (raw("#" * 600_000, "#" * 600_000), "more than 1024 KB of code"),
    "digits": (b'{"cells": [], "a": NaN, "b": ' + b"1" * 5000 + b"}", "thousands of digits"),
}


@pytest.mark.parametrize(("content", "words"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much_of_anything_is_no_notebook(content: bytes, words: str) -> None:
    with pytest.raises(UnreadableNotebook) as caught:
        read_notebook("n", content)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "source", ["(" * 5000, "-" * 200_000 + "1", "a" + ".b" * 100_000, "[" * 100 + "]" * 100]
)
def test_code_that_the_parser_gives_up_on_is_a_broken_cell(source: str) -> None:
    cells, broken = read_notebook("n", raw(source, DEFINES))
    assert len(cells) + len(broken) == 2
    assert cells[-1].source == DEFINES


def test_outputs_are_passed_over_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks.json, "loads", lambda _: pytest.fail("all of it was read"))  # type: ignore[attr-defined]
    deep = "[" * 400 + "]" * 400
    assert len(read_notebook("n", raw(DEFINES, outputs=[[0] * 1_200_000, deep]))[0]) == 1


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (
            "if True:\n    def g(x):\n        return x",
            "cell 1, line 2 makes g, inside `if`, where only imports,",
        ),
        ("for g in ():\n    pass", "cell 1, line 1 makes g, inside `for`, where only imports,"),
        ("h = {}\ng = h['key']", "cell 1, line 2 makes g, and that failed: KeyError"),
    ],
)
def test_a_name_that_a_notebook_makes_where_it_does_not_count_is_told(load: Any, cell: str, why: str) -> None:
    answer = load(cell, "def f(x):\n    return g(x)\n")
    with pytest.raises(SubmissionRaised, match="name 'g' is not defined") as caught:
        answer.f(1)
    assert caught.value.hint.startswith(why)
    assert describe_raised(caught.value)[-1].strip().startswith(why)


def test_a_nearly_right_name_is_told(load: Any) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        load("def f(seq_len):\n    return seqlen + 1\n").f(1)
    assert describe_raised(caught.value)[-1] == "  Did you mean: 'seq_len'?"


def test_a_message_is_whole_with_its_remedy_at_the_end(load: Any) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        load("import torch\ndef f(x):\n    return torch.ones(3, 4).t().view(12)\n").f(1)
    assert describe_raised(caught.value)[-1].endswith("Use .reshape(...) instead.")
    assert caught.value.frames[-1].call == "view"


ENDLESS = {
    "an import": "import " + "a." * 300 + "b\n",
    "blanks": "import " + "a . " * 300 + "b\n",
    "lines": "import " + "a.\\\n" * 300 + "b\n",
    "another encoding": b"# coding: utf-7\nimport " + b"a+AC4-" * 300 + b"b\n",
    "the second line": b"\n# -*- coding: utf-7 -*-\nimport " + b"a+AC4-" * 300 + b"b\n",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_name_for_which_the_parser_takes_gigabytes_is_not_parsed(name: str) -> None:
    source = ENDLESS[name]
    with pytest.raises(ValueError, match="a name of hundreds of parts"):
        parse_module(source)
    if isinstance(source, str):
        with pytest.raises(ValueError, match="a name of hundreds of parts"):
            parse_cell("answer.ipynb, cell 1", 1, source)


@pytest.mark.parametrize(
    "source", ["x = a" + ".b" * 150, "x = 1\n" * 100, "x = [1.5, " + "2.5, " * 500 + "]"]
)
def test_other_names_are(source: str) -> None:
    assert isinstance(parse_module(source), ast.Module)


@pytest.mark.parametrize("source", ["x = 1\n" * 50_000, "(" * 300])
def test_a_module_is_parsed_within_bounds(source: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        parse_module(source)
