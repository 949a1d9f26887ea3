"""References with one comparison turned, or one blocked score that is merely low: the borders of a law."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
LOW = (-20.0, -100.0, -1e4)
"""Scores that block a key only as long as the others are small."""


def turned(text: str, part: str) -> Iterator[tuple[str, str, str]]:
    """Yield property, name and text of each: one change within a function or method, `f` or `Class.method`."""
    tree = ast.parse(text)
    for place, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", 0)
        if not _within(tree, part, line):
            continue
        if isinstance(node, ast.Compare):
            for index, operator in enumerate(node.ops):
                if type(operator) in TURNED:
                    name = f"turned: {ast.unparse(node)}"
                    yield "borders", name, _changed(tree, place, index, None)
        elif _is_minus_infinity(node):
            for low in LOW:
                yield "blocked", f"{low:g} for -inf", _changed(tree, place, 0, low)


def _within(tree: ast.Module, part: str, line: int) -> bool:
    body: list[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for name in part.split("."):
        found = next((statement for statement in body if getattr(statement, "name", None) == name), None)
        body = getattr(found, "body", [])
    return found is not None and found.lineno <= line <= (found.end_lineno or 0)


def _is_minus_infinity(node: ast.AST) -> bool:
    """Return whether an expression is spelled as minus infinity."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        return len(node.args) == 1 and getattr(node.args[0], "value", None) == "-inf"
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return False
    return ast.unparse(node.operand) in ("math.inf", "torch.inf", "float('inf')", "INF", "inf")


def _changed(tree: ast.Module, place: int, index: int, low: float | None) -> str:
    """Return the text with the node at this place of the walk changed."""
    own = copy.deepcopy(tree)
    node = list(ast.walk(own))[place]
    if isinstance(node, ast.Compare):
        node.ops[index] = TURNED[type(node.ops[index])]()
        return ast.unparse(own)
    changed = ast.Constant(low)
    for parent in ast.walk(own):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, changed)
            elif isinstance(value, list) and any(part is node for part in value):
                setattr(parent, name, [changed if part is node else part for part in value])
    return ast.unparse(ast.fix_missing_locations(own))
