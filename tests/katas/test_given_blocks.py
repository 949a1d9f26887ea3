"""A given block that is handed in earns nothing and is named; no honest answer is taken for one."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import Kata
from grader.catalogue.given import given_files
from grader.engine.host.limits import Terms
from grader.engine.host.source import Source
from grader.engine.mistakes.mistakes import mistakes, slow_answers
from grader.engine.runner.given_blocks import MAX_CODE, BlockUse, find_block_use, unrecognised
from grader.engine.runner.kata_terms import terms_for
from tests import answers, ours
from tests.conftest import evenly

BLOCKS = next((ours.ROOT / "katas").glob("*/blocks.py")).read_text(encoding="utf-8")
SHOWN = [
    "self-attention",
    "positional-encoding",
    "masks",
    "masked-attention",
    "layer-norm",
    "feed-forward",
    "encoder-layer",
]


def kata_of(slug: str) -> Kata:
    return ours.katas()[slug]  # of this tree: what is installed may have no solutions


def terms_without_policy(kata: Kata) -> Terms:
    """Return a kata's terms where "from scratch" refuses nothing, so that the blocks are all that is looked at."""
    return replace(terms_for(kata), forbid=())


def found(slug: str, text: str, folder: Path, name: str | None = None) -> BlockUse | None:
    """Return where this source uses a given block."""
    kata = kata_of(slug)
    return find_block_use(
        Source(folder / (name or f"{kata.module}.py"), text.encode()), kata, terms_without_policy(kata)
    )


def piece(*names: str) -> str:
    """Return the head of the blocks and the definitions of these names."""
    tree = ast.parse(BLOCKS)
    head = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    parts = [node for node in tree.body if getattr(node, "name", None) in names]
    return ast.unparse(ast.Module([*head, *parts], []))


# --- the whole file, and what may be changed about it ---


class _Renamed(ast.NodeTransformer):
    """Gives every argument, every variable and what hangs on `self` another name."""

    def __init__(self) -> None:
        self.own: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        parts = list(ast.walk(node))
        self.own = {part.arg for part in parts if isinstance(part, ast.arg)}
        self.own |= {
            part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        self.generic_visit(node)
        self.own = set()
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(f"my_{node.arg}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(f"my_{node.id}", node.ctx) if node.id in self.own else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        mine = isinstance(node.value, ast.Name) and node.value.id == "self"
        self.generic_visit(node)
        return ast.Attribute(node.value, f"my_{node.attr}", node.ctx) if mine else node


def reordered(text: str) -> str:
    tree = ast.parse(text)
    head = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    parts = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in classes:
        node.body.reverse()
    return ast.unparse(ast.Module([*head, *reversed(parts), *reversed(classes)], []))


class _Bare(ast.NodeTransformer):
    """Takes docstrings and annotations away."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return node


class _Chatty(ast.NodeTransformer):
    """Prints in every function, and lets it raise nothing."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        guards = [
            part for part in node.body if isinstance(part, ast.If) and isinstance(part.body[0], ast.Raise)
        ]
        node.body = [*ast.parse("print('here')").body, *(part for part in node.body if part not in guards)]
        return node


class _InTwo(ast.NodeTransformer):
    """Gives every result a name before it is returned."""

    def visit_Return(self, node: ast.Return) -> Any:
        assert node.value is not None
        return [ast.Assign([ast.Name("result", ast.Store())], node.value), ast.Return(ast.Name("result"))]


class _Dead(ast.NodeTransformer):
    """Begins every function with a statement that does nothing."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [*ast.parse("unused = 1").body, *node.body]
        return node


def transformed(by: ast.NodeTransformer) -> Callable[[str], str]:
    return lambda text: ast.unparse(ast.fix_missing_locations(by.visit(ast.parse(text))))


CHANGES: dict[str, Callable[[str], str]] = {
    "whole": lambda text: text,
    "reformatted": lambda text: ast.unparse(ast.parse(text)),
    "without comments, docstrings and annotations": transformed(_Bare()),
    "other comments": lambda text: re.sub(r"(?m)^( +)(return )", r"\1# mine, all mine\n\1\2", text),
    "renamed": transformed(_Renamed()),
    "reordered": reordered,
    "imports under other names": lambda text: text.replace(
        "import torch\n", "import torch\nimport torch as T\nfrom torch import ops as low\n"
    ).replace("aten = torch.ops.aten", "aten = low.aten"),
    "operators in full": lambda text: re.sub(r"(?<!\.)\baten\.", "torch.ops.aten.", text),
    "prints, and raises nothing": transformed(_Chatty()),
    "results named first": transformed(_InTwo()),
    "a dead line in every function": transformed(_Dead()),
    "windows lines": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.sampled(27)
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("slug", SHOWN)
def test_blocks_as_an_answer_are_named_whatever_is_changed_about_them(
    slug: str, change: str, tmp_path: Path
) -> None:
    use = found(slug, CHANGES[change](BLOCKS), tmp_path)
    assert use is not None
    assert "a given block is not an answer" in use.message()


@pytest.mark.slow
@pytest.mark.parametrize("slug", SHOWN)
def test_every_block_can_be_recognised(slug: str) -> None:
    assert unrecognised(kata_of(slug)) == []


def test_a_notebook_is_read_too(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": text} for text in BLOCKS.split("\n\n\n")]
    use = found("masks", json.dumps({"cells": cells}), tmp_path, "masks.ipynb")
    assert use is not None
    assert "masks.ipynb, cell " in use.message()


SPELLINGS = {
    "aten = torch.ops.aten": "aten.layer_norm",
    "from torch.ops import aten as low": "low.layer_norm",
    "from torch import ops": "ops.aten.layer_norm",
    "import torch as t\nlow = t.ops": "low.aten.layer_norm",
    "low = getattr(torch.ops, 'at' + 'en')": "low.layer_norm",
    "low = getattr(torch, 'ops')": "low.aten.layer_norm",
    "exec('import torch\\nnorm = torch.ops.aten.layer_norm')": "norm",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_spelling_is_known_however_it_is_reached(spelling: str, tmp_path: Path) -> None:
    text = (
        f"import torch\n{spelling}\ndef LayerNorm(d):\n    return lambda x: {SPELLINGS[spelling]}(x, [d])\n"
    )
    assert found("layer-norm", text, tmp_path) is not None
    own = "import torch\ndef LayerNorm(d):\n    return lambda x: x - x.mean(-1)\n"
    test = f"def test():\n    assert {SPELLINGS[spelling]}(torch.ones(3), [3]) is LayerNorm(3)\n"
    if "exec" not in spelling:
        # A test of one's own is free.
        assert found("layer-norm", f"{own}{spelling}\n{test}", tmp_path) is None


# --- a file of blocks beside the answer ---

LAYER_NORM = piece("LayerNorm").replace("class LayerNorm", "class Norm")
BESIDE = {
    "from blocks import LayerNorm": True,
    "from blocks import *": True,
    "from blocks import *\nfrom math import *": True,
    "from .blocks import LayerNorm as LayerNorm": True,
    "from . import blocks\nLayerNorm = blocks.LayerNorm": True,
    "import blocks as given\nLayerNorm = given.LayerNorm": True,
    "import blocks\nLayerNorm = getattr(blocks, 'Layer' + 'Norm')": True,
    "import blocks\nclass LayerNorm(blocks.LayerNorm):\n    pass": True,
    "def LayerNorm(*a):\n    from blocks import LayerNorm\n    return LayerNorm(*a)": True,
    "exec(open('blocks.py').read())": True,
    "import importlib\nLayerNorm = importlib.import_module('blocks').LayerNorm": True,
    "import sys\n__import__('blocks')\nLayerNorm = sys.modules['blocks'].LayerNorm": True,
    "import blocks, inspect\nexec(inspect.getsource(blocks))": True,
    "import runpy\nglobals().update(runpy.run_path('blocks.py'))": True,
    "import importlib.util as u\ns = u.spec_from_file_location('b', 'blocks.py')\nm = u.module_from_spec(s)\n"
    "s.loader.exec_module(m)\nLayerNorm = m.LayerNorm": True,
    "class LayerNorm:\n    pass\nexec(open('blocks.py').read())": True,
    f"exec({piece('LayerNorm')!r})": True,
    "from helper import Norm as LayerNorm": True,
    "from kit.parts import LayerNorm": True,
    # honest:
    "class LayerNorm:\n    'As in blocks.'\n    def forward(self, x):\n        raise ValueError('not blocks')": False,
    "class LayerNorm:\n    pass\nif __name__ == '__main__':\n    from blocks import LayerNorm": False,
    "class LayerNorm:\n    pass\nfrom blocks import LayerNorm as Given\n"
    "def test():\n    assert Given(4).weight is not LayerNorm(4).weight": False,
    "class LayerNorm:\n    pass\nimport blocks\nprint(blocks.LayerNorm(3))": False,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", BESIDE)
def test_a_file_beside_the_answer_is_followed_and_a_self_test_is_not(text: str, tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS)
    (tmp_path / "helper.py").write_text(LAYER_NORM)
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "parts.py").write_text(BLOCKS)
    assert (found("layer-norm", text, tmp_path) is not None) is BESIDE[text]


# --- what is nobody's fault ---


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("kata", ours.katas().values(), ids=lambda kata: kata.slug)
def test_no_honest_answer_is_accused(kata: Kata, tmp_path: Path, everything: bool) -> None:
    """References, alternatives, catalogued mistakes, slow answers, and answers written apart from the project."""
    (tmp_path / "blocks.py").write_text(BLOCKS)
    assert kata.solution is not None
    wrong = mistakes(kata)  # most of each is the reference: a few stand for all
    named = [(path.name, path.read_bytes()) for path in (kata.stub, kata.solution, *kata.alternatives)]
    named += [
        (mistake.name, mistake.source.data)
        for mistake in (*(wrong if everything else evenly(wrong, 8)), *slow_answers(kata))
    ]
    named += [(one.name, one.text.encode()) for one in (*answers.right(kata), *answers.wrong(kata))]
    accused = []
    for name, data in named:
        if use := find_block_use(Source(tmp_path / f"{kata.module}.py", data), kata, terms_for(kata)):
            accused.append(f"{name}: {use.message()}")
    assert accused == []


def test_what_a_kata_is_given_may_be_copied_and_built_on(tmp_path: Path) -> None:
    kata = kata_of("encoder-layer")
    assert kata.solution is not None
    own = kata.solution.read_text().replace(
        "from blocks import FeedForward, LayerNorm, MultiHeadAttention\n", ""
    )
    assert "from blocks" not in own
    future = "from __future__ import annotations\n"
    text = piece("MultiHeadAttention", "LayerNorm", "FeedForward") + "\n" + own.replace(future, "")
    assert found("encoder-layer", text, tmp_path) is None
    assert found("classifier", given_files(kata_of("classifier"))["blocks.py"].decode(), tmp_path) is None


# --- hostile sources ---


def test_more_code_than_is_read_earns_nothing_and_says_so(tmp_path: Path) -> None:
    text = BLOCKS + "x = 1\n" * (MAX_CODE // 5)
    use = found("layer-norm", text, tmp_path)
    assert use is not None
    assert use.message().startswith(
        "layer_norm.py is too long or nested too deep to be compared with what is"
    )


def test_a_deep_expression_hides_nothing(tmp_path: Path) -> None:
    assert found("layer-norm", f"x = torch{'.a' * 1500}\n{BLOCKS}", tmp_path) is not None


SHAPES: dict[str, Callable[[int], str]] = {
    "names bound by one statement": lambda n: ", ".join(f"a{i}" for i in range(n)) + " = LayerNorm = 1",
    "one name bound by all": lambda n: "LayerNorm = LayerNorm\n" * n,
    "a chain": lambda n: "\n".join(f"a{i} = a{i + 1}" for i in range(n)) + "\nLayerNorm = a0",
    "a chain of functions": lambda n: (
        "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(n)) + "LayerNorm = f0"
    ),
    "stars": lambda n: (
        "from blocks import *\n" * n + "LayerNorm = [" + ", ".join(f"u{i}" for i in range(n)) + "]"
    ),
    "texts": lambda n: "LayerNorm = open([" + ", ".join(f"'blocks a{i}'" for i in range(n)) + "])",
    "functions in functions": lambda n: (
        "def LayerNorm():\n"
        + "".join(f"  def f{i}():\n    return lambda x: [x for x in x]\n" for i in range(n))
    ),
    "long functions": lambda n: "def LayerNorm():\n" + "  f(x, y)\n" * n,
    "globals": lambda n: "globals()\n" + "\n".join(f"a{i} = a" for i in range(n)),
}


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_with_the_source_and_no_faster(shape: str, tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS)
    found("layer-norm", "x = 1", tmp_path)  # what is known of the kata is read once

    def steps(size: int) -> int:
        count = 0

        def step(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(step)
        try:
            found("layer-norm", SHAPES[shape](size), tmp_path)
        finally:
            sys.setprofile(None)
        return count

    short, long = steps(100), steps(800)
    assert long < 10 * short + 5_000


@pytest.mark.parametrize(
    "text", ["-" * 50_000 + "1", "(" * 150 + ")" * 150, "x" + ".a" * 50_000, "1" + "+1" * 50_000]
)
def test_what_is_nested_deep_is_no_error(text: str, tmp_path: Path) -> None:
    found("layer-norm", f"LayerNorm = {text}\n", tmp_path)
