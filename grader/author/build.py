"""Bundles: a pack as a wheel for learners and one for instructors, from the same sources."""

from __future__ import annotations

import ast
import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader import DISTRIBUTION, __version__
from grader.catalogue import Kata, Pack
from grader.catalogue.pack_code import marked_checks, read_tree
from grader.engine.mistakes.mistakes import slow_answers
from grader.errors import PackError
from grader.files import write_zip

Audience = Literal["learner", "instructor"]
SKIPPED = {"__pycache__"}
LONG_ENOUGH = 60
"""Squeezed characters from which a piece of the reference counts as the answer."""


@dataclass(frozen=True)
class BuiltPack:
    """A wheel that was built."""

    path: Path
    audience: Audience
    files: int


def build(pack: Pack, folder: Path, audience: Audience) -> BuiltPack:
    """Write the wheel of a pack into `folder` and return it; `pip install` adds it to the others.

    Raises:
        PackError: something of the solutions would reach a learner, or an instructor's pack has none.
    """
    contents = {f"katas/{path.relative_to(pack.root).as_posix()}": path for path in files_of(pack.root)}
    if audience == "learner":
        refuse_leaks(pack, contents)
    else:
        if pack.solutions is None:
            raise PackError(f"{pack.name} has no solutions here, so no instructor's bundle can be made.")
        solutions = pack.solutions
        units = {unit.folder.name for unit in pack.units}
        for path in files_of(solutions):
            # A folder of solutions may hold those of several packs.
            if path.relative_to(solutions).parts[0] in units:
                contents[f"solutions/{path.relative_to(solutions).as_posix()}"] = path
    suffix = "" if audience == "learner" else "-instructor"
    distribution = f"kata-pack-{pack.name}{suffix}"
    package = distribution.replace("-", "_")
    target = folder / f"{package}-{pack.version}-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    _write_wheel(target, distribution, package, pack, contents)
    return BuiltPack(target, audience, len(contents))


def refuse_leaks(pack: Pack, contents: dict[str, Path]) -> None:
    """Check that nothing of the solutions is among what learners get.

    Raises:
        PackError: a file is from the solutions, equals one, or holds a function of a reference or a slow answer.
    """
    if pack.solutions is None:
        return
    solutions = pack.solutions.resolve()
    secret = {_digest(path): path for path in files_of(solutions) if path.stat().st_size > 0}
    answers = [(kata, answer) for kata in pack.katas for answer in _answers(kata)]
    given = {path for kata in pack.katas for path in (*kata.given, *kata.support)}
    baselines = {kata.baseline for kata in pack.katas}
    for kata in pack.katas:
        if any(check.hidden for check in marked_checks(ast.walk(read_tree(kata.checks)))):
            raise PackError(f"{kata.checks} holds a hidden check; it must not reach learners.")
    for name, path in contents.items():
        if path.resolve().is_relative_to(solutions):
            raise PackError(f"{path} leads into the solutions; it must not reach learners.")
        if _digest(path) in secret:
            raise PackError(f"{path} equals {secret[_digest(path)]}; it must not reach learners.")
        if path.suffix in (".py", ".md", ".ipynb") and path not in given:  # blocks are given on purpose
            text = _squeezed(path.read_text(encoding="utf-8", errors="replace"))
            for kata, answer in answers:
                # A baseline has the parameters of its kata under their names, and two norms are built alike.
                if answer.body in text and not (path in baselines and answer.name == "__init__"):
                    raise PackError(f"{path} ({name}) holds a function of {answer.whose} of {kata.slug}.")


@dataclass(frozen=True)
class _Answer:
    """A function of a right answer."""

    whose: str
    name: str
    body: str
    """Squeezed."""


def _answers(kata: Kata) -> Iterator[_Answer]:
    """Yield the functions of the reference and of slow answers whose bodies the stub does not hold already."""
    if kata.solution is None:
        return
    stub = _squeezed(kata.stub.read_text(encoding="utf-8"))
    right = [("the reference", kata.solution.read_text(encoding="utf-8"))]
    right += [(f"the slow answer {slow.name}", slow.text) for slow in slow_answers(kata)]
    for whose, source in right:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                if body:
                    segment = "\n".join(source.splitlines()[body[0].lineno - 1 : body[-1].end_lineno])
                    piece = _squeezed(segment)
                    if len(piece) >= LONG_ENOUGH and piece not in stub:
                        yield _Answer(whose, node.name, piece)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"#[^\n]*", "", text))


def files_of(root: Path) -> list[Path]:
    """Return the files of a pack, or of its solutions, in order: nothing hidden, nothing compiled."""
    return [
        path
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not any(part in SKIPPED or part.startswith(".") for part in path.relative_to(root).parts)
    ]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_wheel(
    target: Path, distribution: str, package: str, pack: Pack, contents: dict[str, Path]
) -> None:
    info = f"{package}-{pack.version}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {pack.version}\n"
        f"Summary: {pack.title}\nRequires-Dist: {DISTRIBUTION}>={__version__}\n"
        f"Description-Content-Type: text/plain\n\n{pack.title}: a pack for Kata. Its katas are added to the others.\n"
    )
    wheel = "Wheel-Version: 1.0\nGenerator: kata pack build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    entry = f"[kata.packs]\n{pack.name} = {package}.katas\n"
    parts: dict[str, bytes] = {f"{package}/__init__.py": b""}
    parts.update({f"{package}/{name}": path.read_bytes() for name, path in contents.items()})
    parts[f"{info}/METADATA"] = metadata.encode()
    parts[f"{info}/WHEEL"] = wheel.encode()
    parts[f"{info}/entry_points.txt"] = entry.encode()
    # Of all but itself, as the format wants it; a warm process compares it to see whether a package
    # changed.
    record = "".join(f"{name},sha256={_record(data)},{len(data)}\n" for name, data in parts.items())
    parts[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    write_zip(target, parts)


def _record(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
