"""What everybody was given, and what the pack knows: neither makes two hand-ins alike."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.api import Kata, Piece, Words, blocks_in, defined_names, given_files, read_bounded
from grader.extras.similar.fingerprints import all_hashes

LIMIT_BYTES = 1 << 20
_OPERATOR = re.compile(rb"\baten\.(\w+)(?:\.default\b)?")
_FENCED = re.compile(r"^(```|~~~)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class PackText:
    """A file of the pack."""

    name: str
    digest: str
    """SHA-256."""
    words: Words


def given(kata: Kata) -> list[PackText]:
    """Return what every learner has in front of them: the stub, what is given, the code in lessons and hints."""
    files = [("the stub", read_bounded(kata.stub, LIMIT_BYTES))]
    files += [(f"given file {name}", data) for name, data in given_files(kata).items()]
    files += [(f"given file {path.name}", read_bounded(path, LIMIT_BYTES)) for path in kata.support]
    found = [_python(name, data) for name, data in files if not name.endswith((".md", ".ipynb"))]
    folder, unit = kata.folder, kata.unit.folder
    lessons = [*folder.glob("*.md"), *unit.glob("*.md"), *folder.glob("demo.py")]
    return found + [_lesson(path) for path in sorted(lessons)]


def catalogued(kata: Kata) -> list[PackText]:
    """Return the right answers that the pack knows, and the blocks that are given in place of answers."""
    paths = [("the reference", kata.solution)] if kata.solution is not None else []
    paths += [(f"the alternative {path.stem}", path) for path in kata.alternatives]
    found = [_python(name, read_bounded(path, LIMIT_BYTES)) for name, path in paths]
    return found + [text for path in blocks_in(kata.unit.pack) for text in _blocks(path, kata)]


def _blocks(path: Path, kata: Kata) -> list[PackText]:
    """Return the given blocks as they look when their operators are renamed: all of them, and this kata's answers.

    Handed in as they are, they earn nothing.
    """
    data = read_bounded(path, LIMIT_BYTES)
    # As somebody would write them who hands a block in under ordinary names.
    body = ast.parse(_OPERATOR.sub(rb"torch.\1", data)).body
    names = {node: set(defined_names(node)) for node in body}
    answers = [node for node in body if names[node].intersection(kata.required) or not names[node]]
    texts = []
    # In a file of its own, an answer imports the blocks that it builds on, so these are names from outside
    # there.
    for part in (body, answers):
        words = Words()
        words.add([Piece(part)])
        texts.append(PackText(f"the given blocks {path.name}", _digest(data), words))
    return texts


def foreign_names(kata: Kata) -> frozenset[str]:
    """Return names of files that are next to an answer and are not part of it."""
    others = {other.module for other in kata.unit.pack.katas} - {kata.module}
    return frozenset(
        {f"{name}{suffix}" for name in others for suffix in (".py", ".ipynb")}
        | {path.name for path in (*kata.given, *kata.support)}
        | {path.name for path in blocks_in(kata.unit.pack)}
    )


def hashes_of(texts: Iterable[PackText]) -> set[int]:
    """Return the hash of every span of the texts."""
    return {value for text in texts for value in all_hashes(text.words)[0].tolist()}


def _python(name: str, data: bytes) -> PackText:
    return PackText(name, _digest(data), _words([data]))


def _lesson(path: Path) -> PackText:
    data = read_bounded(path, LIMIT_BYTES)
    if path.suffix == ".py":
        return _python(path.name, data)
    fenced = (found[2] for found in _FENCED.finditer(data.decode("utf-8", "replace")))
    return PackText(path.name, _digest(data), _words(fenced))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _words(pieces: Iterable[bytes | str]) -> Words:
    words = Words()
    words.add([Piece(tree.body) for tree in _parsed(pieces)])
    return words


def _parsed(pieces: Iterable[bytes | str]) -> Iterator[ast.Module]:
    for piece in pieces:
        try:
            yield ast.parse(piece)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # an excerpt, or no Python at all: then no learner's code is it
