"""What a source holds that may explain a failure is named with its place, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.engine.host.source import Source
from grader.engine.runner.source_remarks import MOST, SourceRemarks, exported


def of(*cells: str) -> SourceRemarks:
    """Return the remarks on a notebook of these cells."""
    book = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4}
    return SourceRemarks(Source(Path("answer.ipynb"), json.dumps(book).encode()), ["f"])


READS = "def helper():\n    return TABLE\ndef f(x):\n    return helper()[x]\n"


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("TABLE = []\nTABLE.append(1)", 2),
        ("TABLE = {}\nfor i in range(3):\n    TABLE[i] = i", 3),
        ("TABLE = 1\nTABLE += helper()", 2),
        ("class TABLE: pass\nsetattr(TABLE, 'two', 2)", 2),
        ("TABLE = 1\nif True:\n    TABLE = 2", 3),
        ("TABLE = 1\ndel TABLE", 2),
        ("TABLE = 1\nwith open('x') as TABLE:\n    pass", 2),
    ],
)
def test_a_statement_that_was_left_out_is_named_where_its_name_is_read(cell: str, line: int) -> None:
    remarks = of("1", cell, READS, "def g():\n    return 1")
    (told,) = remarks.on("f", "got 1 want 2")
    assert told.startswith(f"cell 2, line {line} changes TABLE and was left out")
    assert remarks.on("g", "got 1 want 2") == []


def test_scratch_work_is_not_named() -> None:
    scratch = "import torch\nTABLE = [1]\nprint(TABLE)\nf(1)\nx = f(1)\nprint(x.sum())\nlen(TABLE)"
    assert of(scratch, READS).on("f", "got 1 want 2") == []


def test_a_function_that_is_defined_twice_is_named_with_its_cells() -> None:
    one = "def f(x):\n    return x\n"
    assert of(one, "1", one).on("f", "") == ["`f` is defined twice: cells 1 and 3; the last counts"]
    assert of(one + one).on("f", "") == [
        "`f` is defined twice: cell 1, line 1 and cell 1, line 3; the last counts"
    ]
    assert "defined 9 times: cells 7, 8 and 9" in of(*[one] * 9).on("f", "")[0]
    module = SourceRemarks(Source(Path("answer.py"), (one + one).encode()), ["f"])
    assert module.on("f", "") == ["`f` is defined twice: line 1 and line 3; the last counts"]


@pytest.mark.parametrize(
    ("setting", "explained", "other"),
    [
        ("torch.set_default_device('cuda')", "Torch not compiled with CUDA enabled", "got 1 want 2"),
        ("torch.set_default_dtype(torch.float64)", "wrong dtype  got float64", "got 1 want 2"),
        ("torch.set_grad_enabled(False)", "element 0 does not require grad", "got 1 want 2"),
        ("torch.set_num_threads(64)", "no answer within 10 s", "got float64"),
    ],
)
def test_a_setting_is_named_in_what_it_explains(setting: str, explained: str, other: str) -> None:
    text = f"import torch\n{setting}\ndef f(x):\n    return x\n"
    remarks = SourceRemarks(Source(Path("answer.py"), text.encode()), ["f"])
    (told,) = remarks.on("f", explained)
    assert told.startswith(f"line 2, {setting}")
    assert remarks.on("f", other) == []
    assert of(text).on("f", explained) == []  # in a notebook it does not count


def test_a_setting_counts_only_where_it_is_made() -> None:
    setup = "import torch\ndef setup():\n    torch.set_default_device('cuda')\n"
    within = "import torch\ndef f(x):\n    with torch.set_grad_enabled(False):\n        return x\n"

    def said(text: str, message: str) -> list[str]:
        return SourceRemarks(Source(Path("answer.py"), text.encode()), ["f"]).on("f", message)

    assert said(f"{setup}def f(x): ...\n", "CUDA") == []
    assert said(f"{setup}setup()\ndef f(x): ...\n", "CUDA")
    assert said(f"{setup}def f(x): setup()\n", "CUDA")
    assert said(within, "no gradient") == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("import helper\n", [2]),
        ("from .helper import value\n", [2]),
        ("from .helper import setup as s\ns()\n", [2, 4]),
        ("from . import helper as h\nh.setup()\n", [2, 4]),
        ("from middle import *\n", [2]),
        ("from middle import through\nthrough()\n", [2, 4]),
        ("def f(x):\n    from helper import setup\n    setup()\n", [2, 4]),
        ("import package.inner\n", [2]),
        ("from package import inner\n", [2]),
        ("from package.inner import value\n", [2]),
        ("def g(x):\n    import helper\n", []),
        ("import torch\n", []),
    ],
)
def test_a_setting_in_a_file_next_to_it_is_named_with_that_file(
    tmp_path: Path, text: str, named: list[int]
) -> None:
    setting = "torch.set_default_dtype(torch.float64)"
    helper = f"import torch, middle\n{setting}\ndef setup():\n    {setting}\nvalue = 1\n"
    (tmp_path / "helper.py").write_text(helper)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "inner.py").write_text("from helper import value\n")
    (tmp_path / "middle.py").write_text("import helper\ndef through():\n    helper.setup()\n")
    remarks = SourceRemarks(Source(tmp_path / "answer.py", text.encode()), ["f"])
    rest = f"{setting}, holds for all that torch does here: leave it out"
    assert remarks.on("f", "got float64") == [f"helper.py, line {line}, {rest}" for line in named]
    assert remarks.on("f", "got 1 want 2") == []


def test_remarks_are_few_and_cost_little() -> None:
    assert len(of("TABLE = []\n" + "TABLE.append(1)\n" * 20, READS).on("f", "")) == MOST
    deep = Source(Path("answer.py"), b"x = " + b"-" * 50_000 + b"1\n")
    assert SourceRemarks(deep, ["f"]).on("f", "CUDA") == []


@pytest.mark.parametrize(
    "line",
    [
        "get_ipython().run_line_magic('x', '')",
        "!pip install x",
        "%cd x",
        "from google.colab import drive",
        "display(1)",
    ],
)
def test_a_notebook_that_was_saved_as_python_is_known(line: str) -> None:
    source = Source(Path("answer.py"), f"import torch\n{line}\n".encode())
    assert f"answer.py was exported from a notebook (line 2: {line})" in exported(source)[0]
    assert exported(Source(Path("answer.py"), b"x = (7\n  % 3)\ndef display(): ...\n")) == []
