"""Find given blocks that are handed in as an answer, by a spelling that nobody uses to write one.

`blocks.py` answers earlier katas, so its code calls operators as `torch.ops.aten.…`: the same kernels, and no honest
answer names them. A submission that does, or that leads a required name to a file beside it that does, earns nothing.
Only syntax trees are read. Copies that were rewritten by hand are left to `kata similar`, which compares hand-ins with
the blocks.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from grader.catalogue import Kata
from grader.catalogue.given import blocks_in, given_files, read_blocks
from grader.files import read_bounded
from grader.host.source import Source
from grader.notebooks import UnreadableNotebook, placed, read_notebook, statements
from grader.reports.report import CheckReport

MAX_CODE = 256 << 10
"""Bytes of code that are parsed; no honest answer comes near, and its tree takes a hundred times as much memory."""
MAX_BESIDE, MAX_BYTES_BESIDE = 1000, 64 << 20
"""Entries of the submission's folder that are looked at, and what is read of them."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SPELLING = frozenset({"aten", "torch.ops", "_ops"})
_WORD = re.compile(r"torch\.ops\b|\w+")
_COMMENT = re.compile(rb"^[ \t\f]*(#[^\r\n]*)?(\r\n|\r|\n)", re.MULTILINE)
_EXECUTES = frozenset({"exec", "eval", "compile", "setattr", "globals", "vars", "locals"})
"""Functions by which a statement can bind names of the module without saying which."""
_READS = frozenset({"exec", "eval", "open", "read_text", "read_bytes", "getsource", "__import__"}) | {
    *("import_module", "run_path", "run_module", "exec_module", "load_module", "spec_from_file_location")
}
"""Functions that reach a file by a text, which may be put together at run time."""


@dataclass(frozen=True)
class BlockUse:
    """Where a submission uses a given block in place of an answer; line 0 where it is too large to be compared."""

    file: str
    line: int = 0

    def message(self) -> str:
        """Return what is wrong, in a sentence."""
        if not self.line:
            return (
                f"{self.file} is too long or nested too deep to be compared with what is given; "
                f"at most {MAX_CODE >> 10} KB of code are read"
            )
        return (
            f"a given block is not an answer: {self.file}, {placed(self.line)}, uses code of the given "
            "blocks, which call torch.ops.aten"
        )

    def refuse(self, report: CheckReport) -> None:
        """Give a check no points; what it says of the numbers stays."""
        report.points = 0.0
        if report.status == "pass":
            report.status, report.message = "fail", f"right, but no points: {self.message()}"
        else:
            report.message = "\n".join(filter(None, (report.message, self.message())))


def find_block_use(source: Source, kata: Kata) -> BlockUse | None:
    """Return where a submission uses the pack's blocks as its answer.

    Raises:
        PackError: the pack's `blocks.py` cannot be read or cut.
    """
    if not blocks_in(kata.unit.pack):
        return None
    given = given_files(kata)
    free = {
        _dump(node) for name, data in given.items() if name.endswith(".py") for node in ast.parse(data).body
    }
    try:
        own = [node for node in _statements(source) if _dump(node) not in free]
    except (_TooLargeError, RecursionError, MemoryError):
        return BlockUse(source.path.name)
    except (SyntaxError, ValueError, UnreadableNotebook):
        return None  # Python does not load it either
    line = next((node.lineno for node in own if not _SPELLING.isdisjoint(_words(node))), 0)
    line = line or _line_that_leads_to_blocks(own, kata.required, source.path, given)
    return BlockUse(source.path.name, line) if line else None


def unrecognised(kata: Kata) -> list[str]:
    """Return the names of a kata's own blocks that could be handed in without being recognised."""
    bodies = [read_blocks(path).tree.body for path in blocks_in(kata.unit.pack)]
    there = {name: body for body in bodies for node in body for name in _bound(node)}
    words = {
        name: set().union(*_followed(there[name], [name]).values()) for name in kata.required if name in there
    }
    return [name for name, own in words.items() if _SPELLING.isdisjoint(own)]


class _TooLargeError(Exception):
    """Raised where a submission has more code than is parsed."""


def _statements(source: Source) -> list[ast.stmt]:
    if source.is_notebook:
        cells, _ = read_notebook(source.path.name, source.data)
        if sum(len(cell.source) for cell in cells) > MAX_CODE:
            raise _TooLargeError
        return statements(cells)
    if len(source.data) > MAX_CODE and len(_COMMENT.sub(b"", source.data)) > MAX_CODE:
        raise _TooLargeError
    return ast.parse(source.data).body


def _dump(node: ast.stmt) -> str | None:
    """Return a statement's syntax as text, without places; None where it is nested too deep to be one of ours."""
    try:
        return ast.dump(node)
    except RecursionError:
        return None


def _words(node: ast.AST) -> set[str]:
    """Return the names in a statement, and the words of its imports and texts, these also as `/word`."""
    parts = list(ast.walk(node))  # iterative, whatever the depth
    prose = {id(part.value) for part in parts if isinstance(part, ast.Expr)}  # docstrings
    found: set[str] = set()
    for part in parts:
        texts: Collection[str] = ()
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            if part.attr in ("eval", "compile"):
                continue  # model.eval() runs no text
            outside = isinstance(part.value, ast.Name) and part.value.id != "self"
            found.add("torch.ops" if part.attr == "ops" and outside else part.attr)
        elif isinstance(part, ast.alias):
            texts = ["torch.ops" if word == "ops" else word for word in part.name.split(".")]
        elif isinstance(part, ast.ImportFrom):
            texts = (part.module or "").split(".")
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in prose:
            texts = set(_WORD.findall(part.value))
            if re.search(r"\s", part.value):  # a sentence names no file
                texts = texts & _SPELLING
        found.update(texts, (f"/{word}" for word in texts))
    return found


def _line_that_leads_to_blocks(
    body: list[ast.stmt], required: Collection[str], submission: Path, given: Collection[str]
) -> int:
    """Return the first line by which a required name can reach a file of blocks beside it; 0 where none does."""
    followed = _followed(body, required)
    words = set[str]().union(*followed.values())
    files = {
        path.stem
        for path in _beside(submission, given)
        if words & {f"/{path.stem}", *_READS} and _has_blocks(path)
    }
    ways = files | _READS if files else set()
    return min((node.lineno for node, own in followed.items() if own & ways), default=0)


def _beside(submission: Path, given: Collection[str]) -> list[Path]:
    """Return the files in a submission's folder, without those that the grader replaces by its own."""
    found, left = [], MAX_BYTES_BESIDE
    for path in itertools.islice(submission.parent.rglob("*"), MAX_BESIDE):
        if path != submission and path.name not in given and path.is_file():
            left -= path.stat().st_size
            if left < 0:
                break
            found.append(path)
    return found


def _has_blocks(path: Path) -> bool:
    try:
        return re.search(rb"\baten\b", read_bounded(path, MAX_BYTES_BESIDE)) is not None
    except (OSError, ValueError):
        return False


def _followed(body: list[ast.stmt], required: Collection[str]) -> dict[ast.stmt, set[str]]:
    """Return the statements that required names lead to, with the words in each; every one is looked at once."""
    words = {node: _words(node) for node in body if not _is_main_guard(node)}
    by_name: dict[str, list[ast.stmt]] = defaultdict(list)
    for node in words:
        for name in _bound(node):
            by_name[name].append(node)
    # What executes text or writes into a namespace may bind any name.
    loose = [node for node in words if words[node] & _EXECUTES] + by_name.pop("*", [])
    names, followed = [*required, *(word for node in loose for word in words[node])], set(loose)
    while names:
        for node in by_name.pop(names.pop(), ()):
            if node not in followed:
                followed.add(node)
                names += words[node]
    return {node: words[node] for node in words if node in followed}


def _is_main_guard(node: ast.stmt) -> bool:
    """Whether this runs only where the file is started as a program, which the grader never does."""
    match node:
        case ast.If(ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]), orelse=[]):
            return True
    return False


def _bound(node: ast.stmt) -> set[str]:
    """Return the names of the module that a statement binds or changes; `*` where it does not say which."""
    found: set[str] = set()
    if isinstance(node, _DEFINITIONS):
        found = {node.name}
        found.update(name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names)
        return found
    for part in ast.walk(node):
        if isinstance(part, _DEFINITIONS):
            found.add(part.name)
        elif isinstance(part, ast.alias):
            found.add(part.asname or part.name.partition(".")[0])
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            found.update(inner.id for inner in ast.walk(part) if isinstance(inner, ast.Name))
    return found
