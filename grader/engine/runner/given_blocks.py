"""Find given blocks that are handed in as an answer, by a spelling that nobody uses to write one.

`blocks.py` answers earlier katas, so its code calls operators as `torch.ops.aten.…`: the same kernels, and no
honest answer names them. A submission whose required names lead to such a call, or to a file next to it that holds
one, earns nothing. Only syntax trees are read. An operator that the kata excludes is left to that rule ("from
scratch"). Copies that were rewritten by hand are left to `kata similar`, which compares hand-ins with the blocks.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.catalogue import Kata
from grader.catalogue.given import BLOCKS, blocks_in, given_files
from grader.catalogue.torch_names import Excluded
from grader.data_files import read_bounded
from grader.engine.host.limits import Terms
from grader.engine.host.names import MAX_CODE, Reader, TooMuchError
from grader.engine.host.source import Source, read_source
from grader.notebooks import placed
from grader.report.report import CheckReport

MAX_BESIDE, MAX_BYTES_BESIDE = 1000, 64 << 20
"""Entries of the submission's folder that are looked at, and what is read of them."""

_SPELLING = re.compile(r"\baten\b")
_COMMENT = re.compile(rb"^[ \t\f]*(#[^\r\n]*)?(\r\n|\r|\n)", re.MULTILINE)
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
                f"at most {MAX_CODE // 1000} KB are read"
            )
        return (
            f"a given block is not an answer: {self.file}, {placed(self.line)}, uses code of the given "
            "blocks, which call torch.ops.aten"
        )

    def void_points(self, report: CheckReport) -> None:
        """Give a check no points; what it says of the numbers stays."""
        report.points = 0.0
        if report.status == "pass":
            report.status, report.message = "fail", f"right, but no points: {self.message()}"
        else:
            report.message = "\n".join(filter(None, (report.message, self.message())))


def find_block_use(source: Source, kata: Kata, terms: Terms) -> BlockUse | None:
    """Return where a submission uses the pack's blocks as its answer.

    Raises:
        PackError: the pack's `blocks.py` cannot be read or cut.
    """
    if not blocks_in(kata.unit.pack):
        return None
    if len(source.data) > MAX_CODE and not source.is_notebook:
        # Comments do not count against the bound: a learner's notes do not hide anything.
        source = replace(source, data=_COMMENT.sub(b"", source.data))
    given, free = _given(kata)
    excluded = Excluded(terms.forbid)
    blocks = functools.cache(lambda: [path.stem for path in _beside(source.path, given) if _has_blocks(path)])
    uses = (
        BlockUse(title.removesuffix(", ") or source.path.name, line)
        for title, node, names in Reader(source, replace(terms, within=())).required_parts()
        if _dump(node) not in free
        for line in _block_lines(node, names, excluded, _leads_to_file(node, blocks))
    )
    try:
        return next(uses, None)
    except (TooMuchError, RecursionError, MemoryError):
        # What is too much to be read earns nothing: else length would be the way around this.
        return BlockUse(source.path.name)


@functools.cache
def _given(kata: Kata) -> tuple[frozenset[str], frozenset[str | None]]:
    """Return the names of the files that a kata is given, and its blocks' definitions, which may be copied."""
    files = given_files(kata)
    return frozenset(files), frozenset(_dump(node) for node in ast.parse(files.get(BLOCKS, b"")).body)


def unrecognised(kata: Kata) -> list[str]:
    """Return the names of a kata's own blocks that could be handed in without being recognised."""
    found = []
    for path in blocks_in(kata.unit.pack):
        for name in kata.required:
            parts = [*Reader(read_source(path), Terms("blocks", (name,))).required_parts()]
            # By their spelling alone are blocks known: one without an operator could be handed in.
            if parts and not any(_is_operator(one) for _, _, names in parts for one, _ in names):
                found.append(name)
    return found


def _block_lines(
    node: ast.stmt, names: list[tuple[str, int]], excluded: Excluded, leads_to_file: bool
) -> Iterator[int]:
    """Yield the lines of a statement that lead to a block: by an operator, code in a text, or a file."""

    def is_ours(words: str) -> bool:
        return not any(excluded.is_of(word) for word in re.findall(r"\w+", words))

    yield from (line for name, line in names if _is_operator(name) and is_ours(name))
    prose = {part.value for part in ast.walk(node) if isinstance(part, ast.Expr)}  # docstrings
    for part in ast.walk(node):
        text = part.value if isinstance(part, ast.Constant) and part not in prose else None
        if isinstance(text, str) and _SPELLING.search(text) and is_ours(text):
            yield node.lineno
    if leads_to_file:
        yield node.lineno


def _is_operator(name: str) -> bool:
    return name.startswith("torch.ops.aten.")


def _dump(node: ast.stmt) -> str | None:
    """Return a statement's syntax as text, without places; None where it is nested too deep to be one of ours."""
    try:
        return ast.dump(node)
    except RecursionError:
        return None


def _leads_to_file(node: ast.stmt, blocks: Callable[[], Collection[str]]) -> bool:
    """Whether a statement imports or names a file of blocks next to the submission, or may read it by a name."""
    stems = {word for part in ast.walk(node) for word in _file_words(part)}
    literal = {part.func for part in ast.walk(node) if isinstance(part, ast.Call) and _says_its_file(part)}
    attributes = {
        part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and part not in literal
    }
    attributes.discard("eval")  # model.eval() reads nothing
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part not in literal}
    reads = _READS & (attributes | names)
    return bool(reads and blocks()) or bool(stems and not stems.isdisjoint(blocks()))


def _says_its_file(call: ast.Call) -> bool:
    """Return whether what is read is written out, as in `__import__("math")`: `_file_words` sees which it is."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    first = call.args[0] if call.args else None
    return name in ("open", "__import__", "import_module") and isinstance(getattr(first, "value", None), str)


def _file_words(part: ast.AST) -> list[str]:
    """Return what may name a file: modules that are imported, and texts that are not a sentence."""
    if isinstance(part, ast.alias):
        return part.name.split(".")
    if isinstance(part, ast.ImportFrom):
        return (part.module or "").split(".")
    if isinstance(part, ast.Constant) and isinstance(part.value, str) and not re.search(r"\s", part.value):
        return re.findall(r"\w+", part.value)
    return []


def _beside(submission: Path, given: Collection[str]) -> list[Path]:
    """Return the files in a submission's folder, without those that the grader replaces by its own."""
    found, left = [], MAX_BYTES_BESIDE
    # Bounded: the folder may be a home.
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
