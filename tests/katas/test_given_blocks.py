"""A given block that is handed in earns next to nothing; what is given may be copied and built on."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import Kata
from grader.catalogue.given import given_files
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from grader.report.report import KataReport
from tests import ours

pytestmark = pytest.mark.slow
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


def graded(slug: str, text: str, folder: Path, launcher: Any, name: str | None = None) -> KataReport:
    """Grade this source."""
    kata = kata_of(slug)
    file = folder / (name or f"{kata.module}.py")
    file.write_text(text)

    def check(suites: dict[str, Suite]) -> KataReport:
        return suites[slug].check(file, launcher, RunConfig(name=False))

    with suites_of([kata]) as suites:
        return check(suites)


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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("slug", SHOWN)
def test_blocks_as_an_answer_earn_next_to_nothing_whatever_is_changed_about_them(
    slug: str, change: str, tmp_path: Path, launcher: Any
) -> None:
    report = graded(slug, CHANGES[change](BLOCKS), tmp_path, launcher)
    assert report.score <= report.max_score / 10, report.checks
    said = " ".join(one.message or "" for one in report.checks)
    # In some the changes break them, too.
    assert "torch.ops is for given blocks" in said or change in ("renamed", "prints, and raises nothing")


def test_a_notebook_is_no_way_either(tmp_path: Path, launcher: Any) -> None:
    cells = [{"cell_type": "code", "source": text} for text in BLOCKS.split("\n\n\n")]
    report = graded("masks", json.dumps({"cells": cells}), tmp_path, launcher, "masks.ipynb")
    assert report.score == 0
    assert "torch.ops is for given blocks" in str(report.checks[0].message)


# --- a file of blocks beside the answer ---

LAYER_NORM = piece("LayerNorm").replace("class LayerNorm", "class Norm")
OWN = kata_of("layer-norm").solution.read_text()  # type: ignore[union-attr]
BESIDE = {
    "from blocks import LayerNorm": True,
    "from blocks import *": True,
    "from . import blocks\nLayerNorm = blocks.LayerNorm": True,
    "import blocks\nclass LayerNorm(blocks.LayerNorm):\n    pass": True,
    "def LayerNorm(*a):\n    from blocks import LayerNorm\n    return LayerNorm(*a)": True,
    "exec(open('blocks.py').read())": True,
    "import blocks, inspect\nexec(inspect.getsource(blocks))": True,
    "import runpy\nglobals().update(runpy.run_path('blocks.py'))": True,
    "import importlib.util as u\ns = u.spec_from_file_location('b', 'blocks.py')\nm = u.module_from_spec(s)\n"
    "s.loader.exec_module(m)\nLayerNorm = m.LayerNorm": True,
    f"exec({piece('LayerNorm')!r})": True,
    "from helper import Norm as LayerNorm": True,
    "from kit.parts import LayerNorm": True,
    # honest:
    OWN + "\nif __name__ == '__main__':\n    from blocks import LayerNorm\n": False,
    OWN
    + "\nfrom blocks import LayerNorm as Given\n"
    + "def test():\n    assert Given(4).weight is not LayerNorm(4).weight\ntest()\n": False,
    OWN + "\nimport blocks\nassert blocks.LayerNorm(3)(torch.ones(2, 3)).shape == (2, 3)\n": False,
    OWN + "\ndef low():\n    return torch.ops.aten\n": False,
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", BESIDE)
def test_what_runs_from_a_file_beside_the_answer_counts_and_a_self_test_does_not(
    text: str, tmp_path: Path, launcher: Any
) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS)
    (tmp_path / "helper.py").write_text(LAYER_NORM)
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "parts.py").write_text(BLOCKS)
    report = graded("layer-norm", text, tmp_path, launcher)
    assert report.score == (0 if BESIDE[text] else report.max_score), report


def test_what_a_kata_is_given_may_be_copied_and_built_on(tmp_path: Path, launcher: Any) -> None:
    kata = kata_of("encoder-layer")
    assert kata.solution is not None
    own = kata.solution.read_text().replace(
        "from blocks import FeedForward, LayerNorm, MultiHeadAttention\n", ""
    )
    assert "from blocks" not in own
    given = given_files(kata)["blocks.py"].decode()
    report = graded(
        "encoder-layer", given + own.replace("from __future__ import annotations\n", ""), tmp_path, launcher
    )
    assert report.score == report.max_score, report.checks
