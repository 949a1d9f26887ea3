"""The order in which an answer makes layers that are alike is the learner's own: it changes no name and no mark."""

from __future__ import annotations

import ast
from itertools import groupby
from typing import Any

import pytest

from grader.engine.mistakes.mistakes import mistakes
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from tests import ours
from tests.conftest import evenly

pytestmark = pytest.mark.gate
SAMPLE = 3
"""Mistakes of each kata that CI tries."""


class _Backwards(ast.NodeTransformer):
    """Makes layers that follow each other and are of one class in the opposite order."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name == "__init__":
            runs = [list(run) for _, run in groupby(node.body, _made)]
            node.body = [line for run in runs for line in (run[::-1] if _made(run[0]) else run)]
        return node


def _made(line: ast.stmt) -> str:
    """Return the class of what a line makes and stores in an attribute; an empty text for any other line."""
    match line:
        case ast.Assign([ast.Attribute(ast.Name("self"))], ast.Call(function, arguments)):
            if "self." not in "".join(map(ast.unparse, arguments)):
                return ast.unparse(function)
    return ""


def _names(text: str) -> set[str]:
    """Return the names of the layers that an answer makes."""
    lines = (line for line in ast.walk(ast.parse(text)) if isinstance(line, ast.stmt) and _made(line))
    return {ast.unparse(line.targets[0]) for line in lines if isinstance(line, ast.Assign)}


def backwards(text: str) -> str:
    """Return an answer with its layers made in another order."""
    return ast.unparse(_Backwards().visit(ast.parse(text)))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "slug", [slug for slug, kata in ours.katas().items() if "Module" in kata.stub.read_text()]
)
def test_the_order_of_equal_layers_changes_no_name_and_no_mark(
    slug: str, launcher: Any, tmp_path: Any, everything: bool
) -> None:
    kata = ours.katas()[slug]
    assert kata.solution is not None
    reference = kata.solution.read_text()
    # Where a name of the stub is not used at all, that is the mistake, and only the order says which layer is which.
    named = [one for one in mistakes(kata) if _names(one.text) >= _names(one.base)]
    texts = {"reference": reference} | {one.name: one.text for one in named}
    changed = {name: text for name, text in texts.items() if backwards(text) != ast.unparse(ast.parse(text))}

    def judged(suite: Suite, text: str) -> dict[str, tuple[str, float, str | None]]:
        file = tmp_path / f"{kata.module}.py"
        file.write_text(text)
        report = suite.check(file, launcher, RunConfig())
        return {check.id: (check.status, check.points, check.misconception) for check in report.checks}

    with suites_of([kata], hidden=True) as suites:
        suite = suites[slug]
        # How well a model learns, and a log of that, is another one where its weights are drawn in another order.
        learning = {item.name for item in suite.items if suite.info(item).aspect == "learning"}
        suite = suite.exclude(suite.trained() | learning)
        for name in changed if everything else evenly(list(changed), SAMPLE):
            as_made = judged(suite, texts[name])
            assert (name, judged(suite, backwards(texts[name]))) == (name, as_made)
