"""What a kata excludes, by the names that torch has for it, and what of a submission may lead around that."""

from __future__ import annotations

import ast
import contextlib
import functools
import warnings
from collections.abc import Collection, Iterable, Mapping

from grader.catalogue.torch_names import excluded, torch_names
from grader.engine.host.source import MAX_CODE, UNPARSED, Source, body_of
from grader.engine.wire.messages import TakenAway
from grader.engine.wire.uses import CLOSED, names
from grader.notebooks import placed

LEAST = 600
"""How long the syntax of a function has to be for two that are equal to be one copied: some five lines."""


@functools.cache
def excluded_names(forbid: tuple[str, ...]) -> TakenAway:
    """Return torch's operators and Python functions that compute what a kata excludes, and a pattern of such names."""
    if not forbid:
        return TakenAway()
    operators = excluded(forbid, operators=True).of(
        names()[0]
    )  # in whatever namespace: `aten::gelu` by `gelu`
    # What is computed with tensors of this layout may lie below the dispatcher; all of them are made by this one.
    operators.append("aten::to_mkldnn")
    return TakenAway(tuple(operators), tuple(excluded(forbid).of(names()[1])), excluded(forbid).pattern)


torch_names(), names()  # now, so that a process that stands by does it for all that it forks


def uses_listed(used: Mapping[str, int]) -> list[str]:
    """Say what was used and where."""
    return [f"{name} ({placed(line)})" if line and name != CLOSED else name for name, line in used.items()]


def to_look_at(source: Source, around: Mapping[str, int], no_answer: Collection[str]) -> list[str]:
    """Say what a person should look at, which costs nothing.

    Args:
        source: the submission.
        around: what it asked for that may lead around what is excluded, with lines.
        no_answer: functions of the pack's blocks that are not given to its kata, as `functions_in` has them.
    """
    found = [
        f"{name} may lead around “from scratch”" + (f" ({placed(line)})" if line else "")
        for name, line in around.items()
    ]
    with contextlib.suppress(*UNPARSED), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if no_answer and len(source.data) <= MAX_CODE:
            own = functions_in(body_of(source))
            copied = [node for text, node in own.items() if text in no_answer]
            if copied:
                listed = ", ".join(f"{node.name} ({placed(node.lineno)})" for node in copied[:3])
                found.append(f"{len(copied)} of {len(own)} functions are those of the given blocks: {listed}")
    return found


def functions_in(body: Iterable[ast.stmt]) -> dict[str, ast.FunctionDef]:
    """Return the functions in statements that do something, by what they do: names and notes apart."""
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.walk(ast.Module(list(body), [])):
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            steps = [
                step
                for step in node.body
                if not (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
            ]
            text = "\n".join(ast.dump(step) for step in steps)
            if len(text) > LEAST:
                found.setdefault(text, node)
    return found
