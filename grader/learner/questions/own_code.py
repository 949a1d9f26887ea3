"""A learner's module as text that can be changed in one place, and watched: its lines stay where they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from grader.notebooks import parse_module

_PROBED = (ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp, ast.Subscript)
_OPAQUE = (ast.JoinedStr, ast.Lambda)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SEEN, TAKE = "_kata_seen", "_kata_take"
HITS = -1
"""Among the expressions' numbers: how often any of them was evaluated."""
_HELPERS = f"""
def {SEEN}(number, value, facts={{}}, hits=[0]):
    if number is None:
        taken = [[{HITS}, [str(hits[0])]], *([key, list(texts)] for key, texts in facts.items())]
        facts.clear()
        hits[0] = 0
        return taken
    hits[0] += 1
    texts = facts.setdefault(number, [])
    if len(texts) == 2:
        return value
    import torch
    if isinstance(value, torch.Tensor):
        text = f"{{str(value.dtype)[6:]}} {{list(value.shape)}}"
    elif type(value) is int:
        text = repr(value)
    elif isinstance(value, tuple) and len(value) <= 5 and all(type(part) is int for part in value):
        text = repr(tuple(value))
    else:
        text = ""
    if text not in texts:
        texts.append(text)
    return value


def {TAKE}():
    return {SEEN}(None, None)
"""
"""What is put into a watched module: each expression's shape and dtype, or small value; two are enough to differ."""


@dataclass(frozen=True)
class Watched:
    """An expression of the learner's, and in which statement it stands."""

    node: ast.expr
    statement: ast.stmt

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.node.lineno

    def question(self) -> str:
        """Return the question what it is."""
        statement = self.statement
        if isinstance(statement, ast.Return) and statement.value is self.node:
            return f"What does line {statement.lineno} return?"
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if statement.value is self.node:
                return f"What is `{name}` after line {statement.lineno}?"
        return f"What is `{ast.unparse(self.node)}` in line {self.line}?"


class OwnCode:
    """A module that was handed in, parsed."""

    def __init__(self, data: bytes) -> None:
        """Parse it.

        Raises:
            SyntaxError, ValueError: it is not Python in UTF-8.
        """
        self.text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        # As bytes: `ast` counts columns in bytes of UTF-8.
        self._lines = [line.encode() for line in self.text.split("\n")]
        self.tree = parse_module(self.text)

    def line(self, number: int) -> str:
        """Return a line as it is shown."""
        return code_of_line(self._lines[number - 1].decode())

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """All functions, methods included."""
        return [node for node in ast.walk(self.tree) if isinstance(node, _FUNCTIONS)]

    @cached_property
    def places(self) -> list[Watched]:
        """The expressions that are watched, by their numbers."""
        found = []
        for function in self.functions:
            for statement in statements(function.body):
                for node in expressions(statement):
                    stored = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
                    # What holds no name is written there in full.
                    open_ = any(isinstance(part, ast.Name) for part in ast.walk(node))
                    if isinstance(node, _PROBED) and open_ and not stored:
                        found.append(Watched(node, statement))
        return found

    def in_parentheses(self, node: ast.expr) -> bool:
        """Return whether parentheses are right around a node."""
        before = self._lines[node.lineno - 1][: node.col_offset]
        after = self._lines[(node.end_lineno or 0) - 1][node.end_col_offset :]
        return before.endswith(b"(") and after.startswith(b")")

    def changed(self, node: ast.expr | ast.stmt, text: str) -> str | None:
        """Return the module with other text for a node; None where that is not within one line."""
        if node.end_lineno != node.lineno or "\n" in text:
            return None
        lines = list(self._lines)
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
        return b"\n".join(lines).decode()

    def watched(self) -> str:
        """Return the module with a probe around each of `places`."""
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line) + 1)
        marks: list[tuple[int, int, int, bytes]] = []
        for number, place in enumerate(self.places):
            node = place.node
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            # Where two begin together the longer one is outside; what ends somewhere ends before anything begins there.
            marks.append((begin, 1, begin - end, f"{SEEN}({number}, ".encode()))
            marks.append((end, 0, 0, b")"))
        first = next((node for node in self.tree.body if not _is_first(node)), None)
        if first is not None:
            # A decorated definition begins at its first decorator, and `lineno` is that of `def` or `class`.
            decorated = [decorator.lineno for decorator in getattr(first, "decorator_list", ())]
            marks.append((starts[min([first.lineno, *decorated]) - 1], 1, -len(self.text), _HELPERS.encode()))
        data, pieces, at = b"\n".join(self._lines), [], 0
        for place_, _, _, inserted in sorted(marks):
            pieces += [data[at:place_], inserted]
            at = place_
        return b"".join([*pieces, data[at:]]).decode()


def code_of_line(line: str) -> str:
    """Return a line without indentation and comment, which may say what is asked."""
    return re.sub(r"  # .*", "", line).strip()


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a function with those inside of branches, without loops that may not end."""
    for node in body:
        if isinstance(node, (*_NESTED, ast.While, ast.Match)):
            continue
        yield node
        for field in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, field, []))
        for handler in getattr(node, "handlers", ()):
            yield from statements(handler.body)


def expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement, the outer ones first, without annotations."""
    waiting: list[ast.AST] = [
        child
        for name, value in ast.iter_fields(statement)
        if name != "annotation"
        for child in (value if isinstance(value, list) else [value])
        if isinstance(child, ast.expr | ast.withitem)
    ]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, _OPAQUE):
            continue  # of what is inside of an f-string Python 3.11 tells no place
        if isinstance(node, ast.expr):
            yield node
        waiting += ast.iter_child_nodes(node)


def _is_first(node: ast.stmt) -> bool:
    """Return whether it has to come before everything else: a docstring, or an import from the future."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
