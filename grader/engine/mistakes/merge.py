"""What differs, merged into what it differs from: a class used as a namespace, and the module whose names it replaces.

The result is text, with the base's own lines wherever nothing was replaced. What cannot be meant is refused: a change
that changes nothing, a line or a name that the base has not, a definition that nothing uses, a name that nothing binds.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.data_files import read_text
from grader.errors import PackError, did_you_mean

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_DOCUMENTED = (*_DEFINITIONS, ast.Module)
_IMPORTS = (ast.Import, ast.ImportFrom)
_OF_EVERY_MODULE = frozenset({*dir(builtins), "__file__", "__name__"})
Owner = ast.Module | ast.ClassDef


@dataclass(frozen=True)
class PythonFile:
    """A file of a pack as text and as a syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @classmethod
    def read(cls, path: Path) -> PythonFile:
        """Read a file without importing it.

        Raises:
            PackError: it cannot be read, or it is not valid Python.
        """
        text = read_text(path)
        try:
            return cls(path, text, ast.parse(text))
        except SyntaxError as error:
            raise PackError(f"{path}, line {error.lineno}: not valid Python ({error.msg}).") from error
        except ValueError as error:  # NUL bytes, before Python 3.11.4
            raise PackError(f"{path}: not valid Python ({error}).") from error

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.text.splitlines()

    def error(self, node: ast.AST, what: str, hint: str) -> PackError:
        """Return an error that says where it is."""
        return PackError(f"{self.path}, line {getattr(node, 'lineno', 1)}: {what}.", hint)

    @cached_property
    def unbound(self) -> set[str]:
        """The names that it reads and nothing binds."""
        return _unbound(self.text)

    def first_line(self, node: ast.stmt) -> int:
        """Return where a statement begins, with its decorators and the comments right above it."""
        marks = node.decorator_list if isinstance(node, _DEFINITIONS) else []
        line = min([node.lineno, *(mark.lineno for mark in marks)])
        while line > 1 and self.lines[line - 2].strip().startswith("#"):
            line -= 1
        return line


def merged(topic: PythonFile, change: ast.ClassDef, base: PythonFile) -> str:
    """Return the base's text with the definitions of a class of the topic in place of its own.

    Raises:
        PackError: the class cannot be merged; its place in the topic is named.
    """
    return _Merge(topic, change, base).text()


class _Merge:
    def __init__(self, topic: PythonFile, change: ast.ClassDef, base: PythonFile) -> None:
        self._topic, self._change, self._base = topic, change, base
        self._edits: list[tuple[int, int, list[str]]] = []
        """Which lines of the base, from and up to, become which."""
        self._added: list[tuple[str, ast.stmt]] = []
        """What the base has not, and which something has to use."""
        self._merge(base.tree, change)
        if not self._edits:
            raise self._error(change, "changes nothing", "Write what differs into its body.")

    def text(self) -> str:
        lines = list(self._base.lines)
        # From the end, so that line numbers hold; of two at one place the later comes after the earlier.
        for first, last, _, new in sorted(
            ((*edit[:2], n, edit[2]) for n, edit in enumerate(self._edits)), reverse=True
        ):
            lines[first:last] = new
        text = "\n".join(lines) + "\n"
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            raise self._error(
                self._change,
                f"makes no valid Python of {self._base.path.name} ({error.msg})",
                "Indent by four spaces, and a diff's lines among each other as in the function.",
            ) from error
        self._refuse_unused(tree)
        self._refuse_unbound(text)
        return text

    def _merge(self, owner: Owner, new: ast.ClassDef) -> None:
        """Put what a class holds in place of what the base's module or class holds under the same names."""
        # By name, the last of one name: that is the one that counts when the module runs.
        theirs = {name: node for node in owner.body for name in _bound(node)}
        waiting: list[str] = []  # what is new stands before the definition that follows it
        gap = [""] * (2 if isinstance(owner, ast.Module) else 1)
        for node, lines in self._statements(new):
            if isinstance(node, ast.Delete):
                self._delete(node, theirs)
                continue
            if isinstance(node, _IMPORTS):
                self._import(node, lines)
                continue
            names = _bound(node)
            if len(names) != 1:
                raise self._error(
                    node,
                    "holds what is not a definition",
                    "Write functions, classes, imports, `NAME = …` and `del NAME`.",
                )
            old = theirs.get(names[0])
            if old is None:
                if not _may_override(owner, names[0]):
                    self._added.append((names[0], node))
                waiting += [*lines, *gap]
                continue
            first, last = self._base.first_line(old) - 1, old.end_lineno or 0
            # Of a class, only the members that differ are written: the others stay the base's.
            if isinstance(old, ast.ClassDef) and isinstance(node, ast.ClassDef):
                self._edits += [(first, first, waiting)] if waiting else []
                # Its bases and its members apart: a change may name either alone.
                self._head(old, node)
                self._merge(old, node)
            elif isinstance(old, _FUNCTIONS) and (diff := _diff(node)) is not None:
                self._edits.append((first, last, [*waiting, *self._changed(names[0], old, node, diff)]))
            elif _meaning(old) == _meaning(node):
                raise self._error(
                    node,
                    f"has {names[0]} as {self._base.path.name} has it",
                    "Leave out what does not differ.",
                )
            else:
                self._edits.append((first, last, [*waiting, *lines]))
            waiting = []
        if waiting:
            end = owner.body[-1].end_lineno or 0
            self._edits.append((end, end, [*gap, *waiting[: -len(gap)]]))

    def _statements(self, new: ast.ClassDef) -> Iterator[tuple[ast.stmt, list[str]]]:
        """Yield what a class holds, each with its lines as they are at the base's depth."""
        depth, before = self._change.body[0].col_offset, self._topic.first_line(new.body[0]) - 1
        fixed = _inside_strings(new)
        for node in new.body:
            first = self._topic.first_line(node)
            if first <= before:
                raise self._error(node, "has two statements on one line", "Give each a line of its own.")
            before = node.end_lineno or 0
            if not (is_docstring(node) or isinstance(node, ast.Pass)):
                numbered = enumerate(self._topic.lines[first - 1 : before], first)
                yield node, [line if at in fixed else line.removeprefix(" " * depth) for at, line in numbered]

    def _changed(self, name: str, old: ast.stmt, node: ast.stmt, diff: str) -> list[str]:
        """Return a function's lines after a diff; a blank line separates places, each of which there is once."""
        lines = self._base.lines[self._base.first_line(old) - 1 : old.end_lineno]
        changed = list(lines)
        places: list[tuple[int, int, list[str]]] = []
        for hunk in diff.split("\n\n"):
            texts = textwrap.dedent("\n".join(line[2:] for line in hunk.splitlines())).split("\n")
            marked = list(zip((line[:2].ljust(2) for line in hunk.splitlines()), texts, strict=True))
            if not {mark for mark, _ in marked} <= {"- ", "+ ", "  "}:
                raise self._error(
                    node, f"has no diff for {name}", "Each line begins with `- `, `+ ` or two spaces."
                )
            was = [text for mark, text in marked if mark != "+ "]
            found = [at for at in range(len(lines)) if was and _is_at(was, lines[at : at + len(was)])]
            if len(found) != 1:
                raise self._error(
                    node,
                    f"changes lines that {name} in {self._base.path.name} "
                    f"{'has more than once' if found else 'has not'}: {' / '.join(was).strip() or 'none'}",
                    "Write them as they are there, with a neighbour if they are not the only such lines.",
                )
            unchanged = lines[found[0] : found[0] + len(was)]
            # A diff is written without the indentation of its place.
            deep = " " * (_depth(unchanged[0]) - _depth(was[0]))
            theirs = iter(unchanged)
            new = []
            for mark, text in marked:
                line = next(theirs) if mark != "+ " else deep + text if text else ""
                new += [line] if mark != "- " else []
            places.append((found[0], found[0] + len(was), new))
        # From the end, so that the numbers of earlier lines stay true.
        for first, last, new in sorted(places, reverse=True):
            changed[first:last] = new
        # Compared by their syntax: a difference in layout is not a mistake.
        if _means(changed) == _means(lines):
            raise self._error(node, f"leaves {name} as it is", "Leave out what does not differ.")
        return changed

    def _import(self, node: ast.Import | ast.ImportFrom, lines: list[str]) -> None:
        """Let an import stand after the base's own."""
        body = self._base.tree.body
        after = max((one.end_lineno or 0 for one in body if _is_top(one)), default=0)
        self._edits.append((after, after, lines))
        self._added += [((alias.asname or alias.name).partition(".")[0], node) for alias in node.names]

    def _delete(self, node: ast.Delete, theirs: dict[str, ast.stmt]) -> None:
        for target in node.targets:
            name = ast.unparse(target)
            if name not in theirs:
                raise self._error(
                    node, f"deletes {name}, which {self._base.path.name} does not define", _there_is(theirs)
                )
            old = theirs[name]
            self._edits.append((self._base.first_line(old) - 1, old.end_lineno or 0, []))

    def _head(self, old: ast.ClassDef, new: ast.ClassDef) -> None:
        """Let a class have other bases, if the change names some."""
        if new.bases:
            bases = ", ".join(ast.unparse(base) for base in new.bases)
            head = f"{' ' * old.col_offset}class {old.name}({bases}):"
            self._edits.append((old.lineno - 1, self._base.first_line(old.body[0]) - 1, [head]))

    def _refuse_unused(self, tree: ast.Module) -> None:
        """A name that nothing uses was meant to replace one that the base has not, or has no more."""
        if not self._added:
            return
        # Else a misspelled name would leave the reference as it is: a mistake that is none.
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for name, node in self._added:
            if name not in used:
                names = [name for node in ast.walk(self._base.tree) for name in _bound(node)]
                raise self._error(
                    node,
                    f"defines {name}, which {self._base.path.name} has not and nothing uses",
                    _there_is(names) + did_you_mean(name, names, most=1),
                )

    def _refuse_unbound(self, text: str) -> None:
        """A name that nothing binds was the base's once, or its import was forgotten."""
        if unbound := _unbound(text) - self._base.unbound:
            raise self._error(
                self._change,
                f"uses {min(unbound)}, which nothing defines",
                "Define it in the class, or import it there.",
            )

    def _error(self, node: ast.AST, what: str, hint: str) -> PackError:
        return self._topic.error(node, f"{self._change.name} {what}", hint)


def is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a text alone."""
    return isinstance(node, ast.Expr) and _text(node.value) is not None


def _may_override(owner: Owner, name: str) -> bool:
    """Return whether Python, or a class that is inherited from, may use a name of which nothing is seen."""
    inherits = isinstance(owner, ast.ClassDef) and bool(owner.bases)
    return name.startswith("__") or (inherits and not name.startswith("_"))


def _is_top(node: ast.stmt) -> bool:
    return isinstance(node, _IMPORTS) or is_docstring(node)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _diff(node: ast.stmt) -> str | None:
    """Return what is in place of a function if that is a text."""
    text = _text(node.value) if isinstance(node, ast.Assign) else None
    return None if text is None else textwrap.dedent(text).strip("\n")


def _is_at(was: list[str], lines: list[str]) -> bool:
    """Return whether lines stand here, as deep among each other as they are written; comments may be left out."""
    if len(lines) < len(was):
        return False
    pairs = list(zip(was, lines, strict=True))
    same = all(text.strip() in (line.strip(), line.partition("  #")[0].strip()) for text, line in pairs)
    return same and len({_depth(line) - _depth(text) for text, line in pairs}) == 1


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a definition or an assignment binds."""
    if isinstance(node, _DEFINITIONS):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _unbound(text: str) -> set[str]:
    """Return the names that a module reads and nothing binds."""
    # Python's own table of scopes: what a name is bound to in nested functions is easily misread.
    module = symtable.symtable(text, "merged", "exec")
    bound = {
        symbol.get_name()
        for symbol in module.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    return {*_globals(module)} - bound - _OF_EVERY_MODULE


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names of the module that it and everything in it reads."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


def _inside_strings(node: ast.AST) -> set[int]:
    """Return the lines that begin inside of a string other than a docstring: their spaces mean something."""
    documentation = {
        id(owner.body[0].value)
        for owner in ast.walk(node)
        if isinstance(owner, _DOCUMENTED) and isinstance(owner.body[0], ast.Expr)
    }
    return {
        line
        for text in ast.walk(node)
        if isinstance(text, ast.Constant | ast.JoinedStr) and id(text) not in documentation
        for line in range(text.lineno + 1, (text.end_lineno or 0) + 1)
    }


def _means(lines: list[str]) -> str:
    text = textwrap.dedent("\n".join(lines))
    try:
        return _meaning(ast.parse(text))
    except SyntaxError:
        return text  # is told for the module as a whole


def _meaning(node: ast.AST) -> str:
    """Return what a definition does: its code without docstrings, annotations, comments and layout."""
    tree = ast.parse(ast.unparse(node))
    for one in ast.walk(tree):
        if isinstance(one, _DOCUMENTED) and ast.get_docstring(one) is not None:
            one.body = one.body[1:] or [ast.Pass()]
        if isinstance(one, _FUNCTIONS):
            one.returns = None
        if isinstance(one, ast.arg):
            one.annotation = None
    return ast.unparse(tree)


def _there_is(names: Iterable[str]) -> str:
    return f"There is {', '.join(dict.fromkeys(names))}: write the name of one, or leave it out."
