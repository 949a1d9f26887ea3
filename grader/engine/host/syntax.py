"""A submission's syntax tree: its statements, and what each of them reads and changes. No line of it is run."""

from __future__ import annotations

import ast
import contextlib
import dis
import types
from collections.abc import Iterable, Iterator

from grader.engine.host.source import Source
from grader.notebooks import UnreadableNotebook, read_notebook, statements

MAX_CODE = 256 << 10
"""Bytes of code in all files, and of notebooks letters: what follows takes time in proportion to it."""
UNPARSED = (SyntaxError, ValueError, UnreadableNotebook, RecursionError, MemoryError)
"""What parsing may raise."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


def body_of(source: Source) -> list[ast.stmt]:
    """Return a submission's statements, of a notebook those of its cells; may raise one of `UNPARSED`."""
    if source.is_notebook:
        return statements(read_notebook("", source.data)[0])
    return ast.parse(source.data).body


def flat(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Return the statements of a module in order, those in its branches and loops included."""
    stack = list(reversed(list(body)))
    while stack:
        node = stack.pop()
        if _is_main_guard(node):
            continue  # it runs only where the file is started as a program, which the grader never does
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(
            node, _Definition
        ):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _is_main_guard(node: ast.AST) -> bool:
    match node:
        case ast.If(ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]), orelse=[]):
            return True
    return False


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Return what is in a statement, from the outside inwards.

    Without annotations and what `isinstance` compares with: neither is called. A definition is read as a whole, a
    branch or loop without its statements.
    """
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        compares = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass")
        children: list[ast.AST] = []
        for name, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            if name in ("annotation", "returns"):
                continue
            # `isinstance(x, nn.Linear)` asks for a name that it does not use.
            if compares and name == "args":
                parts = parts[:1]
            # A function is called as a whole; of a branch, each statement inside is read by itself.
            whole = isinstance(statement, _Definition)
            children += [
                p for p in parts if isinstance(p, ast.AST) and (whole or not isinstance(p, ast.stmt))
            ]
        stack += reversed(children)


def globals_of(node: ast.stmt, nodes: list[ast.AST]) -> Iterator[str]:
    """Return the names of the module that a statement reads: the compiler knows which are a function's own."""
    # A statement with a body of its own, such as `if`, is not compiled: its parts are read by themselves.
    codes: list[types.CodeType] = []
    if isinstance(node, _Definition) or not hasattr(node, "body"):
        with contextlib.suppress(SyntaxError, ValueError):
            codes.append(compile(ast.Module([node], []), "", "exec", dont_inherit=True))
    if not codes:
        yield from (one.id for one in nodes if isinstance(one, ast.Name))
    while codes:
        code = codes.pop()
        yield from (one.argval for one in dis.get_instructions(code) if one.opname in _GLOBAL)
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def base_name(node: ast.AST) -> str:
    """Return the name that attributes and items in a row begin with; nothing where they begin otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
