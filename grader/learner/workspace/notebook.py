"""The stub of a kata as a notebook: the same code, one definition a cell."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from grader.catalogue import Kata
from grader.data_files import read_text
from grader.errors import PackError

CHECK = "# Judges the cells that you ran.\n%reload_ext kata\n%kata check {}"
"""The last cell. Magics are not part of an answer."""


def notebook_text(kata: Kata) -> str:
    """Return the stub as a notebook (nbformat 4.5), the same text every time.

    Raises:
        PackError: the stub cannot be read.
    """
    import nbformat

    library: Any = nbformat  # typed in parts only

    try:
        source = read_text(kata.stub)
        introduction, cells = split_source(source)
    except (OSError, ValueError, SyntaxError) as error:
        raise PackError(f"{kata.stub}: the stub cannot be read ({error}).") from error
    # The lesson's heading says it; a stub's docstring begins with the same number and title.
    _, _, rest = (
        introduction.partition("\n\n") if introduction.startswith(kata.number) else ("", "", introduction)
    )
    lead = [
        *filter(None, [rest]),
        "Replace each `NotImplementedError`, run your cells and then the last one. If you are stuck: "
        f"`%kata hint {kata.slug}`. In a terminal, `kata check {kata.slug}` checks what is saved. Imports, definitions "
        "and simple assignments are graded; scratch cells are not.",
    ]
    # With an id of its own: nbformat draws others at random, and the file would differ each time.
    made: list[Any] = [library.v4.new_markdown_cell(kata.lesson_text(), id=f"{kata.slug[:48]}-lesson")]
    made.append(_cell(library.v4.new_markdown_cell, "\n\n".join(lead), kata, 0))
    made += [_cell(library.v4.new_code_cell, text, kata, place) for place, text in enumerate(cells, 1)]
    made.append(_cell(library.v4.new_code_cell, CHECK.format(kata.slug), kata, len(made)))
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook: Any = library.v4.new_notebook(cells=made, metadata=metadata)
    notebook.nbformat_minor = 5
    # Here, and not in the learner's editor, which says less of what is wrong.
    library.validate(notebook)
    return str(library.writes(notebook)) + "\n"


def split_source(source: str) -> tuple[str, list[str]]:
    """Return a module's docstring, and its code in cells: the imports, then one definition each.

    Comments and decorators stay with the definition below them; nothing of the code is lost.
    """
    lines = re.split(r"\r\n|\r|\n", source)  # the lines that Python counts; str.splitlines knows more
    tree = ast.parse(source)
    body = tree.body
    introduction = ast.get_docstring(tree)
    done = 0
    if introduction is not None:
        done = body[0].end_lineno or 0
        body = body[1:]
    cells: list[str] = []
    kinds: list[bool] = []
    for node in body:
        end = node.end_lineno or node.lineno
        chunk = "\n".join(lines[done:end])
        done = end
        definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if cells and not definition and not kinds[-1]:
            cells[-1] += "\n" + chunk
        else:
            cells.append(chunk)
            kinds.append(definition)
    rest = "\n".join(lines[done:])
    if rest.strip():
        cells.append(rest)
    return introduction or "", [cell.strip("\n") for cell in cells]


def is_notebook(path: Path) -> bool:
    """Return whether a submission's file is a notebook, by its name."""
    return path.suffix == ".ipynb"


def _cell(make: Any, source: str, kata: Kata, place: int) -> Any:
    # A fixed id instead of a random one: a notebook that nobody touched equals a fresh one.
    return make(source, id=f"{kata.slug[:48]}-{place}")
