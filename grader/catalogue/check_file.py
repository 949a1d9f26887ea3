"""What a file of checks says about itself, read from its syntax tree: a pack's code is never imported to list it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.data_files import read_bytes
from grader.errors import PackError

LIMIT_BYTES = 1_000_000


@dataclass(frozen=True)
class MarkedCheck:
    """A function with `@check(...)`, as far as it can be known without running it."""

    name: str
    points: float
    hidden: bool


def read_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file of a pack.

    Raises:
        PackError: it cannot be read, or it is not Python.
    """
    try:
        return ast.parse(read_bytes(path, LIMIT_BYTES, what="a file of a kata"), filename=str(path))
    except SyntaxError as error:
        raise PackError(f"{path}, line {error.lineno}: not valid Python ({error.msg}).") from error
    except ValueError as error:
        raise PackError(f"{path}: cannot be read ({error}).") from error


def marked_checks(nodes: Iterable[ast.AST]) -> Iterator[MarkedCheck]:
    """Yield the checks among these nodes."""
    for node in nodes:
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            options = {word.arg: word.value for word in mark.keywords} if isinstance(mark, ast.Call) else {}
            if "aspect" in options:
                # Under whatever name `check` was imported. What is not plainly visible is hidden, so that no slip of
                # the author's shows it to learners.
                shown = options.get("hidden", ast.Constant(False))
                hidden = not (isinstance(shown, ast.Constant) and shown.value is False)
                yield MarkedCheck(node.name, _number(options.get("points")), hidden)


def worth(path: Path) -> float:
    """Return what the checks of a file are worth together: 1 each, or what they say.

    Raises:
        PackError: as `read_tree`.
    """
    return sum(check.points for check in marked_checks(read_tree(path).body))


def _number(value: ast.expr | None) -> float:
    stated = value.value if isinstance(value, ast.Constant) else None
    return float(stated) if type(stated) in (int, float) else 1.0  # type: ignore[arg-type]
