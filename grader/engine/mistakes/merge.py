"""What differs, merged into what it differs from: edits of definitions, and definitions in place of others.

The result is text, with the base's own lines wherever nothing was replaced. What cannot be meant is refused: a change
that changes nothing, a line or a name that the base has not, a definition that nothing uses, a name that nothing binds.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.data_files import read_text
from grader.errors import PackError, did_you_mean

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_DOCUMENTED = (*DEFINITIONS, ast.Module)
_IMPORTS = (ast.Import, ast.ImportFrom)
_OF_EVERY_MODULE = frozenset({*dir(builtins), "__file__", "__name__"})
_ARROW = " ->"
_COMMENT = "  #"
Owner = ast.Module | ast.ClassDef
Edit = tuple[int, int, str]
"""From which character of a text, up to which, and what stands there instead."""


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

    @cached_property
    def starts(self) -> list[int]:
        """The character at which each line begins, and at the end the one at which another would."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def first_line(self, node: ast.stmt) -> int:
        """Return where a statement begins, with its decorators and the comments right above it."""
        marks = node.decorator_list if isinstance(node, DEFINITIONS) else []
        line = min([node.lineno, *(mark.lineno for mark in marks)])
        while line > 1 and self.lines[line - 2].strip().startswith("#"):
            line -= 1
        return line


@dataclass(frozen=True)
class SourceChange:
    """What differs from a base, as a topic states it."""

    name: str
    """As it is written there."""
    say: str
    """What it says of itself in one sentence."""
    node: ast.Call
    """What it is stated with."""
    edits: Mapping[str, Sequence[str]]
    """By the name of a function, class or constant of the base, which parts of it become which: `old -> new`, or a diff
    of its lines."""
    body: Sequence[ast.stmt]
    """What takes the place of the base's definitions of the same names, and what that needs."""


def merged(topic: PythonFile, change: SourceChange, base: PythonFile) -> str:
    """Return the base's text with a change of the topic made.

    Raises:
        PackError: the change cannot be made; its place in the topic is named.
    """
    return _Merge(topic, change, base).text()


class _Merge:
    def __init__(self, topic: PythonFile, change: SourceChange, base: PythonFile) -> None:
        self._topic, self._change, self._base = topic, change, base
        self._edits: list[Edit] = []
        self._added: list[tuple[str, ast.stmt]] = []
        """What the base has not, and which something has to use."""
        theirs = _by_name(base.tree)
        for name, texts in change.edits.items():
            self._edit(name, theirs, texts)
        self._merge(base.tree, change.body)
        if not self._edits:
            raise self._error(
                change.node, "changes nothing", 'Write what differs below it, or `NAME="old -> new"` into it.'
            )

    def text(self) -> str:
        text = self._applied(self._edits, _joined(self._base.lines))
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            raise self._error(
                self._change.node,
                f"makes no valid Python of {self._base.path.name} ({error.msg})",
                "Indent by four spaces, and a diff's lines among each other as in the function.",
            ) from error
        self._refuse_unused(tree)
        self._refuse_unbound(text)
        return text

    def _merge(self, owner: Owner, body: Sequence[ast.stmt]) -> None:
        """Put definitions in place of what the base's module or class holds under the same names."""
        theirs = _by_name(owner)
        waiting: list[str] = []  # what is new stands before the definition that follows it
        gap = [""] * (2 if isinstance(owner, ast.Module) else 1)
        for node, lines in self._statements(body):
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
                if waiting:
                    self._replace(first, first, waiting)
                # Its bases and its members apart: a change may name either alone.
                self._head(old, node)
                self._merge(old, node.body)
            elif _meaning(old) == _meaning(node):
                raise self._error(
                    node,
                    f"has {names[0]} as {self._base.path.name} has it",
                    "Leave out what does not differ.",
                )
            else:
                self._replace(first, last, [*waiting, *lines])
            waiting = []
        if waiting and isinstance(owner, ast.Module) and self._change.edits:
            # What is edited uses it, perhaps where it is defined: as a base class.
            first = min(self._base.first_line(theirs[name]) - 1 for name in self._change.edits)
            self._replace(first, first, waiting)
        elif waiting:
            end = owner.body[-1].end_lineno or 0
            self._replace(end, end, [*gap, *waiting[: -len(gap)]])

    def _replace(self, first: int, last: int, lines: Iterable[str]) -> None:
        """Put lines in place of those of the base from one up to another."""
        starts = self._base.starts
        self._edits.append((starts[first], starts[last], _joined(lines)))

    def _applied(self, edits: Iterable[Edit], text: str, start: int = 0) -> str:
        """Return a text that begins at a character of the base with edits made."""
        # From the end, so that places hold; of two at one place the later comes after the earlier.
        end = None
        for first, last, _, new in sorted(
            ((*edit[:2], number, edit[2]) for number, edit in enumerate(edits)), reverse=True
        ):
            if end is not None and last > end:
                raise self._error(
                    self._change.node, "changes one place twice", "Write both changes of it as one."
                )
            text = text[: first - start] + new + text[last - start :]
            end = first
        return text

    def _statements(self, body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, list[str]]]:
        """Yield definitions, each with its lines."""
        before = self._topic.first_line(body[0]) - 1 if body else 0
        for node in body:
            first = self._topic.first_line(node)
            if first <= before:
                raise self._error(node, "has two statements on one line", "Give each a line of its own.")
            before = node.end_lineno or 0
            if not (is_docstring(node) or isinstance(node, ast.Pass)):
                yield node, self._topic.lines[first - 1 : before]

    def _edit(self, name: str, theirs: Mapping[str, ast.stmt], texts: Sequence[str]) -> None:
        """Change parts of a definition; they are found in what the base has, each of them there once."""
        if (old := theirs.get(name)) is None:
            raise self._error(
                self._change.node,
                f"changes {name}, which {self._base.path.name} does not define",
                _there_is(theirs) + did_you_mean(name, [*theirs], most=1),
            )
        first, last = self._base.first_line(old) - 1, old.end_lineno or 0
        start, text = self._base.starts[first], _joined(self._base.lines[first:last])
        edits: list[Edit] = []
        for change in texts:
            if _ARROW in change and "\n" not in change:
                edits += self._part(name, change, text, start)
            else:
                edits += self._lines(name, change, first, last)
        edits = list(dict.fromkeys(edits))  # of two on one line each takes the comment away
        # Compared by their syntax: a difference in layout is not a mistake.
        if _means(self._applied(edits, text, start)) == _means(text):
            raise self._error(self._change.node, f"leaves {name} as it is", "Leave out what does not differ.")
        self._edits += edits

    def _part(self, name: str, change: str, text: str, start: int) -> Iterator[Edit]:
        """Yield the edits that `old -> new` makes of a definition's text, which begins at a character of the base."""
        was, _, new = change.partition(_ARROW)
        if _ARROW in new:
            raise self._error(
                self._change.node, f"has two arrows for {name}: {change}", "Write a diff of whole lines."
            )
        if (times := text.count(was) if was else 0) != 1:
            raise self._unlike(name, was, times)
        place = text.index(was)
        end = place + len(was)
        yield start + place, start + end, new.removeprefix(" ")
        # A comment after it was about what is there no more.
        rest = text[end : text.index("\n", end)]
        code = rest.partition(_COMMENT)[0]
        if code != rest:
            yield start + end + len(code), start + end + len(rest), ""

    def _lines(self, name: str, change: str, first: int, last: int) -> Iterator[Edit]:
        """Yield the edits that a diff makes of a definition's lines; a blank line separates places."""
        lines, starts = self._base.lines[first:last], self._base.starts
        for hunk in textwrap.dedent(change).strip("\n").split("\n\n"):
            texts = textwrap.dedent("\n".join(line[2:] for line in hunk.splitlines())).split("\n")
            marked = list(zip((line[:2].ljust(2) for line in hunk.splitlines()), texts, strict=True))
            if not {mark for mark, _ in marked} <= {"- ", "+ ", "  "}:
                raise self._error(
                    self._change.node,
                    f"has no diff for {name}",
                    "Write `old -> new`, or lines that begin with `- `, `+ ` or two spaces.",
                )
            was = [text for mark, text in marked if mark != "+ "]
            places = [at for at in range(len(lines)) if was and _is_at(was, lines[at : at + len(was)])]
            if len(places) != 1:
                raise self._unlike(name, " / ".join(was).strip(), len(places))
            unchanged = lines[places[0] : places[0] + len(was)]
            # A diff is written without the indentation of its place.
            deep = " " * (_depth(unchanged[0]) - _depth(was[0]))
            theirs = iter(unchanged)
            new = []
            for mark, text in marked:
                line = next(theirs) if mark != "+ " else deep + text if text else ""
                new += [line] if mark != "- " else []
            yield starts[first + places[0]], starts[first + places[0] + len(was)], _joined(new)

    def _unlike(self, name: str, was: str, times: int) -> PackError:
        return self._error(
            self._change.node,
            f"changes what {name} in {self._base.path.name} "
            f"{'has more than once' if times else 'has not'}: {was or 'nothing'}",
            "Write it as it is there, with what is next to it if it is not the only such place.",
        )

    def _import(self, node: ast.Import | ast.ImportFrom, lines: list[str]) -> None:
        """Let an import stand after the base's own."""
        body = self._base.tree.body
        top = [node for node in body if isinstance(node, _IMPORTS) or is_docstring(node)]
        after = max((node.end_lineno or 0 for node in top), default=0)
        self._replace(after, after, lines)
        self._added += [((alias.asname or alias.name).partition(".")[0], node) for alias in node.names]

    def _delete(self, node: ast.Delete, theirs: dict[str, ast.stmt]) -> None:
        for target in node.targets:
            name = ast.unparse(target)
            if name not in theirs:
                raise self._error(
                    node, f"deletes {name}, which {self._base.path.name} does not define", _there_is(theirs)
                )
            old = theirs[name]
            self._replace(self._base.first_line(old) - 1, old.end_lineno or 0, [])

    def _head(self, old: ast.ClassDef, new: ast.ClassDef) -> None:
        """Let a class have other bases, if the change names some."""
        if new.bases:
            bases = ", ".join(ast.unparse(base) for base in new.bases)
            head = f"{' ' * old.col_offset}class {old.name}({bases}):"
            self._replace(old.lineno - 1, self._base.first_line(old.body[0]) - 1, [head])

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
                self._change.node,
                f"uses {min(unbound)}, which nothing defines",
                "Define it below the mistake, or import it there.",
            )

    def _error(self, node: ast.AST, what: str, hint: str) -> PackError:
        return self._topic.error(node, f"{self._change.name} {what}", hint)


def is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a text alone."""
    return isinstance(node, ast.Expr) and _text(node.value) is not None


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _by_name(owner: Owner) -> dict[str, ast.stmt]:
    """Return what a module or class defines, by name: the last of one name, which counts when the module runs."""
    return {name: node for node in owner.body for name in _bound(node)}


def _may_override(owner: Owner, name: str) -> bool:
    """Return whether Python, or a class that is inherited from, may use a name of which nothing is seen."""
    inherits = isinstance(owner, ast.ClassDef) and bool(owner.bases)
    return name.startswith("__") or (inherits and not name.startswith("_"))


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_at(was: list[str], lines: list[str]) -> bool:
    """Return whether lines stand here, as deep among each other as they are written; comments may be left out."""
    if len(lines) < len(was):
        return False
    pairs = list(zip(was, lines, strict=True))
    same = all(text.strip() in (line.strip(), line.partition(_COMMENT)[0].strip()) for text, line in pairs)
    return same and len({_depth(line) - _depth(text) for text, line in pairs}) == 1


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a definition or an assignment binds."""
    if isinstance(node, DEFINITIONS):
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


def _means(text: str) -> str:
    try:
        return _meaning(ast.parse(text))
    except SyntaxError:
        return text  # is told for the module as a whole


def _meaning(node: ast.AST) -> str:
    """Return what a definition does: its code without docstrings, annotations, comments and layout."""
    tree = ast.parse(ast.unparse(node))
    for part in ast.walk(tree):
        if isinstance(part, _DOCUMENTED) and ast.get_docstring(part) is not None:
            part.body = part.body[1:] or [ast.Pass()]
        if isinstance(part, _FUNCTIONS):
            part.returns = None
        if isinstance(part, ast.arg):
            part.annotation = None
    return ast.unparse(tree)


def _there_is(names: Iterable[str]) -> str:
    return f"There is {', '.join(dict.fromkeys(names))}: write the name of one, or leave it out."
