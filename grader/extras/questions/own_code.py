"""A learner's module as text that can be changed in one place, and watched: its lines stay where they are."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from grader.api import parse_module

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


_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_PAIRS = (
    ("tril", "triu"), ("sum", "mean"), ("max", "min"), ("amax", "amin"), ("zeros", "ones"), ("any", "all"),
    ("zeros_like", "ones_like"), ("argmax", "argmin"), ("softmax", "log_softmax"), ("cos", "sin"),
    ("exp", "log"), ("sqrt", "square"), ("view", "reshape"), ("var", "std"), ("relu", "gelu"),
    ("scatter", "scatter_add"), ("append", "extend"), ("cumsum", "cumprod"), ("new_zeros", "new_ones"),
)  # fmt: skip
_NAMED = {**dict(_PAIRS), **{other: name for name, other in _PAIRS}}
_MINUS_ZERO = re.compile(r"-0(?![\d.])")
E = TypeVar("E", bound=ast.expr)


@dataclass(frozen=True)
class Edit:
    """One line of a module, changed."""

    line: int
    shown: str
    """The line as it then is; empty where it is taken away."""
    text: str
    """The whole module."""


def edits_of(code: OwnCode) -> list[Edit]:
    """Return the edits of a module, each once, in the order of its lines."""
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    found: dict[str, Edit] = {}
    for function in code.functions:
        parameters = _alike(function.args)
        for statement in statements(function.body):
            for node, text in _of(code, statement, parameters, imported):
                changed = code.changed(node, text)
                if changed is None:
                    continue
                away = node is statement
                line = "" if away else code_of_line(changed.split("\n")[node.lineno - 1])
                # An edit that shows no difference in its line could not be asked about, and nobody writes -0 for 0.
                if line != code.line(node.lineno) and not _MINUS_ZERO.search(line):
                    found.setdefault(changed, Edit(node.lineno, line, changed))
    return list(found.values())


def _alike(arguments: ast.arguments) -> dict[str, list[str]]:
    """Return by parameter those that it may be mixed up with: of the same annotation, with a default or without."""
    # A size in place of a device raises at once, which nobody has to think about.
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    every = [*zip(arguments.args, defaults, strict=True)]
    every += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    kinds = {
        parameter.arg: (parameter.annotation and ast.dump(parameter.annotation), default is None)
        for parameter, default in every
        if parameter.arg not in ("self", "cls")
    }
    return {name: [twin for twin in kinds if twin != name and kinds[twin] == kinds[name]] for name in kinds}


def _of(
    code: OwnCode, statement: ast.stmt, parameters: dict[str, list[str]], imported: set[str]
) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield the nodes of a statement that can be changed, each with the text that takes its place."""
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Raise) and not docstring:
        yield statement, "pass"
    for node in expressions(statement):
        for other in _variants(node, parameters, imported):
            text = ast.unparse(other)
            # Parentheses keep an operator of another rank from taking what is next to it.
            alone = node is getattr(statement, "value", None) or code.in_parentheses(node)
            yield node, f"({text})" if isinstance(other, ast.BinOp | ast.BoolOp) and not alone else text


def _variants(node: ast.expr, parameters: dict[str, list[str]], imported: set[str]) -> Iterator[ast.expr]:
    """Yield what may be written for an expression by mistake."""
    match node:
        case ast.Constant(value=bool(flag)):
            yield ast.Constant(not flag)
        case ast.Constant(value=int(number)):
            yield ast.Constant(number + 1)
            if number > 0:
                yield ast.Constant(number - 1)
        case ast.Constant(value=float(number)):
            yield ast.Constant(number * 2)
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            yield _with(node, ops=[_COMPARED[type(op)]()])
            yield _with(node, left=node.comparators[0], comparators=[node.left])
        case ast.BinOp():
            if type(node.op) in _COMPUTED:
                yield _with(node, op=_COMPUTED[type(node.op)]())
            if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult):
                yield _with(node, left=node.right, right=node.left)
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            yield node.operand
        case ast.Name(ctx=ast.Load()) if node.id in parameters:
            yield from (ast.Name(name, ast.Load()) for name in parameters[node.id])
        case ast.Call():
            yield from _calls(node, imported)


def _calls(node: ast.Call, imported: set[str]) -> Iterator[ast.expr]:
    """Yield what may be written for a call: another function, without an argument, arguments exchanged, not at all."""
    function = node.func
    mine = isinstance(function, ast.Attribute) and ast.unparse(function.value) == "self"
    # A method of the learner's own that is called like one of torch's has no counterpart.
    if isinstance(function, ast.Attribute) and function.attr in _NAMED and not mine:
        yield _with(node, func=_with(function, attr=_NAMED[function.attr]))
    for keyword in node.keywords:
        if keyword.arg == "device":
            continue  # what happens without it depends on the machine
        yield _with(node, keywords=[argument for argument in node.keywords if argument is not keyword])
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    if len(node.args) >= 2 and plain == node.args:
        yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
    if isinstance(function, ast.Attribute):
        owner = function.value
        module = isinstance(owner, ast.Name) and owner.id in {*imported, "self"}
        dotted = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
        if not (module or dotted):
            yield owner
    if len(node.args) == 1 and plain:
        yield plain[0]


def _with(node: E, **fields: object) -> E:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other
