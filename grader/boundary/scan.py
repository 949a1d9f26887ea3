"""Read a submission's source for calls of what its kata excludes: the second witness, which no running code can touch.

Text only: nothing is imported or evaluated. It speaks where a name is certain to lead to torch and the call is certain
to be made by what the kata asks for. What hangs on a condition, a comparison with torch's result in a test that nothing
calls, a name that is bound twice: all that is left to the first witness, which sees what really happens.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterable, Iterator

from grader.boundary.source import Source
from grader.worker.loader import UnreadableNotebook, read_notebook

MAX_SCANNED = 100_000
"""Bytes; longer sources are left to the first witness, so that no one can keep the grader busy with parsing."""
_MAX_DEPTH = 40
_PARTS = frozenset({"__call__", "__init__", "__new__", "__wrapped__", "forward"})
"""What of a class or function stands for it when it is called."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Names = ChainMap[str, str | None]
"""What a name in scope certainly stands for, as a dotted name under `torch`; None: something else, or nobody knows."""


def called(source: Source, roots: Iterable[str], forbid: Iterable[str]) -> dict[str, int]:
    """Return what is certainly called that is forbidden, with the line of the first call (0 in a notebook).

    Args:
        source: the submission.
        roots: the names the kata asks for; what they do not lead to is not read.
        forbid: dotted names and operators (`aten::gelu`).
    """
    if len(source.data) > MAX_SCANNED:
        return {}
    try:
        if source.is_notebook:
            body = [node for cell in read_notebook("", source.data)[0] for node in cell.tree.body]
        else:
            body = ast.parse(source.data).body
        return _Scan(body, source.is_notebook, forbid).of(roots)
    except (SyntaxError, ValueError, UnreadableNotebook, RecursionError, MemoryError):
        return {}


class _Scan:
    def __init__(self, body: list[ast.stmt], is_notebook: bool, forbid: Iterable[str]) -> None:
        self._body = body
        self._is_notebook = is_notebook
        self._last = {name.replace("::", ".").rpartition(".")[2]: name for name in reversed(list(forbid))}
        self._globals = _bindings(body, ChainMap(), set())
        self._found: dict[str, int] = {}
        self._definitions: dict[str, list[ast.stmt]] = {}
        for node in body:
            for name in _bound(node):
                self._definitions.setdefault(name, []).append(node)

    def of(self, roots: Iterable[str]) -> dict[str, int]:
        """Follow the names from one definition to the next."""
        seen: set[str] = set()
        ahead = list(roots)
        while ahead:
            name = ahead.pop()
            if name in seen:
                continue
            seen.add(name)
            for node in self._definitions.get(name, ()):
                self._read([node], self._globals, 0)
                ahead.extend(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
        return dict(sorted(self._found.items(), key=lambda item: item[1]))

    def _read(self, body: list[ast.stmt], names: Names, depth: int) -> None:
        """Read statements that certainly run one after another."""
        if depth > _MAX_DEPTH:
            return
        for node in body:
            if isinstance(node, _FUNCTIONS):
                self._expressions(node.decorator_list, names)
                self._read(node.body, _inside(node, names), depth + 1)
            elif isinstance(node, ast.ClassDef):
                self._expressions(node.decorator_list, names)
                self._read(node.body, names, depth + 1)
            elif isinstance(node, ast.If | ast.While):
                self._expressions([node.test], names)
                if _is_true(node.test):
                    self._read(node.body, names, depth + 1)
            elif isinstance(node, ast.For | ast.AsyncFor):
                self._expressions([node.iter], names)
                self._read(node.body, names, depth + 1)
            elif isinstance(node, ast.With | ast.AsyncWith):
                self._expressions([item.context_expr for item in node.items], names)
                self._read(node.body, names, depth + 1)
            elif isinstance(node, ast.Try):
                self._read(node.body, names, depth + 1)
                self._read(node.finalbody, names, depth + 1)
            elif not isinstance(node, ast.Assert | ast.Match):
                self._expressions(
                    [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)], names
                )
            if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
                return

    def _expressions(self, ahead: list[ast.expr], names: Names) -> None:
        stack: list[ast.AST] = list(ahead)
        while stack:
            node = stack.pop()
            if isinstance(node, ast.IfExp):
                stack.append(node.test)
            elif isinstance(node, ast.BoolOp):
                stack.append(node.values[0])
            elif not isinstance(node, _SCOPES):  # a lambda may never be called, and binds names of its own
                if isinstance(node, ast.Call):
                    self._call(node, names)
                stack.extend(ast.iter_child_nodes(node))

    def _call(self, node: ast.Call, names: Names) -> None:
        target = _resolve(node.func, names)
        if target is None or not target.startswith("torch."):
            return
        *path, last = target.split(".")
        if last in _PARTS or target.startswith("torch.ops."):
            last = path[-1] if path[-1] in self._last else last
        if last in self._last:
            self._found.setdefault(self._last[last], 0 if self._is_notebook else node.lineno)


def _inside(function: _Function, outside: Names) -> Names:
    arguments = function.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return _bindings(function.body, outside, {argument.arg for argument in every if argument is not None})


def _bindings(body: list[ast.stmt], outside: Names, arguments: set[str]) -> Names:
    """Return what names stand for inside a body, given what they stand for around it."""
    bound: dict[str, list[ast.stmt]] = {}
    for node in _statements(body):
        for name in _bound(node):
            bound.setdefault(name, []).append(node)
    names = outside.new_child({**dict.fromkeys(bound), **dict.fromkeys(arguments)})
    for name, nodes in bound.items():
        # Importing torch twice changes nothing; anything else that is bound again is not certain.
        again = len(nodes) < 10 and all(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)
        if name not in arguments and (len(nodes) == 1 or again):
            meanings = {_meaning(name, node, names) for node in nodes}
            names[name] = meanings.pop() if len(meanings) == 1 else None
    return names


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Return the statements of one scope, those in its branches included."""
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, _SCOPES):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _bound(node: ast.stmt) -> Iterator[str]:
    """Return the names that a statement binds by itself, without those of statements inside it."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    else:
        stack = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)]
        while stack:
            part = stack.pop()
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                yield part.id
            elif isinstance(part, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and part.name:
                yield part.name
            if not isinstance(part, _SCOPES):
                stack.extend(child for child in ast.iter_child_nodes(part) if not isinstance(child, ast.stmt))


def _meaning(name: str, node: ast.stmt, names: Names) -> str | None:
    """Return what the only statement that binds a name makes of it."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if (alias.asname or alias.name.partition(".")[0]) == name:
                return _torch(alias.name if alias.asname else name)
    if isinstance(node, ast.ImportFrom) and not node.level:
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return _torch(f"{node.module}.{alias.name}")
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return _resolve(node.value, names)
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return _resolve(node.value, names)
    return None


def _torch(name: str) -> str | None:
    """Keep names that lead to torch, and the few of the library that lead there from a text."""
    root = name.partition(".")[0]
    return name if root in ("torch", "importlib", "builtins", "sys") else None


def _resolve(node: ast.expr, names: Names, depth: int = 0) -> str | None:
    """Return the dotted name that an expression certainly stands for."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, ast.Name):
        if node.id in names:
            return names[node.id]
        return node.id if node.id in ("getattr", "vars", "__import__") else None
    if isinstance(node, ast.Attribute):
        owner = _resolve(node.value, names, depth + 1)
        return f"{owner}.{node.attr}" if owner else None
    if isinstance(node, ast.Subscript):
        owner, key = _resolve(node.value, names, depth + 1), _text(node.slice)
        if owner == "sys.modules":
            return _torch(key) if key else None
        if owner and key and owner.endswith(".__dict__"):
            return f"{owner.removesuffix('.__dict__')}.{key}"
        return None
    if isinstance(node, ast.Call):
        return _resolve_call(node, names, depth)
    return None


def _resolve_call(node: ast.Call, names: Names, depth: int) -> str | None:
    function = _resolve(node.func, names, depth + 1)
    if function in ("getattr", "builtins.getattr") and len(node.args) in (2, 3):
        owner, key = _resolve(node.args[0], names, depth + 1), _text(node.args[1])
        return f"{owner}.{key}" if owner and key else None
    if function in ("vars", "builtins.vars") and len(node.args) == 1:
        owner = _resolve(node.args[0], names, depth + 1)
        return f"{owner}.__dict__" if owner else None
    if function in ("importlib.import_module", "__import__", "builtins.__import__") and node.args:
        key = _text(node.args[0])
        if key and not function.endswith("import_module") and len(node.args) == 1:
            key = key.partition(".")[0]
        return _torch(key) if key else None
    return None


def _text(node: ast.expr) -> str | None:
    """Return the text that an expression of constants stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return left + right if left is not None and right is not None else None
    return None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)
