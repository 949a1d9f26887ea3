"""Read the cells of a notebook that are Python: nothing is executed, and nobody's notebook costs much.

Both sides do: the worker to load a submission, the grader to look at its source.
"""

from __future__ import annotations

import ast
import codecs
import contextlib
import io
import json
import linecache
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

MAX_CELLS = 10_000
MAX_PARTS = 1 << 20
"""Lists, objects and values of a notebook that has to be read whole."""
MAX_CODE = 1 << 20
"""Letters of code in all cells."""
MAX_MODULE = 1 << 18
"""Letters, or bytes, of a module that are parsed."""
MAX_NAME = 200
"""Parts of a name such as `a.b.c`."""
MAX_REREAD = 1 << 18
"""Letters of a cell that are parsed again because a line before turned out to be a magic."""


CELL = 1 << 17
"""Lines of a cell that have a number; that of its first line says which cell it is."""


def place_of(cell: int, line: int) -> int:
    """Return a line of a cell as one number; 0 where there is none for it."""
    return cell * CELL + line if 0 < line < CELL else 0


def cell_prefix(path: str) -> str:
    """Return what tracebacks call a notebook's cells, but for the number."""
    return f"{os.path.basename(path)}, cell "


def placed(number: int) -> str:
    """Say where a line is, in a file or in a notebook.

    >>> placed(12), placed(place_of(3, 12))
    ('line 12', 'cell 3, line 12')
    """
    cell, line = divmod(number, CELL)
    return f"cell {cell}, line {line}" if cell else f"line {line}"


class UnreadableNotebook(Exception):
    """The file is not a notebook; the message says in what way."""


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


_CODING = re.compile(rb"(?:[ \t\f]*(?:#[^\n]*)?\r?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")
"""A line that names the encoding, as PEP 263 has it."""
_DOTTED = re.compile(rb"(?<![\w\x80-\xff])(?:[\w\x80-\xff]++[\s\\]*+\.[\s\\]*+){8,}+")
"""The beginning of a long name. What it has matched is not looked at again, so that it takes as long as the text is."""


def named_encoding(source: bytes) -> str | None:
    """Return the encoding that a module names in its first two lines, in small letters."""
    found = _CODING.match(source)
    return found[1].decode().lower().replace("_", "-") if found else None


def has_endless_name(source: str | bytes) -> bool:
    """Whether a name such as `a.b.c` has hundreds of parts: Python's parser takes the square of that, also of memory.

    An import of 100 KB took 2.4 s and 2.7 GB. Seen with Python 3.11.
    """
    if isinstance(source, bytes) and len(source) <= MAX_MODULE and (named := named_encoding(source)):
        with contextlib.suppress(LookupError, ValueError):  # then Python does not parse it either
            source = source.decode(named)  # a dot may be written in many ways
    data = source.encode("utf-8", "replace") if isinstance(source, str) else source
    return any(found[0].count(b".") > MAX_NAME for found in _DOTTED.finditer(data))


def parse_module(source: str | bytes) -> ast.Module:
    """Parse what somebody handed in, in bounded time.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it holds NUL, or is too long or nested too deep.
    """
    if len(source) > MAX_MODULE:
        raise ValueError(f"at most {MAX_MODULE >> 10} KB are read")
    if has_endless_name(source):
        raise ValueError("it has a name of hundreds of parts")
    try:
        return ast.parse(source)
    except (RecursionError, MemoryError):  # what the parser says of brackets in brackets
        raise ValueError("it is nested too deep") from None


@dataclass(frozen=True)
class Cell:
    """The code of one cell that counts, parsed; `name` is what tracebacks call it."""

    name: str
    number: int
    source: str
    tree: ast.Module
    magics: tuple[tuple[int, str], ...] = ()
    """What was taken out of it, each with its line: magics, and all that a magic like `%%writefile` takes in."""

    def hidden(self) -> dict[str, str]:
        """Return the names that its magics make, each with a sentence that says so; "*" where nobody knows which."""
        found: dict[str, str] = {}
        for line, text in self.magics:
            first = text.partition("\n")[0][:60]
            sentence = (
                f"cell {self.number}, line {line} is a magic, {first}, and was left out: write plain Python"
            )
            if first.startswith("%%"):
                word = first.split()[0]
                sentence = f"cell {self.number} begins with {word} and was left out: delete that line"
            names = ["*"] if first.startswith(("%run", "%load ")) else _MADE_BY_MAGIC.findall(text)
            found |= dict.fromkeys(names, sentence)
        return found


@dataclass(frozen=True)
class BrokenCell:
    """A cell that is not valid Python, and why."""

    number: int
    source: str
    error: SyntaxError


class NotebookRule:
    """Which statements of a notebook count: imports, definitions, and assignments that do not run them.

    What runs the learner's own functions is scratch work (training a model, trying a mask), unless it makes something
    that the kata requires and that is defined nowhere.
    """

    def __init__(self, cells: Iterable[Cell], required: Iterable[str]) -> None:
        self._own = {node.name for cell in cells for node in cell.tree.body if isinstance(node, DEFINITIONS)}
        self._made = set(required) - self._own

    def counts(self, node: ast.stmt) -> bool:
        """Return whether a statement at the top of a cell is part of the answer."""
        if isinstance(node, ast.Import) and all(name.name == "kata" for name in node.names):
            # It is for `kata.check(...)` in a cell: a tool of the learner, which need not be there where it is graded.
            return False
        if not isinstance(node, ASSIGNMENTS):
            return isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        makes = any(isinstance(target, ast.Name) and target.id in self._made for target in targets)
        return node.value is not None and (makes or not self._runs_own(node))

    def _runs_own(self, node: ast.AST) -> bool:
        ahead = [(node, False)]
        while ahead:
            part, called = ahead.pop()
            if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom):
                return True
            if called and isinstance(part, ast.Name) and part.id in self._own:
                return True
            called = called or isinstance(part, ast.Call)
            if called or not isinstance(part, ast.Lambda):  # which runs nothing yet
                ahead += [(child, called) for child in ast.iter_child_nodes(part)]
        return False


def statements(cells: Iterable[Cell]) -> list[ast.stmt]:
    """Return what cells hold, in order; the lines are places."""
    found: list[ast.stmt] = []
    for cell in cells:
        found += ast.increment_lineno(cell.tree, place_of(cell.number, 1) - 1).body
    return found


def as_module(file: str, source: bytes, required: Iterable[str]) -> str:
    """Return what counts of a notebook as a module's text, where nobody looks at its lines: without comments."""
    cells, _ = read_notebook(file, source)
    rule = NotebookRule(cells, required)
    found = [node for cell in cells for node in cell.tree.body if rule.counts(node)]
    # A module begins with what it takes from the future; in a notebook that may come in any cell.
    found.sort(key=lambda node: not (isinstance(node, ast.ImportFrom) and node.module == "__future__"))
    return "\n".join(map(ast.unparse, found)) + "\n"


def keep_lines(name: str, text: str) -> None:
    """Have tracebacks take a file's lines from what was run of it, whatever the disk holds under its name."""
    lines = io.StringIO(text).readlines()  # not splitlines(), for which a form feed ends a line
    linecache.cache[name] = (len(text), None, lines, name)


def read_notebook(file: str, source: bytes) -> tuple[list[Cell], list[BrokenCell]]:
    """Return the code cells that parse, and those that do not."""
    found: list[Cell] = []
    broken: list[BrokenCell] = []
    for number, text in enumerate(code_cells(source), 1):
        if text is None:
            continue
        title = f"{cell_prefix(file)}{number}"
        try:
            found.append(parse_cell(title, number, text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            keep_lines(title, text)
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


def code_cells(source: bytes) -> Iterator[str | None]:
    """Yield the text of each code cell, None for one without any.

    Raises:
        UnreadableNotebook: not JSON, without cells, or with more than is read.
    """
    length = 0
    for cell in _cells(source.removeprefix(codecs.BOM_UTF8)):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        text = cell.get("source", "")
        # The format allows both: a string, or one for each line.
        if isinstance(text, list):
            text = "".join(part for part in text if isinstance(part, str))
        # All cells together: each by itself may be small, and there may be a million.
        length += len(text) if isinstance(text, str) else 0
        if length > MAX_CODE:
            raise UnreadableNotebook(f"its cells hold more than {MAX_CODE >> 10} KB of code")
        yield text if isinstance(text, str) else None


def _cells(source: bytes) -> Iterator[Any]:
    try:
        source.decode()
        # Cells raw at first, then two fields of each: outputs with pictures are never decoded.
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
    # Python writes NaN and Infinity into outputs, which are not JSON: only then everything is read.
    parts = sum(source.count(mark) for mark in (b",", b"[", b"{"))
    if "array` of length" in problem or parts > MAX_PARTS:
        raise UnreadableNotebook(f"it has more than {MAX_CELLS:,} cells or {MAX_PARTS:,} parts") from None
    try:
        # The count of parts bounds what this takes: json makes an object of each, many times its size.
        document = json.loads(source)
    except json.JSONDecodeError as error:
        raise UnreadableNotebook(
            f"it is not JSON: line {error.lineno}, {error.msg}; save it again in Jupyter"
        ) from None
    except RecursionError:
        raise UnreadableNotebook("it is nested too deep") from None
    except ValueError:
        raise UnreadableNotebook("it holds a number with thousands of digits") from None
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise UnreadableNotebook("it has no list of cells: open it in Jupyter and save it as format 4")
    yield from cells


_COUNTED = re.compile(r"\s*%%(time|timeit|capture|prun)\b")
"""Magics of a whole cell that run it as it is, and keep what it makes."""
_MADE_BY_MAGIC = re.compile(
    r"^(?:%\w+[ \t]+)?(?:(?:async[ \t]+)?(?:def|class)[ \t]+(?=\w)|(?=\w+[ \t]*=(?!=)))(\w+)", re.MULTILINE
)
_MAGIC = re.compile(r"[%!?]|[\w.,\[\] ]+=\s*[%!]|[\w.]+\?{1,2}$")
"""Of a line without the blanks around it: no two parts that follow each other match the same letters, so a match takes
as many steps as the line has letters."""


def _is_magic(line: str) -> bool:
    return _MAGIC.match(line.strip()) is not None


def parse_cell(title: str, number: int, text: str) -> Cell:
    """Parse a cell without its magics, shell lines and help requests, keeping line numbers.

    Of a cell that begins with another magic than `_COUNTED` nothing is left: what is below is not run as Python here.

    Raises:
        SyntaxError, ValueError: it is not valid Python.
    """
    if has_endless_name(text):
        raise ValueError("it has a name of hundreds of parts")
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("%%"):
            break
        if line.strip() and not _COUNTED.match(line):
            rest = "\n".join(lines[place:]).strip()
            return Cell(title, number, "", ast.Module([], []), ((place + 1, rest),))
        lines[place] = ""
    body = list(lines)
    # One stumble after the other, as Python names them one by one; bounded by what is read in all, since a cell
    # may be long.
    for _ in range(1 + MAX_REREAD // max(len(text), 1)):
        source = "\n".join(lines)
        try:
            return Cell(title, number, source, ast.parse(source, title), _taken_out(body, lines))
        # Only a line over which Python stumbles is a magic: `%d` at the start of one may as well be part of a
        # text or of a long expression.
        except SyntaxError as error:
            place = (error.lineno or 0) - 1
            if not (0 <= place < len(lines) and _is_magic(lines[place])):
                break
            lines[place] = _blank(lines[place])
    # The stumble may show further down, or there are too many: then every line that looks like one has to go.
    lines = [_blank(line) if _is_magic(line) else line for line in body]
    source = "\n".join(lines)
    return Cell(title, number, source, ast.parse(source, title), _taken_out(body, lines))


def _taken_out(before: list[str], after: list[str]) -> tuple[tuple[int, str], ...]:
    pairs = enumerate(zip(before, after, strict=True), 1)
    return tuple((place, line.strip()) for place, (line, left) in pairs if line != left)


def _blank(line: str) -> str:
    indent = len(line) - len(line.lstrip())
    return " " * indent + "pass" if indent else ""
