"""What a stub promises and which checks a file has, by its syntax tree: a pack's code is never imported to list it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.data_files import read_bytes
from grader.errors import PackError

Signatures = dict[str, list[str]]
Defaults = dict[str, dict[str, str]]
"""By function, class or `Class.method`, what parameters are where they are left out, as it is written."""

LIMIT_BYTES = 1_000_000
_ATTRIBUTES = re.compile(r"^Attributes:\n((?: +.*\n?|\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+(?:, \w+)*):", re.MULTILINE)


@dataclass(frozen=True)
class Attributes:
    """The names that a stub gives to parts of its classes: learners must use these and may choose all others."""

    of: Mapping[str, tuple[str, ...]]
    """By class, the entries of the section `Attributes:` of its docstring."""
    below: tuple[str, ...]
    """The names of parts of these: all entries, and the words that describe them."""


FREE = Attributes({}, ())


@dataclass(frozen=True)
class Stub:
    """The names a stub defines at its top level, and the parameters of those that can be called."""

    names: frozenset[str]
    signatures: Signatures
    attributes: Attributes
    defaults: Defaults


def read_stub(path: Path) -> Stub:
    """Read the stub at `path`.

    Raises:
        PackError: it cannot be read, or it is not valid Python.
    """
    data = read_bytes(path, LIMIT_BYTES, what="the stub")
    try:
        tree = ast.parse(data, filename=str(path))
    except SyntaxError as error:
        raise PackError(
            f"{path}, line {error.lineno}: the stub is not valid Python ({error.msg}).",
            "A stub must load, so that a learner's first check can say 'not started'.",
        ) from error
    # A zero byte in the source: no SyntaxError in every Python.
    except ValueError as error:
        raise PackError(f"{path}: the stub cannot be read ({error}).") from error
    names = frozenset(name for node in tree.body for name in defined_names(node))
    return Stub(names, signatures_of(tree.body), _attributes_of(tree.body), defaults_of(tree.body))


def _attributes_of(body: Iterable[ast.stmt]) -> Attributes:
    found, words = {}, set()
    for node in (node for node in body if isinstance(node, ast.ClassDef)):
        section = _ATTRIBUTES.search(ast.get_docstring(node) or "")
        if section and (entries := _ENTRY.findall(section[1])):
            found[node.name] = tuple(name for entry in entries for name in entry.split(", "))
            words |= set(re.findall(r"\w+", section[1]))
    return Attributes(found, tuple(sorted(words)))


def signatures_of(body: Iterable[ast.stmt]) -> Signatures:
    """Return the parameters of what statements define: of functions, of classes and of their methods."""
    signatures: Signatures = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            signatures[node.name] = _parameters(node.args)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            signatures.update(_class_signatures(node))
    return signatures


def _class_signatures(node: ast.ClassDef) -> Signatures:
    found: Signatures = {node.name: []}
    for member in node.body:
        if not isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        marks = {mark.id for mark in member.decorator_list if isinstance(mark, ast.Name)}
        parameters = _parameters(member.args)
        if "staticmethod" not in marks:
            parameters = parameters[1:]
        if member.name == "__init__":
            found[node.name] = parameters
        elif not member.name.startswith("_") or member.name == "__call__":
            found[f"{node.name}.{member.name}"] = parameters
    return found


def defaults_of(body: Iterable[ast.stmt], owner: str = "") -> Defaults:
    """Return the defaults of what statements define, by the names that `signatures_of` gives it."""
    found: Defaults = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found |= defaults_of(node.body, node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = owner if owner and node.name == "__init__" else ".".join(filter(None, (owner, node.name)))
            found[name] = {name: ast.unparse(value) for name, value in default_nodes(node.args).items()}
    return found


def default_nodes(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Return the defaults of the parameters that have one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    given = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {parameter.arg: value for parameter, value in given if value is not None}


def _parameters(arguments: ast.arguments) -> list[str]:
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is not None:
        names.append(f"*{arguments.vararg.arg}")
    names.extend(argument.arg for argument in arguments.kwonlyargs)
    if arguments.kwarg is not None:
        names.append(f"**{arguments.kwarg.arg}")
    return names


def defined_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines: a function, a class, an assignment."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return set()


@dataclass(frozen=True)
class MarkedCheck:
    """A function with `@check(...)`, as far as it can be known without running it."""

    name: str
    points: float
    hidden: bool


def read_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file of a pack.

    Raises:
        PackError: it cannot be read, or it is not Python.
    """
    return parsed(path, read_bytes(path, LIMIT_BYTES, what="a file of a kata"))


def parsed(path: Path, text: str | bytes) -> ast.Module:
    """Return the syntax tree of what a file of a pack holds.

    Raises:
        PackError: it is not Python.
    """
    try:
        return ast.parse(text, filename=str(path))
    except SyntaxError as error:
        raise PackError(f"{path}, line {error.lineno}: not valid Python ({error.msg}).") from error
    except ValueError as error:
        raise PackError(f"{path}: cannot be read ({error}).") from error


def marked_checks(nodes: Iterable[ast.AST]) -> Iterator[MarkedCheck]:
    """Yield the checks among these nodes."""
    for node in nodes:
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            options = {word.arg: word.value for word in mark.keywords} if isinstance(mark, ast.Call) else {}
            if "aspect" in options:
                # Under whatever name `check` was imported. What is not plainly visible is hidden, so that no slip of
                # the author's shows it to learners.
                shown = options.get("hidden", ast.Constant(False))
                hidden = not (isinstance(shown, ast.Constant) and shown.value is False)
                yield MarkedCheck(node.name, _number(options.get("points")), hidden)


def checks_asking(body: Iterable[ast.stmt], names: Collection[str]) -> Iterator[MarkedCheck]:
    """Yield the checks that ask a submission for one of these names, themselves or by what they use of their file.

    A name is asked for as an attribute, or by its text as the first argument of a call: `Part("gelu")`.
    """
    body = list(body)
    homes = {name: node for node in body for name in defined_names(node)}

    def asks(node: ast.stmt, seen: set[str]) -> bool:
        further = []
        for part in ast.walk(node):
            match part:
                case ast.Attribute(attr=name) if name in names:
                    return True
                case ast.Call(args=[ast.Constant(str(name)), *_]) if name in names:
                    return True
                case ast.Name(name) if name in homes and name not in seen:
                    seen.add(name)
                    further.append(name)
        return any(asks(homes[name], seen) for name in further)

    yield from (check for check in marked_checks(body) if asks(homes[check.name], {check.name}))


def worth(path: Path) -> float:
    """Return what the checks of a file are worth together: 1 each, or what they say.

    Raises:
        PackError: as `read_tree`.
    """
    return sum(check.points for check in marked_checks(read_tree(path).body))


def _number(value: ast.expr | None) -> float:
    stated = value.value if isinstance(value, ast.Constant) else None
    return float(stated) if type(stated) in (int, float) else 1.0  # type: ignore[arg-type]
