"""Load a submission as Python would load a module, from a file or from a notebook.

Runs in the worker only: here the learner's code may do what it likes.
"""

from __future__ import annotations

import ast
import codecs
import importlib.util
import json
import linecache
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Annotated, Any

import msgspec

PACKAGE = "submission"
"""The package a submission belongs to, so that `from .helper import f` finds what lies beside it."""

MAX_CELLS = 10_000
MAX_PARTS = 1 << 20
"""Lists, objects and values of a notebook that has to be read whole."""
MAX_CODE = 1 << 20
"""Letters of code in all cells."""
MAX_REREAD = 1 << 18
"""Letters of a cell that are parsed again because a line before turned out to be a magic."""


class UnreadableNotebook(Exception):
    """The file is no notebook; the message says in what way."""


@dataclass(frozen=True)
class Cell:
    """The code of one cell that counts, parsed; `name` is what tracebacks call it."""

    name: str
    number: int
    source: str
    tree: ast.Module


@dataclass(frozen=True)
class BrokenCell:
    """A cell that is no Python, and why."""

    number: int
    source: str
    error: SyntaxError


def load_module(name: str, path: str, source: bytes, given: str | None) -> types.ModuleType:
    """Execute the source of a `.py` file as module `name` and return it."""
    module = _new_module(name, path, given)
    # compile() reads byte order marks and coding lines from bytes, as an import does.
    code = compile(source, path, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


def load_notebook(
    name: str, path: str, source: bytes, given: str | None, required: list[str]
) -> types.ModuleType:
    """Execute imports, definitions and simple assignments of a notebook's cells as module `name`.

    Raises:
        UnreadableNotebook: not JSON, or without cells.
        SyntaxError: a cell that should define a required name cannot be parsed.
    """
    module = _new_module(name, path, given)
    cells, broken = read_notebook(Path(path).name, source)
    defined = {node.name for cell in cells for node in cell.tree.body if isinstance(node, _DEFINITIONS)}
    for cell in cells:
        linecache.cache[cell.name] = (
            len(cell.source),
            None,
            cell.source.splitlines(keepends=True),
            cell.name,
        )
        for node in _that_count(cell.tree, defined):
            code = compile(ast.Module([node], []), cell.name, "exec", dont_inherit=True)
            if isinstance(node, ast.Assign | ast.AnnAssign):
                try:
                    exec(code, module.__dict__)
                except Exception:  # a scratch assignment that fails does not matter
                    continue
            else:
                exec(code, module.__dict__)
    for wrong in broken:
        if any(_defines(wrong, name) and not _defined_after(cells, wrong, name) for name in required):
            raise wrong.error
    if broken and any(not hasattr(module, name) for name in required):
        raise broken[0].error
    return module


def _defines(cell: BrokenCell, name: str) -> bool:
    return (
        re.search(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", cell.source, re.MULTILINE)
        is not None
    )


def _defined_after(cells: list[Cell], broken: BrokenCell, name: str) -> bool:
    return any(
        cell.number > broken.number
        and any(isinstance(node, _DEFINITIONS) and node.name == name for node in cell.tree.body)
        for cell in cells
    )


def read_notebook(file: str, source: bytes) -> tuple[list[Cell], list[BrokenCell]]:
    """Return the code cells that parse, and those that do not."""
    found: list[Cell] = []
    broken: list[BrokenCell] = []
    for number, text in enumerate(_code_cells(source), 1):
        if text is None:
            continue
        title = f"{file}, cell {number}"
        try:
            found.append(parse_cell(title, number, text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            linecache.cache[title] = (len(text), None, text.splitlines(keepends=True), title)
            # The last two are what the parser says of brackets in brackets.
            what = str(error) if isinstance(error, ValueError) else "it is nested too deep"
            wrong = error if isinstance(error, SyntaxError) else SyntaxError(what)
            broken.append(BrokenCell(number, text, wrong))
    return found, broken


class _Code(msgspec.Struct):
    """A cell of a notebook; what else it holds, pictures above all, is passed over unread."""

    cell_type: Any = None
    source: Any = ""


class _Notebook(msgspec.Struct):
    """A notebook of format 4."""

    cells: Annotated[list[msgspec.Raw], msgspec.Meta(max_length=MAX_CELLS)]


def _code_cells(source: bytes) -> Iterator[str | None]:
    """Yield the text of each code cell, None for one without any.

    Raises:
        UnreadableNotebook: not JSON, without cells, or with more than is read.
    """
    length = 0
    for cell in _cells(source.removeprefix(codecs.BOM_UTF8)):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        text = cell.get("source", "")
        if isinstance(text, list):
            text = "".join(part for part in text if isinstance(part, str))
        length += len(text) if isinstance(text, str) else 0
        if length > MAX_CODE:
            raise UnreadableNotebook(f"its cells hold more than {MAX_CODE >> 10} KB of code")
        yield text if isinstance(text, str) else None


def _cells(source: bytes) -> Iterator[Any]:
    try:
        source.decode()
        for raw in msgspec.json.decode(source, type=_Notebook).cells:
            cell = msgspec.json.decode(raw, type=_Code) if bytes(memoryview(raw)[:1]) == b"{" else None
            yield cell and {"cell_type": cell.cell_type, "source": cell.source}
        return
    except UnicodeDecodeError as error:
        raise UnreadableNotebook(f"it is not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise UnreadableNotebook("it is nested too deep") from None
    except msgspec.MsgspecError as error:
        problem = str(error)
    # Python writes NaN and Infinity into outputs, which are no JSON: only then everything is read.
    parts = sum(source.count(mark) for mark in (b",", b"[", b"{"))
    if "array` of length" in problem or parts > MAX_PARTS:
        raise UnreadableNotebook(f"it has more than {MAX_CELLS:,} cells or {MAX_PARTS:,} parts") from None
    try:
        document = json.loads(source)
    except json.JSONDecodeError as error:
        raise UnreadableNotebook(f"it is not JSON: line {error.lineno}, {error.msg}") from None
    except RecursionError:
        raise UnreadableNotebook("it is nested too deep") from None
    except ValueError:
        raise UnreadableNotebook("it holds a number of thousands of digits") from None
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise UnreadableNotebook("it has no list of cells (a notebook of format 4 has one)")
    yield from cells


_MAGIC = re.compile(r"[%!?]|[\w.,\[\] ]+=\s*[%!]|[\w.]+\?{1,2}$")
"""Of a line without the blanks around it: no two parts that follow each other match the same letters, so a match takes
as many steps as the line has letters."""


def _is_magic(line: str) -> bool:
    return _MAGIC.match(line.strip()) is not None


def parse_cell(title: str, number: int, text: str) -> Cell:
    """Parse a cell without its magics, shell lines and help requests, keeping line numbers.

    A line counts as one of these only where Python stumbles over it: `%d` at the start of a line may as well be part
    of a text or of a long expression.

    Raises:
        SyntaxError, ValueError: it is no Python.
    """
    if text.lstrip().startswith("%%"):
        return Cell(title, number, "", ast.Module([], []))
    lines = text.split("\n")
    for _ in range(1 + MAX_REREAD // max(len(text), 1)):
        source = "\n".join(lines)
        try:
            return Cell(title, number, source, ast.parse(source, title))
        except SyntaxError as error:
            place = (error.lineno or 0) - 1
            if not (0 <= place < len(lines) and _is_magic(lines[place])):
                break
            lines[place] = _blank(lines[place])
    # The stumble may show further down, or there are too many: then every line that looks like one has to go.
    source = "\n".join(_blank(line) if _is_magic(line) else line for line in text.split("\n"))
    return Cell(title, number, source, ast.parse(source, title))


def _blank(line: str) -> str:
    indent = len(line) - len(line.lstrip())
    return " " * indent + "pass" if indent else ""


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _that_count(tree: ast.Module, defined: set[str]) -> Iterator[ast.stmt]:
    for node in tree.body:
        if isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) or (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and node.value is not None
            and _is_simple(node, node.value, defined)
        ):
            yield node


def _is_simple(node: ast.Assign | ast.AnnAssign, value: ast.expr, defined: set[str]) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if not all(isinstance(part, ast.Name | ast.Tuple | ast.List) for part in targets):
        return False
    # What runs the learner's own functions is scratch work (training a model, trying a mask), not a definition.
    return not any(
        isinstance(part, ast.Await | ast.Yield | ast.YieldFrom)
        or (
            isinstance(part, ast.Call)
            and any(isinstance(n, ast.Name) and n.id in defined for n in ast.walk(part))
        )
        for part in ast.walk(value)
    )


def _new_module(name: str, path: str, given: str | None) -> types.ModuleType:
    folder = str(Path(path).parent)
    for place in (folder, given):
        if place is not None:
            sys.path.insert(0, place)  # what is given comes first: the grader's copy counts
    package = types.ModuleType(PACKAGE)
    package.__path__ = [folder]
    sys.modules[PACKAGE] = package
    full = f"{PACKAGE}.{name}"
    # A loader is named because none is registered for `.ipynb`.
    spec = importlib.util.spec_from_file_location(full, path, loader=SourceFileLoader(full, path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    sys.modules[name] = module
    setattr(package, name, module)
    return module
