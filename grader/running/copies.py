"""Is an answer a given block? A submission's definitions are compared with those of `blocks.py`, as data.

Nothing is imported or evaluated. Two definitions are the same when they have the same form: names of variables, of
arguments and of what hangs on `self` do not count, nor do comments, docstrings, annotations, decorators, guards that
only raise, what is printed, aliases of imports, or where a definition stands. A form contains the forms of what it
uses, so a line that only calls a helper is a block when the helper is.

A required name is a copy when it leads to a block: by assignment, import (also of a file beside the submission), base
class, helper, or text that is executed. What the kata is given may be used and copied freely, and a self-test that
compares with a block makes no copy.

The source is hostile: its size is bounded, every statement is read once, and a form is given up as soon as it is
longer than any block's.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from grader.catalogue import Kata
from grader.catalogue.given import blocks_in, given_files, read_blocks
from grader.files import read_bounded
from grader.host.source import MAX_SOURCE, Source
from grader.notebooks import UnreadableNotebook, placed, read_notebook, statements
from grader.reports.report import CheckReport

MAX_CODE = 256 << 10
"""Bytes of code that are read of a submission, and of the files beside it together; no honest answer comes near."""
MAX_BESIDE = 1000
"""Entries of the submission's folder that are looked at."""
SHORTEST = 6
"""Words of a form, with those of what it uses; shorter ones are everybody's."""
_LONGEST = 2000
_DEEPEST = 60
"""Of a function's syntax."""
_DEEPEST_USE = 6
"""Of functions that use functions of the same file."""
_MAX_STARS = 20
_ROUNDS = 4

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMMENT = re.compile(rb"^[ \t\f]*(#[^\r\n]*)?(\r\n|\r|\n)", re.MULTILINE)
_RUNS = frozenset({"exec", "eval", "compile"})
_BINDS = _RUNS | {"setattr", "delattr", "globals", "vars", "locals"}
"""Functions that can bind a name of the module without saying which."""
_READS = _RUNS | {
    *(
        "__import__",
        "import_module",
        "open",
        "read_text",
        "read_bytes",
        "run_path",
        "run_module",
        "getsource",
    ),
    *("spec_from_file_location", "find_spec", "SourceFileLoader", "load_module", "exec_module"),
}
"""Functions that can reach a file by a text."""


@dataclass(frozen=True)
class Copy:
    """A required name that is no answer."""

    name: str
    block: str | None
    """The block that it is; None when the source is too long to be compared."""
    file: str
    line: int
    """Where the copy is defined; 0 where nobody knows."""

    def lines(self) -> list[str]:
        """Say so."""
        if self.block is None:
            return [
                f"{self.file} is too long to be compared with what is given",
                f"  at most {MAX_CODE >> 10} KB of code are read",
            ]
        where = f" ({self.file}, {placed(self.line)})" if self.line else f" ({self.file})"
        return [f"{self.name} is the given block {self.block}, not an answer{where}"]


def copies(source: Source, kata: Kata) -> dict[str, Copy]:
    """Return which of the names that a kata requires are given blocks in this submission.

    Raises:
        PackError: the pack's `blocks.py` is broken.
    """
    known = _known(kata)
    if not known.forms:
        return {}
    try:
        return _Search(source, kata, known).run()
    except (_TooMuch, RecursionError):
        return {name: Copy(name, None, source.path.name, 0) for name in kata.required}


def refuse(report: CheckReport, copied: Mapping[str, Copy], asked: Collection[str]) -> bool:
    """Give a check no points when a name that it asked for is a copy, and say so; return whether it was refused.

    What it says of the numbers stays. A check that asked for no name at all rests on the whole submission.
    """
    mine = [copy for name, copy in copied.items() if name in asked]
    if not mine and copied and not asked:
        mine = list(copied.values())
    if not mine:
        return False
    report.points = 0.0
    lines = mine[0].lines()
    if report.status == "pass":
        report.status = "fail"
        lines[0] = f"right, but no points: {lines[0]}"
        report.message = "\n".join(lines)
    else:
        report.message = "\n".join([*([report.message] if report.message else []), *lines])
    return True


def unrecognised(kata: Kata) -> list[str]:
    """Return the names of a kata's own blocks that nobody would recognise: their forms are everybody's."""
    known = _known(kata)
    there = {name for path in blocks_in(kata.unit.pack) for name in read_blocks(path).names}
    recognised = {name for names in known.forms.values() for name in names}
    return [name for name in kata.required if name in there and name not in recognised]


class _TooMuch(Exception):
    """More than is read."""


class _NoForm(Exception):
    """Longer or deeper than any block."""


@dataclass(frozen=True)
class _Known:
    """The blocks that a kata is not given: the names of each by its form."""

    forms: dict[str, tuple[str, ...]]
    longest: int


@cache
def _known(kata: Kata) -> _Known:
    own = _own_blocks(kata)
    free = {form for module in own.values() for _, form in module.blocks(_LONGEST)}
    forms: dict[str, tuple[str, ...]] = {}
    longest = 0
    for path in blocks_in(kata.unit.pack):
        module = _Module(path.name, read_blocks(path).tree.body)
        for name, form in module.blocks(_LONGEST):
            if form not in free:
                forms[form.digest] = (*forms.get(form.digest, ()), name)
                longest = max(longest, form.length)
    return _Known(forms, longest)


@cache
def _own_blocks(kata: Kata) -> dict[str, _Module]:
    """Return the modules that a kata is given, by the names under which they are imported."""
    return {
        Path(name).stem: _Module(name, ast.parse(data).body)
        for name, data in given_files(kata).items()
        if name.endswith(".py")
    }


# --- forms ---


_Defines = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class _Form:
    digest: str
    length: int
    """Of its own words."""
    weight: int
    """Of its own words and those of what it uses."""


class _Module:
    """The statements of a file, what its names stand for, and the forms of its definitions."""

    def __init__(self, file: str, body: list[ast.stmt], *, numbered: bool = True) -> None:
        self.file = file
        self.body = body
        self.numbered = numbered
        self.bindings: dict[str, list[ast.stmt]] = {}
        self.find: Callable[[str], _Module | None] = lambda _: None
        """Finds the modules that this one may import."""
        self._meanings: dict[str, tuple[str, int]] = {}
        self._depth = 0
        for node in body:
            for name in _bound_by(node):
                self.bindings.setdefault(name, []).append(node)
        self.imports = dict(_imported(body))
        self.stars = dict.fromkeys(
            "." * node.level + (node.module or "")
            for node in body
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
        )

    def blocks(self, longest: int) -> Iterator[tuple[str, _Form]]:
        """Yield the public functions and the methods of public classes by the name of the function or class."""
        for node in self.body:
            if (
                isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                and node.name[0] != "_"
            ):
                for function in [node] if isinstance(node, _FUNCTIONS) else node.body:
                    if isinstance(function, _FUNCTIONS):
                        form = self.form(function, longest)
                        if form is not None:
                            yield node.name, form

    def form(self, function: _Defines, longest: int) -> _Form | None:
        """Return the form of a function; None for one that is too long, too short, or only sets things up."""
        if getattr(function, "name", None) == "__init__":
            return None
        printer = _Printer(self, longest)
        try:
            words = printer.print(function)
        except _NoForm:
            return None
        weight = len(words) + printer.inside
        return _Form(_hash(words), len(words), weight) if weight >= SHORTEST else None

    def dotted(self, node: ast.expr, depth: int = 0) -> str | None:
        """Return the dotted name of an import that an expression stands for at the module's level."""
        steps: list[str] = []
        while isinstance(node, ast.Attribute) and len(steps) < 20:
            steps.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or depth > 5:
            return None
        root = self.imports.get(node.id)
        if root is None:
            made = self.bindings.get(node.id, [None])[-1]
            root = self.dotted(made.value, depth + 1) if isinstance(made, ast.Assign) else None
        return ".".join([root, *reversed(steps)]) if root else None

    def behind(self, dotted: str) -> tuple[str, int]:
        """Return what a dotted name contributes to a form: the form of what a file beside defines, else the name."""
        owner, _, name = dotted.rpartition(".")
        other = self.find(owner or ".") if owner else None
        return other.meaning(name) if other is not None and name in other.bindings else (f"of {dotted}", 0)

    def meaning(self, name: str) -> tuple[str, int]:
        """Return what a module's own name contributes to a form that uses it, and how many words that has."""
        if name not in self._meanings:
            self._meanings[name] = "itself", 0
            if self._depth < _DEEPEST_USE:
                self._depth += 1
                self._meanings[name] = self._look_up(name)
                self._depth -= 1
        return self._meanings[name]

    def _look_up(self, name: str) -> tuple[str, int]:
        node = self.bindings.get(name, [None])[-1]
        if isinstance(node, _FUNCTIONS):
            return self._digest([node])
        if isinstance(node, ast.ClassDef):
            return self._digest([part for part in node.body if isinstance(part, _FUNCTIONS)])
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and name not in self.imports:
            return self.meaning(node.value.id)
        dotted = self.dotted(ast.Name(name)) if node is not None else None
        return self.behind(dotted) if dotted is not None else (f"name {name}", 0)

    def _digest(self, functions: list[ast.FunctionDef | ast.AsyncFunctionDef]) -> tuple[str, int]:
        parts: list[str] = []
        weight = 0
        for function in functions:
            printer = _Printer(self, _LONGEST)
            try:
                parts.append(_hash(printer.print(function)))
            except _NoForm:
                parts.append("long")
            weight += printer.weight
        return _hash(sorted(parts)), weight


class _Printer:
    """Writes a function as a list of words in which no name of its own is left."""

    def __init__(self, module: _Module, longest: int) -> None:
        self._module = module
        self._longest = longest
        self._words: list[str] = []
        self._scopes: list[dict[str, str]] = []
        self._attributes: dict[str, str] = {}
        self._self: str | None = None
        self._count = 0
        self._depth = 0
        self.inside = 0
        """Words of what it uses."""

    @property
    def weight(self) -> int:
        """Words, with those of what it uses."""
        return len(self._words) + self.inside

    def print(self, function: _Defines) -> list[str]:
        """Return the words.

        Raises:
            _NoForm: there are too many.
        """
        arguments = [*function.args.posonlyargs, *function.args.args]
        self._self = arguments[0].arg if arguments else None
        self._enter(function)
        self._statements(function.body if isinstance(function.body, list) else [ast.Return(function.body)])
        return self._words

    def _put(self, word: str) -> None:
        self._words.append(word)
        if len(self._words) > self._longest:
            raise _NoForm

    def _enter(self, node: ast.AST) -> None:
        self._scopes.append(dict.fromkeys(_local_names(node, 8 * self._longest), ""))

    def _statements(self, body: Iterable[ast.stmt]) -> None:
        for node in _short(list(body)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._scopes[-1].update({name: f"of {what}" for name, what in _imported([node])})
            elif not _says_nothing(node):
                self._node(node)

    def _node(self, node: ast.AST) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _NoForm
        if isinstance(node, ast.Name):
            self._put(self._name(node.id))
        elif isinstance(node, ast.Constant):
            self._put(_constant(node.value))
        elif isinstance(node, ast.Attribute):
            self._attribute(node)
        elif isinstance(node, ast.Raise):
            self._put("raise")
        elif isinstance(node, _SCOPES):
            self._put("function" if isinstance(node, (*_FUNCTIONS, ast.Lambda)) else type(node).__name__)
            self._enter(node)
            if isinstance(node, _FUNCTIONS):
                self._statements(node.body)
            elif isinstance(node, ast.Lambda):
                self._node(node.body)
            else:
                self._children(node)
            self._scopes.pop()
        else:
            self._put("Assign" if isinstance(node, ast.AnnAssign) else type(node).__name__)
            self._children(node)
        self._depth -= 1

    def _children(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name in _NO_MATTER:
                continue
            parts = value if isinstance(value, list) else [value]
            if parts and isinstance(parts[0], ast.stmt):
                self._put(name)
                self._statements(parts)
                continue
            if parts and isinstance(parts[0], ast.keyword):
                parts = sorted(parts, key=lambda part: str(part.arg))
            for part in parts:
                if isinstance(part, ast.AST):
                    self._node(part)
                elif isinstance(part, str):
                    self._put(self._name(part) if name == "name" else part)

    def _attribute(self, node: ast.Attribute) -> None:
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id == self._self:
            self._put(self._attributes.setdefault(node.attr, f"self.{len(self._attributes)}"))
            return
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            local = next((scope[root.id] for scope in reversed(self._scopes) if root.id in scope), None)
            dotted = self._module.dotted(node) if local is None else None
            if local is not None and local.startswith("of "):
                dotted = local[3:] + _path(node)
            if dotted is not None:
                self._use(self._module.behind(dotted))
                return
        self._node(owner)
        self._put(f".{node.attr}")

    def _name(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope:
                if not scope[name]:
                    scope[name] = f"v{self._count}"
                    self._count += 1
                if scope[name].startswith("of "):
                    return self._use(self._module.behind(scope[name][3:]), put=False)
                return scope[name]
        return self._use(self._module.meaning(name), put=False)

    def _use(self, meaning: tuple[str, int], *, put: bool = True) -> str:
        word, weight = meaning
        self.inside += weight
        if put:
            self._put(word)
        return word


_NO_MATTER = frozenset(
    {"annotation", "returns", "decorator_list", "type_comment", "type_params", "ctx", "simple"}
)


def _short(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements with "y = x; return y" as "return x"."""
    if len(body) > 1 and isinstance(body[-1], ast.Return) and isinstance(body[-1].value, ast.Name):
        before = body[-2]
        if isinstance(before, ast.Assign | ast.AnnAssign) and before.value is not None:
            targets = before.targets if isinstance(before, ast.Assign) else [before.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == body[-1].value.id:
                return [*body[:-2], ast.Return(before.value)]
    return body


def _path(node: ast.expr) -> str:
    steps = []
    while isinstance(node, ast.Attribute):
        steps.append(f".{node.attr}")
        node = node.value
    return "".join(reversed(steps))


def _says_nothing(node: ast.stmt) -> bool:
    """Return whether a statement may come and go without making another answer."""
    if isinstance(node, ast.Pass | ast.Assert | ast.Global | ast.Nonlocal | ast.Delete):
        return True
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    if isinstance(node, ast.Expr):
        value = node.value
        printed = (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"
        )
        return printed or isinstance(value, ast.Constant)
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and all(isinstance(part, ast.Raise) for part in node.body)
    )


def _constant(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 64:
        return "= a long number"
    if isinstance(value, str | bytes) and len(value) > 200:
        return "= a long text"
    return f"={type(value).__name__} {value!r}"


def _local_names(scope: ast.AST, limit: int) -> Iterator[str]:
    """Yield the names that a function, a lambda or a comprehension binds for itself.

    Raises:
        _NoForm: it is too long.
    """
    stack: list[ast.AST] = []
    if isinstance(scope, (*_FUNCTIONS, ast.Lambda)):
        arguments = scope.args
        every = (
            *arguments.posonlyargs,
            *arguments.args,
            arguments.vararg,
            *arguments.kwonlyargs,
            arguments.kwarg,
        )
        yield from (argument.arg for argument in every if argument is not None)
        stack += scope.body if isinstance(scope.body, list) else [scope.body]
    else:
        stack += ast.iter_child_nodes(scope)
    while stack:
        node = stack.pop()
        limit -= 1
        if limit < 0:
            raise _NoForm
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        name = getattr(node, "name", None)
        if isinstance(name, str):
            yield name
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            stack += ast.iter_child_nodes(node)


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


# --- what a module's names stand for ---


def _bound_by(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module may bind, whatever it hangs on."""
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        if _is_for_main(part):
            continue
        if isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
            yield part.name
        elif isinstance(part, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in part.names)
        else:
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                yield part.id
            if not isinstance(part, _SCOPES):
                stack += ast.iter_child_nodes(part)


def _is_for_main(node: ast.AST) -> bool:
    """Return whether this is `if __name__ == "__main__":`, which never holds for a submission."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    sides = (node.test.left, *node.test.comparators)
    equal = len(sides) == 2 and isinstance(node.test.ops[0], ast.Eq)
    return equal and {getattr(side, "id", getattr(side, "value", None)) for side in sides} == {
        "__name__",
        "__main__",
    }


def _imported(body: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the names that import statements bind, each with the dotted name behind it."""
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                between = "" if module.endswith(".") or not module else "."
                yield alias.asname or alias.name, f"{module}{between}{alias.name}"


@dataclass
class _Facts:
    """What a statement says, read once."""

    forms: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    """Names that stand by themselves, not before a dot."""
    attributes: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    imports: list[tuple[str, str]] = field(default_factory=list)
    binds: bool = False
    reads: bool = False
    runs: bool = False


@dataclass
class _Trail:
    """What was met on the way from a required name."""

    required: str
    reads: bool
    runs: bool
    texts: list[str] = field(default_factory=list)
    modules: dict[_Module, None] = field(default_factory=dict)
    """Modules that were handed on as a whole."""
    wanted: set[str] = field(default_factory=set)
    """Names that something may have been asked for."""
    rounds: int = 0

    def __post_init__(self) -> None:
        self.wanted.add(self.required)


class _Search:
    """Follows the required names of one submission."""

    def __init__(self, source: Source, kata: Kata, known: _Known) -> None:
        self._kata = kata
        self._known = known
        self._folder = source.path.parent
        self._left = MAX_CODE
        self._modules: dict[Path, _Module | None] = {}
        self._facts: dict[ast.stmt, _Facts] = {}
        self._own = _own_blocks(kata)
        self._name = source.path.name
        self._found: dict[str, _Module | None] = {}
        self._beside: list[_Module] | None = None
        self._main = self._read_main(source)

    def run(self) -> dict[str, Copy]:
        """Return the copies by the required names."""
        if self._main is None:
            return {}
        loose = self._run_at_import(self._main)
        found = {}
        for name in self._kata.required:
            copy = self._follow(self._main, name, loose)
            if copy is not None:
                found[name] = copy
        return found

    def _run_at_import(self, main: _Module) -> list[_Facts]:
        """Return what the module's own statements do, with the functions they lead to, if that could bind any name."""
        ahead = [node for node in main.body if not isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
        seen: dict[ast.stmt, _Facts] = {}
        names: set[str] = set()
        while ahead:
            node = ahead.pop()
            if node in seen or _is_for_main(node) or isinstance(node, _IMPORTS):
                continue
            seen[node] = self._facts_of(main, node)
            for name in seen[node].names - names:
                ahead += main.bindings.get(name, ())
            names |= seen[node].names
        return list(seen.values()) if any(facts.binds for facts in seen.values()) else []

    def _follow(self, main: _Module, required: str, loose: list[_Facts]) -> Copy | None:
        trail = _Trail(required, reads=bool(loose), runs=bool(loose))
        ahead: list[tuple[_Module, str]] = [(main, required)]
        seen: set[tuple[_Module, str]] = set()
        read: set[ast.stmt] = set()
        found: Copy | None = None
        for facts in loose:
            ahead += self._linked(main, facts, trail)
        while ahead:
            module, name = ahead.pop()
            if (module, name) not in seen and not self._has_its_own_verdict(module, name, required):
                seen.add((module, name))
                if name not in module.bindings and not hasattr(builtins, name):
                    ahead += [(other, name) for other in self._starred(module)]
                for node in module.bindings.get(name, ()):
                    if isinstance(node, _IMPORTS):
                        ahead += self._through_import(node, name)
                    elif node not in read:
                        read.add(node)
                        facts = self._facts_of(module, node)
                        for form in facts.forms:
                            copy = self._copy(required, form, module, node)
                            if copy is not None and copy.block == required:
                                return copy
                            found = found or copy
                        ahead += [(module, used) for used in sorted(facts.names)]
                        ahead += self._linked(module, facts, trail)
            if not ahead:
                ahead = [step for step in self._by_text(trail) if step not in seen]
        return found

    def _by_text(self, trail: _Trail) -> list[tuple[_Module, str]]:
        """Return what was reached without being named in the code: by a text, in one that is run, in a module."""
        trail.rounds += 1
        if trail.rounds > _ROUNDS:
            return []
        trail.wanted |= {text for text in trail.texts if text.isidentifier()}
        if trail.reads:
            trail.modules.update(dict.fromkeys(self._all_beside()))
        for text in trail.texts if trail.runs else ():
            if "def " in text or "class " in text:
                module = self._parse("a text", text.encode("utf-8", "replace"), numbered=False)
                if module is not None:
                    trail.modules[module] = None
        trail.texts.clear()
        return [
            (other, one) for other in trail.modules for one in sorted(trail.wanted & other.bindings.keys())
        ]

    def _copy(self, required: str, form: str, module: _Module, node: ast.stmt) -> Copy | None:
        names = self._known.forms.get(form)
        if names is None:
            return None
        block = required if required in names else names[0]
        return Copy(required, block, module.file, node.lineno if module.numbered else 0)

    def _has_its_own_verdict(self, module: _Module, name: str, required: str) -> bool:
        """Return whether this is another of the names that the kata requires, which is followed by itself."""
        if module is not self._main or name == required or name not in self._kata.required:
            return False
        return any(isinstance(node, (*_FUNCTIONS, ast.ClassDef)) for node in module.bindings.get(name, ()))

    def _through_import(self, node: ast.stmt, name: str) -> Iterator[tuple[_Module, str]]:
        """Yield what an import statement makes of a name, where it leads to a file beside the submission."""
        for bound, target in _imported([node]):
            if bound == name:
                owner, _, attribute = target.rpartition(".")
                other = self._module(owner) if owner.strip(".") else None
                if other is not None:
                    yield other, attribute

    def _linked(self, module: _Module, facts: _Facts, trail: _Trail) -> Iterator[tuple[_Module, str]]:
        """Yield what a statement reaches in other modules by their names, and note what else it says."""
        trail.wanted |= facts.attributes
        trail.texts += facts.texts
        trail.reads, trail.runs = trail.reads or facts.reads, trail.runs or facts.runs
        for _, target in facts.imports:
            owner, _, attribute = target.rpartition(".")
            other = self._module(owner) if owner.strip(".") else None
            if other is not None:
                yield other, attribute
        aliases = module.imports | dict(facts.imports) if facts.imports else module.imports
        for name in sorted(facts.names & aliases.keys()):
            other = self._module(aliases[name])
            if other is not None:
                yield from ((other, one) for one in sorted(facts.attributes & other.bindings.keys()))
                if name in facts.bare:
                    trail.modules[other] = None

    def _all_beside(self) -> list[_Module]:
        """Return every file of code beside the submission: a text that names one need not be written out.

        Raises:
            _TooMuch: there are too many.
        """
        if self._beside is None:
            found: list[_Module | None] = []
            try:
                with os.scandir(self._folder) as entries:
                    for count, entry in enumerate(entries):
                        if count >= MAX_BESIDE:
                            raise _TooMuch
                        if entry.name != self._name and entry.is_file():
                            found.append(self._load(Path(entry.path)))
            except OSError:
                pass
            self._beside = [module for module in found if module is not None]
        return self._beside

    def _starred(self, module: _Module) -> Iterator[_Module]:
        if len(module.stars) > _MAX_STARS:
            raise _TooMuch
        for target in module.stars:
            other = self._module(target)
            if other is not None:
                yield other

    def _module(self, dotted: str) -> _Module | None:
        """Return the module that an import finds: of what the kata gives, else beside the submission."""
        if dotted not in self._found:
            self._found[dotted] = self._find(dotted)
        return self._found[dotted]

    def _find(self, dotted: str) -> _Module | None:
        name = dotted.lstrip(".")
        if not dotted.startswith(".") and name in self._own:
            return self._own[name]
        if not all(part.isidentifier() for part in name.split(".")):
            return None
        path = self._folder.joinpath(*name.split("."))
        return (
            self._load(path / "__init__.py")
            if path.is_dir()
            else self._load(path.with_name(f"{path.name}.py"))
        )

    def _load(self, path: Path) -> _Module | None:
        if path not in self._modules:
            self._modules[path] = None
            try:
                if stat.S_ISREG(os.stat(path).st_mode):
                    data = read_bounded(path, MAX_SOURCE)
                    if b"def " in data or b"class " in data or b"import " in data:
                        self._modules[path] = self._parse(path.name, data)
            except (OSError, ValueError):
                pass
        return self._modules[path]

    def _read_main(self, source: Source) -> _Module | None:
        if not source.is_notebook:
            return self._parse(source.path.name, source.data)
        try:
            cells = read_notebook("", source.data)[0]
        except UnreadableNotebook:
            return None
        if sum(len(cell.source) for cell in cells) > MAX_CODE:
            raise _TooMuch
        return self._ready(_Module(source.path.name, statements(cells), numbered=True))

    def _parse(self, file: str, data: bytes, *, numbered: bool = True) -> _Module | None:
        """Parse code; comments do not count towards what is read.

        Raises:
            _TooMuch: there is too much of it.
        """
        if len(data) > self._left:
            data, numbered = _COMMENT.sub(b"", data), False
        self._left -= len(data)
        if self._left < 0:
            raise _TooMuch
        try:
            return self._ready(_Module(file, ast.parse(data).body, numbered=numbered))
        except (RecursionError, MemoryError) as error:
            raise _TooMuch from error
        except (SyntaxError, ValueError):
            return None

    def _ready(self, module: _Module) -> _Module:
        module.find = self._module
        return module

    def _facts_of(self, module: _Module, node: ast.stmt) -> _Facts:
        if node in self._facts:
            return self._facts[node]
        facts = self._facts[node] = _Facts()
        before_dots: set[ast.AST] = set()
        docstrings = {id(text) for text in _docstrings(node)}
        for part in ast.walk(node):
            if isinstance(part, (*_FUNCTIONS, ast.Lambda)):
                form = module.form(part, self._known.longest)
                if form is not None:
                    facts.forms.append(form.digest)
            if isinstance(part, ast.Attribute):
                facts.attributes.add(part.attr)
                before_dots.add(part.value)
            elif isinstance(part, ast.Name):
                facts.names.add(part.id)
                if part not in before_dots:
                    facts.bare.add(part.id)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                if id(part) not in docstrings:
                    facts.texts.append(part.value)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                facts.imports += _imported([part])
        said = facts.names | {module.imports.get(name, "").rpartition(".")[2] for name in facts.names}
        of_sys = "sys" in said and "modules" in facts.attributes
        facts.runs = bool(said & _RUNS)
        facts.binds = bool(said & _BINDS) or "__dict__" in facts.attributes or of_sys
        facts.reads = (
            bool(said & _READS or facts.attributes & (_READS - _RUNS)) or of_sys
        )  # model.eval() is no eval
        return facts


def _docstrings(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the texts that nothing is done with."""
    for part in ast.walk(node):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
            yield part.value
