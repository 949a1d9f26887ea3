"""What a kata is given: files as they are, and `blocks.py`, cut so that it holds what earlier katas answer and no more.

This is the one place that decides it: workspaces, grading processes, digests and pack validation all ask here. The
source holds `blocks.py` once; nothing in it is imported.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.catalogue.adapters import Adapter
from grader.catalogue.katas import Kata, Pack
from grader.catalogue.pack_code import defined_names, parsed
from grader.data_files import read_bytes, read_text
from grader.errors import PackError

BLOCKS = "blocks.py"
"""The given file that holds answers: under the names of earlier katas, thin over the library's own operators."""
SHIMS = "shim"
"""The folder of the shim among the given files."""
LIMIT_BYTES = 10_000_000


@dataclass(frozen=True, eq=False)
class Blocks:
    """What one kata gets of a `blocks.py`."""

    path: Path
    data: bytes
    names: frozenset[str]
    """What it defines."""
    shows: tuple[Kata, ...]
    """The katas whose answers it holds, all of them earlier than the one that it is given to."""


def given_files(kata: Kata) -> dict[str, bytes]:
    """Return what is next to the stub of a kata, by the files' names.

    Raises:
        PackError: a file cannot be read, or `blocks.py` cannot be cut.
    """
    found = {path.name: read_bytes(path, LIMIT_BYTES) for path in kata.given}
    blocks = blocks_of(kata)
    if blocks is not None:
        found[BLOCKS] = blocks.data
    if kata.adapter is not None:
        found[shim_in(kata.adapter)] = read_bytes(kata.adapter.shim, LIMIT_BYTES)
    return found


def shim_in(adapter: Adapter) -> str:
    """Return where a shim is among the given files: in a folder, as a learner's own file may have its name."""
    return f"{SHIMS}/{adapter.shim.name}"


def blocks_of(kata: Kata) -> Blocks | None:
    """Return the blocks that a kata is given; None when it is given none.

    A definition that answers this kata or a later one is left out, and with it the private helpers that only it needs.

    Raises:
        PackError: `blocks.py` cannot be read, is not valid Python, or builds an earlier answer on a later one.
    """
    path = next((path for path in kata.given if path.name == BLOCKS), None)
    if path is None:
        return None
    source = read_blocks(path)
    katas = kata.unit.pack.katas
    answered = {name for other in katas if other.key < kata.key for name in other.required}
    # A name that an earlier kata answers stays open, also where a later one asks for it once more.
    closed = {name for other in katas if other.key >= kata.key for name in other.required} - answered
    left_out = source.without(closed | set(kata.required), f"{kata.number} {kata.slug}")
    shows = tuple(
        other for other in katas if other.key < kata.key and not left_out.names.isdisjoint(other.required)
    )
    return Blocks(path, left_out.text.encode("utf-8"), left_out.names, shows)


def block_of(kata: Kata) -> str | None:
    """Return how the blocks of later katas answer this one and no other; None where they do not.

    Raises:
        PackError: `blocks.py` cannot be read, or is not valid Python.
    """
    for path in blocks_in(kata.unit.pack):
        source = read_blocks(path)
        if not source.names.isdisjoint(kata.required):
            others = {name for other in kata.unit.pack.katas for name in other.required} - {*kata.required}
            return source.of(kata.required, closed=others).text
    return None


def blocks_in(pack: Pack) -> list[Path]:
    """Return every `blocks.py` that some kata of a pack is given, each once."""
    return list(dict.fromkeys(path for kata in pack.katas for path in kata.given if path.name == BLOCKS))


def read_blocks(path: Path) -> BlocksSource:
    """Read a `blocks.py`.

    Raises:
        PackError: it cannot be read, or is not valid Python.
    """
    text = read_text(path, LIMIT_BYTES)
    return BlocksSource(path, text, parsed(path, text))


@dataclass(frozen=True, eq=False)
class BlocksSource:
    """A `blocks.py` as text and as a tree."""

    path: Path
    text: str
    tree: ast.Module

    @cached_property
    def names(self) -> frozenset[str]:
        """What it defines."""
        return frozenset(name for node in self.tree.body for name in defined_names(node))

    def without(self, closed: Collection[str], whose: str) -> BlocksSource:
        """Return the text without what `closed` names and without what then serves nobody.

        Raises:
            PackError: what stays would need something that goes.
        """
        homes = {name: node for node in self.tree.body for name in defined_names(node)}
        gone = {homes[name] for name in closed if name in homes}
        needs = {node: _names_in(node) & homes.keys() for node in self.tree.body}
        # A private helper stays for what needs it, and so does what that one needs.
        private = {
            node for node in set(homes.values()) if all(name[0] == "_" for name in defined_names(node))
        }
        needed = {node for node in self.tree.body if node not in gone and node not in private}
        ahead = list(needed)
        while ahead:
            node = ahead.pop()
            for name in sorted(needs[node]):
                home = homes[name]
                if home in gone:
                    raise PackError(
                        f"{self.path}, line {node.lineno}: it uses {name}, which {whose} must not be given.",
                        "A block may use only what the same katas are given; else a later block would be given away.",
                    )
                if home not in needed:
                    needed.add(home)
                    ahead.append(home)
        return self._only(needed)

    def of(self, names: Collection[str], *, closed: Collection[str]) -> BlocksSource:
        """Return the text with the definitions of these names, the imports, and what they need but for `closed`."""
        homes = {name: node for node in self.tree.body for name in defined_names(node)}
        imports = [node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        needed = {homes[name] for name in names if name in homes}
        ahead = list(needed)
        while ahead:
            for name in sorted((_names_in(ahead.pop()) & homes.keys()) - {*closed}):
                if homes[name] not in needed:
                    needed.add(homes[name])
                    ahead.append(homes[name])
        return self._only(needed | set(imports))

    def _only(self, needed: Collection[ast.stmt]) -> BlocksSource:
        """Cut the other statements out, each with the comments above it."""
        # The lines that Python counts; str.splitlines knows more.
        lines = io.StringIO(self.text, newline="").readlines()
        pieces, end = [], 0
        for node in self.tree.body:
            last = node.end_lineno or node.lineno
            if node in needed:
                pieces.append("".join(lines[end:last]))
            end = last
        text = "".join(pieces).rstrip("\n") + "\n"
        return self if text == self.text else BlocksSource(self.path, text, ast.parse(text))


def _names_in(node: ast.stmt) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
