"""Read a submission's source for calls of what its kata excludes: the second witness, which no running code can touch.

Text only: nothing is imported or evaluated. It speaks where a name is certain to lead to torch and the call is certain
to be made by what the kata asks for. What hangs on a condition, a comparison with torch's result in a test that nothing
calls, a name that is bound twice: all that is left to the first witness, which sees what really happens.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grader.host.source import Source
from grader.notebooks import UnreadableNotebook, read_notebook, statements

MAX_SCANNED = 100_000
"""Bytes; longer sources are left to the first witness, so that no one can keep the grader busy with parsing."""
MAX_STEPS = 400_000
"""Of reading: a node of the tree costs about four, and 100 kB of source have some 50,000. What comes later is left to
the first witness."""
_MAX_DEPTH = 40
_MAX_NAME = 300
_PARTS = frozenset({"__call__", "__init__", "__new__", "__wrapped__", "forward"})
"""What of a class or function stands for it when it is called."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Names = ChainMap[str, str | None]
"""What a name in scope certainly stands for, as a dotted name under `torch`; None: something else, or nobody knows."""


def called(source: Source, roots: Iterable[str], forbid: Iterable[str]) -> dict[str, int]:
    """Return what is certainly called that is forbidden, with the line of the first call.

    Parsing is Python's, which takes as long here as in the worker that has loaded the source before; what follows is
    bounded by `MAX_STEPS`.

    Args:
        source: the submission.
        roots: the names the kata asks for; what they do not lead to is not read.
        forbid: dotted names and operators (`aten::gelu`).
    """
    return examined(source, roots, forbid)[0]


def examined(source: Source, roots: Iterable[str], forbid: Iterable[str]) -> tuple[dict[str, int], int]:
    """Return what `called` returns, and how many steps it took."""
    if len(source.data) > MAX_SCANNED:
        return {}, 0
    budget = _Budget(MAX_STEPS)
    try:
        found = _Scan(body_of(source), forbid, budget).of(roots)
    except (*UNPARSED, _Spent):
        found = {}
    return found, MAX_STEPS - max(budget.left, 0)


UNPARSED = (SyntaxError, ValueError, UnreadableNotebook, RecursionError, MemoryError)
"""What parsing may raise."""


def body_of(source: Source) -> list[ast.stmt]:
    """Return a submission's statements, of a notebook those of its cells; may raise one of `UNPARSED`."""
    if source.is_notebook:
        return statements(read_notebook("", source.data)[0])
    return ast.parse(source.data).body


class _Spent(Exception):
    """The budget is used up."""


class _Budget:
    """Steps that are left."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int = 1) -> None:
        """Take some.

        Raises:
            _Spent: there are none.
        """
        self.left -= steps
        if self.left < 0:
            raise _Spent


class _Scan:
    def __init__(self, body: list[ast.stmt], forbid: Iterable[str], budget: _Budget) -> None:
        self._body = body
        self._last = {name.replace("::", ".").rpartition(".")[2]: name for name in reversed(list(forbid))}
        self._budget = budget
        self._globals = _bindings(body, ChainMap(), set(), budget)
        self._found: dict[str, int] = {}
        self._definitions: dict[str, list[ast.stmt]] = {}
        for node in body:
            for name in _bound(node, budget):
                self._definitions.setdefault(name, []).append(node)

    def of(self, roots: Iterable[str]) -> dict[str, int]:
        """Follow the names from one definition to the next; every statement is read once."""
        seen: set[str] = set()
        read: set[ast.stmt] = set()
        ahead = list(roots)
        while ahead:
            name = ahead.pop()
            if name in seen:
                continue
            seen.add(name)
            for node in self._definitions.get(name, ()):
                self._budget.spend()
                if node not in read:
                    read.add(node)
                    self._read([node], self._globals, 0)
                    ahead.extend(_globals_of(node, self._budget) - seen)
        return dict(sorted(self._found.items(), key=lambda item: item[1]))

    def _read(self, body: list[ast.stmt], names: Names, depth: int) -> None:
        """Read statements that certainly run one after another."""
        if depth > _MAX_DEPTH:
            return
        for node in body:
            self._budget.spend()
            if isinstance(node, _FUNCTIONS):
                self._expressions(node.decorator_list, names)
                self._read(node.body, _inside(node, names, self._budget), depth + 1)
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
            self._budget.spend()
            if isinstance(node, ast.IfExp):
                stack.append(node.test)
            elif isinstance(node, ast.BoolOp):
                stack.append(node.values[0])
            elif not isinstance(node, _SCOPES):  # a lambda may never be called, and binds names of its own
                if isinstance(node, ast.Call):
                    self._call(node, names)
                stack.extend(ast.iter_child_nodes(node))

    def _call(self, node: ast.Call, names: Names) -> None:
        target = _resolve(node.func, names, self._budget)
        if target is None or not target.startswith("torch."):
            return
        *path, last = target.split(".")
        if last in _PARTS or target.startswith("torch.ops."):
            last = path[-1] if path[-1] in self._last else last
        if last in self._last:
            self._found.setdefault(self._last[last], node.lineno)


def _arguments(function: _Function | ast.Lambda) -> set[str]:
    arguments = function.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return {argument.arg for argument in every if argument is not None}


def _inside(function: _Function, outside: Names, budget: _Budget) -> Names:
    return _bindings(function.body, outside, _arguments(function), budget)


def _bindings(body: list[ast.stmt], outside: Names, arguments: set[str], budget: _Budget) -> Names:
    """Return what names stand for inside a body, given what they stand for around it."""
    bound: dict[str, list[ast.stmt]] = {}
    for node in _statements(body, budget):
        for name in _bound(node, budget):
            bound.setdefault(name, []).append(node)
    names = outside.new_child({**dict.fromkeys(bound), **dict.fromkeys(arguments)})
    budget.spend(len(names.maps[0]))
    imported: dict[ast.stmt, dict[str, str | None]] = {}
    for name, nodes in bound.items():
        # Importing torch twice changes nothing; anything else that is bound again is not certain.
        again = len(nodes) < 10 and all(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)
        if name not in arguments and (len(nodes) == 1 or again):
            meanings: set[str | None] = set()
            for node in nodes:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    if node not in imported:
                        imported[node] = _imports(node, budget)
                    meanings.add(imported[node].get(name))
                else:
                    meanings.add(_meaning(node, names, budget))
            names[name] = meanings.pop() if len(meanings) == 1 else None
    return names


def _statements(body: list[ast.stmt], budget: _Budget) -> Iterator[ast.stmt]:
    """Return the statements of one scope, those in its branches included."""
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        budget.spend()
        if isinstance(node, ast.stmt):
            yield node
        # Only these hold further statements.
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(node, _SCOPES):
            stack.extend(
                child
                for child in reversed(list(ast.iter_child_nodes(node)))
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
            )


def _bound(node: ast.stmt, budget: _Budget) -> Iterator[str]:
    """Return the names that a statement binds by itself, without those of statements inside it."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            budget.spend()
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    else:
        stack = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)]
        while stack:
            part = stack.pop()
            budget.spend()
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                yield part.id
            elif isinstance(part, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and part.name:
                yield part.name
            elif isinstance(part, ast.MatchMapping) and part.rest:
                yield part.rest
            if not isinstance(part, _SCOPES):
                stack.extend(child for child in ast.iter_child_nodes(part) if not isinstance(child, ast.stmt))


@dataclass(frozen=True, eq=False)
class _Scope:
    """The names that are bound in a function, a comprehension or a class, and where the others are looked up."""

    names: frozenset[str]
    around: _Scope | None
    is_class: bool = False

    def inner(self) -> _Scope | None:
        """Return what a function in here sees: the names of a class are not among it."""
        return self.around if self.is_class else self


def _globals_of(statement: ast.stmt, budget: _Budget) -> set[str]:
    """Return the names of the module that a statement of it reads, in the functions and classes it defines as well.

    A name of the same spelling that is a function's own is not among them.
    """
    found: set[str] = set()
    stack: list[tuple[ast.AST, _Scope | None]] = [(statement, None)]
    while stack:
        node, scope = stack.pop()
        budget.spend()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and not _is_local(node.id, scope, budget):
                found.add(node.id)
            continue
        inside = scope
        inner = scope.inner() if scope is not None else None
        if isinstance(node, _FUNCTIONS):
            stack.extend((part, scope) for part in (*node.decorator_list, node.args, node.returns) if part)
            inside = _Scope(_locals(node.body, budget) | _arguments(node), inner)
            stack.extend((part, inside) for part in node.body)
            continue
        if isinstance(node, ast.Lambda):
            stack.append((node.args, scope))
            stack.append((node.body, _Scope(frozenset(_arguments(node)), inner)))
            continue
        if isinstance(node, ast.ClassDef):
            stack.extend((part, scope) for part in (*node.decorator_list, *node.bases, *node.keywords))
            inside = _Scope(_locals(node.body, budget), scope, is_class=True)
            stack.extend((part, inside) for part in node.body)
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets: set[str] = set()
            ahead: list[ast.AST] = [generator.target for generator in node.generators]
            while ahead:
                part = ahead.pop()
                budget.spend()
                if isinstance(part, ast.Name):
                    targets.add(part.id)
                ahead.extend(ast.iter_child_nodes(part))
            inside = _Scope(frozenset(targets), inner)
        stack.extend((child, inside) for child in ast.iter_child_nodes(node))
    return found


def _locals(body: list[ast.stmt], budget: _Budget) -> frozenset[str]:
    bound: set[str] = set()
    declared: set[str] = set()
    for node in _statements(body, budget):
        (declared if isinstance(node, ast.Global | ast.Nonlocal) else bound).update(_bound(node, budget))
    return frozenset(bound - declared)


def _is_local(name: str, scope: _Scope | None, budget: _Budget) -> bool:
    while scope is not None:
        budget.spend()
        if name in scope.names:
            return True
        scope = scope.around
    return False


def _imports(node: ast.Import | ast.ImportFrom, budget: _Budget) -> dict[str, str | None]:
    """Return what an import makes of each name that it binds."""
    found: dict[str, str | None] = {}
    for alias in node.names:
        budget.spend()
        if isinstance(node, ast.Import):
            name = alias.asname or alias.name.partition(".")[0]
            found.setdefault(name, _torch(alias.name if alias.asname else name))
        else:
            found.setdefault(
                alias.asname or alias.name, None if node.level else _torch(f"{node.module}.{alias.name}")
            )
    return found


def _meaning(node: ast.stmt, names: Names, budget: _Budget) -> str | None:
    """Return what the only statement that binds a name makes of it."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return _resolve(node.value, names, budget)
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return _resolve(node.value, names, budget)
    return None


def _torch(name: str) -> str | None:
    """Keep names that lead to torch, and the few of the library that lead there from a text."""
    root = name.partition(".")[0]
    return name if root in ("torch", "importlib", "builtins", "sys") else None


def _resolve(node: ast.expr, names: Names, budget: _Budget, depth: int = 0) -> str | None:
    """Return the dotted name that an expression certainly stands for."""
    budget.spend()
    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, ast.Name):
        budget.spend(len(names.maps))
        if node.id in names:
            return _short(names[node.id])
        return node.id if node.id in ("getattr", "vars", "__import__") else None
    if isinstance(node, ast.Attribute):
        owner = _resolve(node.value, names, budget, depth + 1)
        return _short(f"{owner}.{node.attr}") if owner else None
    if isinstance(node, ast.Subscript):
        owner, key = _resolve(node.value, names, budget, depth + 1), _text(node.slice)
        if owner == "sys.modules":
            return _torch(key) if key else None
        if owner and key and owner.endswith(".__dict__"):
            return _short(f"{owner.removesuffix('.__dict__')}.{key}")
        return None
    if isinstance(node, ast.Call):
        return _resolve_call(node, names, budget, depth)
    return None


def _resolve_call(node: ast.Call, names: Names, budget: _Budget, depth: int) -> str | None:
    function = _resolve(node.func, names, budget, depth + 1)
    if function in ("getattr", "builtins.getattr") and len(node.args) in (2, 3):
        owner, key = _resolve(node.args[0], names, budget, depth + 1), _text(node.args[1])
        return _short(f"{owner}.{key}") if owner and key else None
    if function in ("vars", "builtins.vars") and len(node.args) == 1:
        owner = _resolve(node.args[0], names, budget, depth + 1)
        return f"{owner}.__dict__" if owner else None
    if function in ("importlib.import_module", "__import__", "builtins.__import__") and node.args:
        key = _text(node.args[0])
        if key and not function.endswith("import_module") and len(node.args) == 1:
            key = key.partition(".")[0]
        return _torch(key) if key else None
    return None


def _short(name: str | None) -> str | None:
    """Keep a name that something of torch's may have: `a = a.b` line after line makes longer ones."""
    return name if name is not None and len(name) <= _MAX_NAME else None


def _text(node: ast.expr, depth: int = 0) -> str | None:
    """Return the text that an expression of constants stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _short(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth <= _MAX_DEPTH:
        left = _text(node.left, depth + 1)
        right = _text(node.right, depth + 1) if left is not None else None
        return None if left is None or right is None else _short(left + right)
    return None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)
