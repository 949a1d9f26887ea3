"""Read from a submission's syntax tree what its required parts use that the kata excludes.

No line of it is run. A name is followed through imports, aliases, `getattr` with a text and the like, and from one
definition to the next, also into files next to it; what nothing required leads to, such as a test of one's own, is
free. Where a name may stand for several things, it stands for all of them. A name that is put together at run time
is seen by the record of uses (`grader.engine.wire.uses`) if it is an operator's; in any case it is pointed out to the
instructor.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dis
import functools
import sys
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from grader.catalogue.torch_names import Excluded
from grader.engine.host.limits import Terms
from grader.engine.host.source import Source, Unreadable, read_source
from grader.engine.wire.uses import CLOSED, operators_of
from grader.notebooks import UnreadableNotebook, code_cells, placed, read_notebook, statements

MAX_CODE = 100_000
"""Bytes of code in all files, and of notebooks letters: what follows takes time in proportion to it."""
TOO_MUCH = "more code, or deeper nested, than the grader reads"
"""What is reported of a file that cannot be read to its end: it could use anything."""
UNPARSED = (SyntaxError, ValueError, UnreadableNotebook, RecursionError, MemoryError)
"""What parsing may raise."""
_MAX_MEANINGS = 20
_MOST_ROUNDS = 10

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_BINDS_ANY = frozenset({"builtins.globals", "builtins.exec"})
"""What may bind any name of the module: a statement with it is read as if it bound what is required."""
_IMPORTS = frozenset({"builtins.__import__", "importlib.import_module"})
_UNCLEAR = {
    **dict.fromkeys(("builtins.exec", "builtins.eval", "builtins.compile"), "a text is run as code"),
    **dict.fromkeys(_IMPORTS, "a module is imported by a name that is made at run time"),
    **dict.fromkeys(("pickle.loads", "marshal.loads"), "an object is made of bytes"),
}
_Value = ast.expr | str
"""What a name is bound to: an expression, or the full name of something imported."""
_Meanings = dict[tuple["_Statement | None", ast.AST | str], frozenset[str]]


@dataclass(frozen=True)
class NamesFound:
    """What the names in a file say; with each the place where it is found first."""

    used: dict[str, str] = field(default_factory=dict)
    """What is excluded and used, by its full name; where no place is known, it is empty."""
    unclear: dict[str, str] = field(default_factory=dict)
    """What the required parts name in ways that nobody can read; it costs nothing."""


def read_names(source: Source, terms: Terms) -> NamesFound:
    """Read a submission, and the files next to it that it imports, except those that learners are given."""
    # Nothing is excluded, so that there is nothing to parse for.
    if not terms.forbid:
        return NamesFound()
    try:
        return Reader(source, terms).read()
    except (TooMuchError, RecursionError, MemoryError):
        # What is too much to be read counts as a use: else length would be the way around it.
        return NamesFound({TOO_MUCH: ""})


@functools.cache  # each of torch's thousands of operators is looked at
def excluded_operators(forbid: tuple[str, ...]) -> list[str]:
    """Return torch's operators that compute what a kata excludes."""
    return operators_of(Excluded(forbid).is_of) if forbid else []


def uses_listed(used: Mapping[str, int], reading: NamesFound) -> list[str]:
    """Say what was used and where; an operator by itself only where no name that leads to it is in the source."""
    found = reading.used or {
        f"torch.ops.{name.replace('::', '.')}": placed(line) if line else ""
        for name, line in used.items()
        if name != CLOSED
    }
    found = found | ({CLOSED: ""} if CLOSED in used else {})
    return [f"{name} ({place})" if place else name for name, place in found.items()]


def body_of(source: Source) -> list[ast.stmt]:
    """Return a submission's statements, of a notebook those of its cells; may raise one of `UNPARSED`."""
    if source.is_notebook:
        return statements(read_notebook("", source.data)[0])
    return ast.parse(source.data).body


class TooMuchError(Exception):
    """Raised when there is more to read than anybody needs to write."""


class _Statement:
    """One statement at module level, without the statements inside a branch or loop: those are read by themselves."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node
        self.nodes = list(own_nodes(node))
        self.imports = [one for one in self.nodes if isinstance(one, ast.Import | ast.ImportFrom)]
        self.reads = frozenset(globals_of(node, self.nodes))
        """The names of the module that it reads, in functions and classes that it defines as well."""
        self.inside = dict(_bindings(self.nodes))
        """What it binds anywhere inside, and to what."""
        self.binds = set(_defined(node) or self.inside)
        """The names of the module that it binds or changes."""
        self.touches: set[str] = set()
        """Names whose objects it may hand something to: `table.append(…)`, `@register`."""
        self._note_changes()

    def _note_changes(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.Global):
                self.binds.update(node.names)
            elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                # In a function it is not certain to happen, and not to a module of torch.
                (self.touches if isinstance(self.node, _Definition) else self.binds).add(base_name(node))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                self.touches.add(base_name(node.value.func))
                if base_name(node.value.func) == "setattr" and node.value.args:
                    self.binds.add(base_name(node.value.args[0]))
        for decorator in getattr(self.node, "decorator_list", ()):
            self.touches.add(base_name(decorator.func if isinstance(decorator, ast.Call) else decorator))


class _File:
    """One file: its statements, and what its names stand for."""

    def __init__(self, title: str, body: list[ast.stmt]) -> None:
        self.title = title
        self.statements = [_Statement(node) for node in flat(body)]
        self.module: dict[str, list[_Value]] = defaultdict(list)
        self.binding: dict[str, list[_Statement]] = defaultdict(list)
        self.touching: dict[str, list[_Statement]] = defaultdict(list)
        self._before: _Meanings = {}
        self._resolved: _Meanings = {}
        self._bind(set(body))
        self._settle()

    def _bind(self, top: set[ast.stmt]) -> None:
        read: set[str] = set()
        for statement in self.statements:
            node = statement.node
            # What is replaced before anything reads it is forgotten: `from torch… import f`, then `def f`.
            replaces = node in top and isinstance(node, _Definition | ast.Assign | ast.ImportFrom)
            for name in statement.binds:
                if replaces and name != "*" and name not in read and name not in statement.reads:
                    self.module.pop(name, None)
                    self.binding.pop(name, None)
                self.binding[name].append(statement)
                self.module[name] += statement.inside.get(name, ())
            for name in statement.touches:
                self.touching[name].append(statement)
            read |= statement.reads
        if len(self.binding.get("*", ())) > _MAX_MEANINGS:  # each may hold every name
            raise TooMuchError

    def _settle(self) -> None:
        """Resolve everything until names that lead to one another in a circle stand for the same."""
        for _ in range(_MOST_ROUNDS):
            self._before, self._resolved = self._resolved, {}
            for statement in self.statements:
                for node in statement.nodes:
                    self.resolve(node, statement)
            if self._before == self._resolved:
                return
        raise TooMuchError

    def leads_to(self, name: str) -> Iterator[_Statement]:
        """Return the statements that have a part in what a name of the module stands for."""
        binding = self.binding.get(name) or self.binding.get("*", [])
        yield from binding
        if not all(isinstance(one.node, ast.Import | ast.ImportFrom) for one in binding):
            yield from self.touching.get(name, ())

    def resolve(self, node: ast.AST, statement: _Statement | None) -> frozenset[str]:
        """Return the full names that an expression in a statement may stand for."""
        key = (statement, node.id if isinstance(node, ast.Name) else node)
        if key not in self._resolved:
            self._resolved[key] = self._before.get(key, frozenset())  # for names in a circle
            found = frozenset(self._resolve(node, statement))
            if len(found) > _MAX_MEANINGS:
                raise TooMuchError
            self._resolved[key] = found
        return self._resolved[key]

    def _resolve(self, node: ast.AST, statement: _Statement | None) -> Iterator[str]:
        match node:
            case ast.Name():
                yield from self._meanings(node.id, statement)
            case ast.Attribute():
                owners = self.resolve(node.value, statement)
                yield from (f"{owner}.{node.attr}" for owner in owners)
                # On any object: it leads to every class that is loaded.
                if not owners and node.attr == "__subclasses__":
                    yield "builtins.type.__subclasses__"
            case ast.IfExp() | ast.BoolOp() | ast.NamedExpr():
                for part in ast.iter_child_nodes(node):
                    # The condition of `a if c else b` is never what it results in.
                    if part is not getattr(node, "test", None):
                        yield from self.resolve(part, statement)
            case ast.Subscript() if key := self._text(node.slice, statement):
                for owner in self.resolve(node.value, statement):
                    if owner == "sys.modules":
                        yield key
                    elif owner.endswith(".__dict__"):
                        yield f"{owner.removesuffix('.__dict__')}.{key}"
            case ast.Call(args=[first, *others]):
                functions = self.resolve(node.func, statement)
                text = self._text(others[0] if others else first, statement)
                if "builtins.getattr" in functions and others and text:
                    yield from (f"{owner}.{text}" for owner in self.resolve(first, statement))
                elif "builtins.vars" in functions:
                    yield from (f"{owner}.__dict__" for owner in self.resolve(first, statement))
                elif functions & _IMPORTS and (name := self._text(first, statement)):
                    yield name if "importlib.import_module" in functions else name.partition(".")[0]

    def _meanings(self, name: str, statement: _Statement | None) -> Iterator[str]:
        values = self.module.get(name, ()) if statement is None else statement.inside.get(name, ())
        for value in values:
            yield from [value] if isinstance(value, str) else self.resolve(value, statement)
        if statement is not None and name in statement.reads:
            yield from self.resolve(ast.Name(name), None)
        elif statement is None and name not in self.binding:
            yield from (f"{module}.{name}" for module in self.module.get("*", ()))
            if hasattr(builtins, name):
                yield f"builtins.{name}"

    def _text(self, node: ast.AST, statement: _Statement | None) -> str | None:
        """Return the text that an expression of constants is, or a name for one."""
        if isinstance(node, ast.Name):
            values = [
                *(statement.inside if statement else {}).get(node.id, ()),
                *self.module.get(node.id, ()),
            ]
            # A name that is bound twice may be either.
            node = values[0] if len(values) == 1 and isinstance(values[0], ast.expr) else node
        with contextlib.suppress(ValueError):
            return "".join(_pieces(node))
        return None

    def names(self, statement: _Statement) -> Iterator[tuple[str, ast.expr]]:
        """Return the full names in a statement, each with the whole expression that it is of."""
        passed: set[ast.AST] = set()
        for node in statement.nodes:
            if node in passed or isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
                found = self.resolve(node, statement)
                passed.update(_chain(node) if found else ())
                yield from ((name, node) for name in found)

    def unclear(self, statement: _Statement) -> Iterator[tuple[str, int]]:
        """Return what in a statement leads to something by ways that cannot be read."""
        followed: set[object] = {value for values in statement.inside.values() for value in values}
        for call in statement.nodes:
            if isinstance(call, ast.Call) and not self.resolve(call, statement):
                functions = self.resolve(call.func, statement)
                yield from ((_UNCLEAR[name], call.lineno) for name in functions & _UNCLEAR.keys())
                if "builtins.getattr" in functions:
                    followed.update(call.args[:1])
                    owners = self.resolve(call.args[0], statement) if call.args else ()
                    torch_owners = [owner for owner in owners if owner.startswith("torch")]
                    yield from (
                        (f"{owner} is asked for a name that is made at run time", call.lineno)
                        for owner in torch_owners
                    )
        for name, node in self.names(statement):
            # A module that gets another name is followed there; one that is put elsewhere is not.
            is_module = name.startswith("torch") and isinstance(sys.modules.get(name), types.ModuleType)
            if is_module and node not in followed:
                yield f"{name} is handed on as a whole", node.lineno


class Reader:
    """Read a submission, and what it imports of the files next to it."""

    def __init__(self, source: Source, terms: Terms) -> None:
        self._source = source
        self._roots = frozenset(terms.within or terms.required)
        self._excluded = Excluded(terms.forbid)
        self._given = terms.given
        self._left = MAX_CODE
        self._files: dict[str, _File | None] = {}

    def read(self) -> NamesFound:
        """Return what the names in the file say."""
        found = NamesFound()
        for file, statement, required in self._statements():
            named: list[tuple[str, ast.expr | ast.stmt]] = [*_imported(statement), *file.names(statement)]
            for name, at in named:
                used = required and isinstance(at, ast.expr) and self._excluded.is_used(name)
                if used or self._excluded.is_nowhere(name):
                    found.used.setdefault(name, f"{file.title}{placed(at.lineno)}")
            for what, line in file.unclear(statement) if required else ():
                found.unclear.setdefault(what, f"{file.title}{placed(line)}")
        return found

    def required_parts(self) -> Iterator[tuple[str, ast.stmt, list[tuple[str, int]]]]:
        """Yield the statements that the required names lead to, with the title of the file and the names in them.

        Names are full, each with its line. The title is empty for the submission itself.
        """
        for file, statement, required in self._statements():
            if required:
                yield file.title, statement.node, [(name, at.lineno) for name, at in file.names(statement)]

    def _statements(self) -> Iterator[tuple[_File, _Statement, bool]]:
        """Yield all statements, and whether the required names lead to them; none where the file does not parse."""
        if (main := self._parsed("", self._source)) is not None:
            reached = self._reached(main)
            for file in filter(None, (main, *self._files.values())):
                yield from ((file, statement, statement in reached) for statement in file.statements)

    def _reached(self, main: _File) -> set[_Statement]:
        """Return the statements that the required names lead to, from one name to the next."""
        found: set[_Statement] = set()
        seen: set[tuple[_File, str]] = set()
        # A module's `__getattr__` answers for names that it does not bind.
        ahead = [(main, name) for name in (*self._roots, "__getattr__")]
        for statement in main.statements:
            if any(name in _BINDS_ANY for name, _ in main.names(statement)):
                found.add(statement)
                ahead += [(main, name) for name in statement.reads]
        while ahead:
            file, name = ahead.pop()
            if (file, name) in seen:
                continue
            seen.add((file, name))
            for statement in file.leads_to(name):
                if name in self._roots and _is_call_of(statement.node, name):
                    continue  # a test of its own
                ahead += self._beside(statement, name)
                if statement not in found:
                    found.add(statement)
                    ahead += [(file, other) for other in statement.reads]
                    # What it decorates or is called with may be stored in what led here.
                    ahead += [(file, name) for name in _defined(statement.node)]
        return found

    def _beside(self, statement: _Statement, name: str) -> Iterator[tuple[_File, str]]:
        """Return the names in files next to it that a name of a statement comes from."""
        for node in statement.imports:
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                if name != bound and alias.name != "*" and node is statement.node:
                    continue
                path = (getattr(node, "module", None) or alias.name).partition(".")[0]
                whole = isinstance(node, ast.Import) or not node.module
                if (file := self._file(path)) is not None:
                    wanted = [name if alias.name == "*" else alias.name]
                    yield from ((file, one) for one in (list(file.binding) if whole else wanted))

    def _file(self, module: str) -> _File | None:
        """Return a file next to the submission, if there is one and learners are not given it."""
        if module not in self._files:
            path = self._source.path.parent / f"{module}.py"
            given = self._given is not None and (self._given / path.name).exists()
            self._files[module] = None
            if not given and path != self._source.path:
                with contextlib.suppress(Unreadable):
                    self._files[module] = self._parsed(f"{path.name}, ", read_source(path))
        return self._files[module]

    def _parsed(self, title: str, source: Source) -> _File | None:
        """Return a file; None where it is not Python, so that it does not load either."""
        try:
            size = len(source.data)
            if source.is_notebook:
                # Of a notebook only code is parsed: its pictures may be megabytes.
                size = sum(len(cell) for cell in code_cells(source.data) if cell)
            self._left -= size
            if self._left < 0:
                raise TooMuchError
            return _read(title, source)
        except (SyntaxError, ValueError, UnreadableNotebook):
            return None


@functools.lru_cache(maxsize=4)
def _read(title: str, source: Source) -> _File:
    """Return a file, which never changes: two rules ask for the names of the same submission."""
    return _File(title, body_of(source))


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


def _bindings(nodes: Iterable[ast.AST]) -> dict[str, list[_Value]]:
    """Return the names that are bound by these, and to what as far as that may have a full name."""
    found: dict[str, list[_Value]] = defaultdict(list)
    for node in nodes:
        match node:
            # Imports give full names.
            case ast.Import():
                for alias in node.names:
                    root = alias.name.partition(".")[0]
                    found[alias.asname or root].append(alias.name if alias.asname else root)
            case ast.ImportFrom():
                for alias in node.names:
                    full = str(node.module) if alias.name == "*" else f"{node.module}.{alias.name}"
                    found[alias.asname or alias.name] += [] if node.level else [full]
            # What is assigned may be resolved further.
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _pair(target, value, found)
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                _pair(target, value, found)
            case ast.arguments():
                positional = [*node.posonlyargs, *node.args]
                defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults + node.kw_defaults
                for argument, default in zip([*positional, *node.kwonlyargs], defaults, strict=True):
                    found[argument.arg] += [default] if default else []
            # All else stands for something of the submission's own.
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found[name] += []
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.ExceptHandler(name=str()):
                found[str(node.name)] += []
    return found


def _pair(target: ast.expr, value: ast.expr, found: dict[str, list[_Value]]) -> None:
    if isinstance(target, ast.Name):
        found[target.id].append(value)
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, other in zip(target.elts, value.elts, strict=False):
            _pair(one, other, found)


def _imported(statement: _Statement) -> Iterator[tuple[str, ast.stmt]]:
    for node in statement.imports:
        module = getattr(node, "module", None)
        for alias in node.names if not getattr(node, "level", 0) else ():
            yield f"{module}.{alias.name}" if module else alias.name, node


def _chain(node: ast.AST) -> Iterator[ast.AST]:
    """Return the expressions that a full name was made of."""
    ahead = [node]
    while ahead:
        node = ahead.pop()
        yield node
        ahead += [node.func, *node.args[:1]] if isinstance(node, ast.Call) else []
        ahead += [node.value] if isinstance(node, ast.Attribute | ast.Subscript) else []


def base_name(node: ast.AST) -> str:
    """Return the name that attributes and items in a row begin with; nothing where they begin otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _defined(node: ast.stmt) -> list[str]:
    return [node.name] if isinstance(node, _Definition) else []


def _is_call_of(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.Expr(ast.Call(ast.Name(called))):
            return called == name
    return False


def _pieces(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield from _pieces(left)
            yield from _pieces(right)
        case ast.JoinedStr(values=values):
            for value in values:
                yield from _pieces(value)
        case _:
            raise ValueError
