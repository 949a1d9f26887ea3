"""What a notebook has run, as an answer to one kata: which cells are one, and what is said of it."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.catalogue import Kata

SAVED = "Checked: what is saved."


def as_notebook(cells: Sequence[str]) -> bytes:
    """Return cells as a notebook's file, numbered as the notebook numbers them.

    So a message's cell is the one with [n] next to it.
    """
    book = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
    }
    return json.dumps(book).encode()


def cells_of(notebook: bytes) -> list[str]:
    """Return the cells of what `as_notebook` made."""
    return [cell["source"] for cell in json.loads(notebook)["cells"]]


def should_judge_cells(kata: Kata | None, cells: Sequence[str]) -> tuple[bool, str]:
    """Return whether these cells are to be judged, and not what is saved; and the sentence that says so.

    They are where they define something that the kata asks for; None: it is not about one kata.
    """
    if kata is None:
        return False, SAVED
    made, hidden = _made(cells)
    if not made & set(kata.required):
        hint = [f" But {hidden[name]}." for name in kata.required if name in hidden][:1]
        return False, f"{SAVED} No cell that you ran defines {', '.join(kata.required)}.{''.join(hint)}"
    return True, "Checked: the cells that you ran. Cell numbers in messages are those in [ ]."


def _made(cells: Sequence[str]) -> tuple[set[str], dict[str, str]]:
    """Return the names that cells make, as far as answers go, and those that a magic hides, each with a sentence."""
    from grader.notebooks import DEFINITIONS, parse_cell

    made: set[str] = set()
    hidden: dict[str, str] = {}
    for number, cell in enumerate(cells, 1):
        try:
            parsed = parse_cell("cell", number, cell)
        # A cell that cannot be parsed makes nothing, and the others may be the answer all the same.
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        hidden |= parsed.hidden()
        for node in parsed.tree.body:
            if isinstance(node, DEFINITIONS):
                made.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                made |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.Assign):
                made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return made, hidden
