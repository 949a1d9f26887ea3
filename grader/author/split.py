"""A kata written once: `source.py` becomes stub and reference, `checks.py` next to it visible and hidden checks.

Both lie in the solution's folder, which no learner gets and no submission can read. What is made of them has its usual
place, so nothing else needs to know that they exist.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from grader.catalogue.catalogue import SOLUTIONS
from grader.catalogue.file_types import KataFile
from grader.catalogue.load import KATA_FILE
from grader.catalogue.pack_code import defined_names, marked_checks, read_tree
from grader.data_files import read_data
from grader.errors import PackError
from grader.files import write_atomic

SOURCE = "source.py"
CHECKS = "checks.py"
HIDDEN = "hidden_checks.py"
MADE = "# Made by `kata pack check` from {}: change that file instead.\n"
_MARKER = re.compile(r"(?P<indent>[ \t]*)# (?P<which>BEGIN|END) SOLUTION[ \t]*")


def split_pack(root: Path) -> None:
    """Write stub, reference and checks of each kata that is written once, where they are not as they should be.

    Raises:
        PackError: a source cannot be split.
    """
    for source in sorted((root.parent / SOLUTIONS).glob(f"*/*/{SOURCE}")):
        solution = source.parent
        folder = root / solution.parent.name / solution.name
        if not (folder / KATA_FILE).is_file():  # of another pack next to this one
            continue
        module = f"{read_data(folder / KATA_FILE, KataFile).module}.py"
        stub, reference = split_source(source)
        _keep(folder / module, stub)
        _keep(solution / module, MADE.format(SOURCE) + reference)
        if (solution / CHECKS).is_file():
            visible, hidden = split_checks(solution / CHECKS)
            made = MADE.format(f"{CHECKS} of its solution")
            _keep(folder / CHECKS, made + visible)
            _keep(solution / HIDDEN, made + hidden if hidden else "")


def _keep(path: Path, text: str) -> None:
    """Make a file hold this text; nothing is written where it does already, nor is it there without any."""
    if not text:
        path.unlink(missing_ok=True)
    elif not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomic(path, text)


def split_source(path: Path) -> tuple[str, str]:
    """Return the stub and the reference: without what is between the markers, and without the markers.

    Raises:
        PackError: it is not Python, or its markers are not pairs.
    """
    tree, stub, reference = read_tree(path), [], []
    begun = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        marker = _MARKER.fullmatch(line.rstrip("\r\n"))
        if marker is None:
            reference.append(line)
            if not begun:
                stub.append(line)
        elif (marker["which"] == "END") != bool(begun):
            raise PackError(f"{path}, line {number}: this marker has no partner before it, or two.")
        else:
            begun = 0 if begun else number
            if begun and (name := _function_at(tree, number)):
                # With the name, by which the grader tells what is not written yet from what is wrong.
                stub.append(f'{marker["indent"]}raise NotImplementedError("{name}")\n')
    if begun:
        raise PackError(f"{path}, line {begun}: # BEGIN SOLUTION without # END SOLUTION.")
    # Most likely a marker was misspelled, and the answer would be handed out.
    if stub == reference:
        raise PackError(
            f"{path} marks no solution, so learners would get all of it.",
            "Write # BEGIN SOLUTION and # END SOLUTION around what they have to find.",
        )
    return "".join(stub), "".join(reference)


def _function_at(tree: ast.Module, line: int) -> str:
    """Return the name of the function that a line is in, "" where it is in none: nothing may raise there."""
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno < line <= (node.end_lineno or 0)
    ]
    return max(inside, key=lambda node: node.lineno).name if inside else ""


def split_checks(path: Path) -> tuple[str, str]:
    """Return the visible checks and the hidden ones, each with the helpers that they need; "" if none is hidden.

    Raises:
        PackError: it is not Python, a hidden check is inside of something else, or uses a visible one.
    """
    tree = read_tree(path)
    hidden = {check.name for check in marked_checks(tree.body) if check.hidden}
    visible = {check.name for check in marked_checks(tree.body)} - hidden
    for node in tree.body:
        own = visible if defined_names(node) & visible else hidden if defined_names(node) & hidden else set()
        if own and (others := (visible | hidden) - own & _used(node)):
            raise PackError(
                f"{path}, line {node.lineno}: this check names {min(others)}, which will be in another file.",
                "Write the name in quotes.",
            )
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    shown = "".join(_without(tree, lines, hidden))
    # One within an `if` or a class has no name of its own at the top, and would be left where learners see it.
    if any(check.hidden for check in marked_checks(ast.walk(ast.parse(shown)))):
        raise PackError(f"{path}: a hidden check must be at the top level of the file.")
    return shown, "".join(_without(tree, lines, visible)) if hidden else ""


def _without(tree: ast.Module, lines: list[str], names: set[str]) -> Iterator[str]:
    """Yield the lines without these functions, and without the helpers that they alone use."""
    left_out = [node for node in tree.body if defined_names(node) & names]
    remaining = [node for node in tree.body if node not in left_out]
    while helpers := [node for node in remaining if _serves_only(node, left_out, remaining)]:
        left_out += helpers
        remaining = [node for node in remaining if node not in helpers]
    start = 0
    for node in tree.body:
        # A statement has the comments and blank lines before it: what they say of a hidden check is hidden as well.
        end = node.end_lineno or start
        if node in remaining:
            yield from lines[start:end]
        start = end
    yield from lines[start:] if tree.body and tree.body[-1] in remaining else ()


def _serves_only(node: ast.stmt, left_out: list[ast.stmt], remaining: list[ast.stmt]) -> bool:
    names = defined_names(node)
    others = (part for part in remaining if part is not node)
    return any(names & _used(part) for part in left_out) and not any(names & _used(part) for part in others)


def _used(node: ast.stmt) -> set[str]:
    """Return the names that a statement uses; a parameter may be a fixture's name."""
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return used | {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
