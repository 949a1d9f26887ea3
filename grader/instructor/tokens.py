"""Python as a row of words that stays the same when names, layout, comments or quotes change.

Nothing is imported or evaluated. A word is what a piece of syntax is, or what it calls a thing that it did not make
itself: `softmax`, `transpose`, `range`. Names that a file binds are all one word, and so are texts. Comments,
docstrings, annotations, decorators, imports, `pass`, assertions and what is printed have no words.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MAX_WORDS = 60_000
"""Of one hand-in; an answer of 1,000 lines has some 10,000."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NO_MATTER = frozenset(
    {
        "annotation",
        "returns",
        "decorator_list",
        "type_comment",
        "type_params",
        "type_ignores",
        "ctx",
        "simple",
    }
)
_SAYS_NOTHING = (ast.Import, ast.ImportFrom, ast.Pass, ast.Assert, ast.Global, ast.Nonlocal)
_OWN = "own"


class TooMuch(Exception):
    """More words than are compared."""


@dataclass(frozen=True)
class Piece:
    """Statements that were parsed together: a file's, or a cell's."""

    body: list[ast.stmt]
    lines_above: int = 0
    """In what is shown."""


@dataclass
class Words:
    """The words of a text, each with its line and the number of the definition it is in."""

    words: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)

    def add(self, pieces: Sequence[Piece]) -> None:
        """Add the statements of one file.

        Raises:
            TooMuch: there are too many words.
        """
        named = _Names(node for piece in pieces for node in piece.body)
        part = self.parts[-1] + 1 if self.parts else 0
        for piece in pieces:
            part = self._add(piece, named, part)

    def _add(self, piece: Piece, named: _Names, part: int) -> int:
        first_line = piece.lines_above
        body = piece.body
        stack: list[tuple[object, int]] = [(node, 0) for node in reversed(body)]
        while stack:  # no recursion: how deep a hand-in nests is its own affair
            node, line = stack.pop()
            if isinstance(node, str):
                self.words.append(node)
                self.lines.append(first_line + line)
                self.parts.append(part)
                if len(self.words) > MAX_WORDS:
                    raise TooMuch
            elif isinstance(node, ast.AST):
                line = getattr(node, "lineno", line)
                part += isinstance(node, _FUNCTIONS)  # definitions may change places
                stack += [(inner, line) for inner in reversed(named.pieces(node))]
        return part + 1


class _Names:
    """What the names of a file stand for, as far as a word tells."""

    def __init__(self, body: Iterable[ast.AST]) -> None:
        self._own: set[str] = set()
        self._own_attributes: set[str] = set()
        self._imported: dict[str, str] = {}
        for node in _walk(body):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._own.add(node.id)
            elif isinstance(node, ast.arg):
                self._own.add(node.arg)
            elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self._own_attributes.add(node.attr)
            elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self._own.add(node.name)
                self._own_attributes.add(node.name)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                self._own.add(node.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self._imported[name] = alias.name.rpartition(".")[2]
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self._imported[alias.asname or alias.name] = alias.name

    def pieces(self, node: ast.AST) -> list[object]:
        """Return what a node is made of: words and further nodes, in order."""
        match node:
            case ast.Name():
                if node.id in self._imported:
                    return [self._imported[node.id]]
                return [_OWN if node.id in self._own else node.id]
            case ast.Attribute():
                word = _OWN if node.attr in self._own_attributes else node.attr
                # torch.softmax(x), F.softmax(x), softmax(x) and x.softmax() are one call.
                return [word] if self._is_module(node.value) else [word, node.value]
            case ast.Constant():
                return [_constant(node.value)]
            case ast.JoinedStr():
                return ["text"]
            case ast.arg():
                return [_OWN]
            case ast.Expr():
                return [] if _is_remark(node.value) else [node.value]
            case ast.AnnAssign():
                return [] if node.value is None else ["Assign", node.target, node.value]
            case ast.AugAssign():
                # As if it were spelled out: `x += y` and `x = x + y` are one statement.
                return ["Assign", node.target, type(node.op).__name__, node.target, node.value]
            case ast.BinOp():
                return [type(node.op).__name__, node.left, node.right]
            case ast.UnaryOp():
                return [type(node.op).__name__, node.operand]
            case ast.Compare():
                return [*(type(op).__name__ for op in node.ops), node.left, *node.comparators]
            case ast.Call():
                # In the order of names: to exchange keyword arguments changes nothing.
                keywords = sorted(node.keywords, key=lambda keyword: keyword.arg or "")
                return ["Call", node.func, *node.args, *keywords]
            case ast.keyword():
                return [node.arg or "**", node.value]
        if isinstance(node, _SAYS_NOTHING):
            return []
        found: list[object] = [type(node).__name__]
        for name, value in ast.iter_fields(node):
            if name not in _NO_MATTER:
                found += [
                    part for part in (value if isinstance(value, list) else [value]) if _is_syntax(part)
                ]
        return found

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        # What a file does not bind, a broken cell or a star imports.
        return isinstance(node, ast.Name) and (node.id in self._imported or node.id not in self._own)


def _walk(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        stack += ast.iter_child_nodes(node)


def _is_syntax(part: object) -> bool:
    return isinstance(part, ast.AST) and not isinstance(part, ast.expr_context)


def _is_remark(node: ast.expr) -> bool:
    """Whether a statement is a docstring, another loose value, or prints."""
    printed = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    return printed or isinstance(node, ast.Constant)


def _constant(value: object) -> str:
    if isinstance(value, str | bytes):
        return "text"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a long number"
    return repr(value)
