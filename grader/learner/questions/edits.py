"""One-line edits of a learner's own code, of the kinds that catalogued mistakes are of."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from grader.learner.questions.own_code import OwnCode, code_of_line, expressions, statements

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
