"""Build the course: an instructor's notebook, its release, and a notebook for each submission.

    python build.py COURSE SUBMISSIONS         SUBMISSIONS holds one LEARNER.py for each learner

What a learner wrote goes into the one cell that is the learner's; the twelve test cells are nbgrader's own, read-only.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import assertions
import nbformat
from nbformat.v4 import new_code_cell, new_notebook

ASSIGNMENT, NOTEBOOK = "parts", "parts.ipynb"
SOLUTION = "### BEGIN SOLUTION\npass\n### END SOLUTION"


def instructor() -> nbformat.NotebookNode:
    """Return the notebook with one cell for the answer, one with helpers, and twelve test cells."""
    answer = new_code_cell(SOLUTION, metadata=_nbgrader("answer", solution=True))
    helpers = (
        "from types import SimpleNamespace\n" + inspect.getsource(assertions).partition("def mask_shape")[0]
    )
    cells = [answer, new_code_cell(helpers, metadata=_nbgrader("helpers", locked=True))]
    for one in assertions.ASSERTIONS:
        test = f"{inspect.getsource(one)}\n{one.__name__}(SimpleNamespace(**globals()))"
        cells.append(new_code_cell(test, metadata=_nbgrader(one.__name__, grade=True, locked=True, points=1)))
    for cell in cells:
        cell["id"] = cell.metadata.nbgrader.grade_id.replace("_", "-")
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": spec})


def _nbgrader(name: str, **of: object) -> dict[str, object]:
    facts = {
        "grade": False,
        "locked": False,
        "solution": False,
        "task": False,
        "schema_version": 3,
        "grade_id": name,
    }
    return {"nbgrader": {**facts, **of}}


def main(course: Path, submissions: Path) -> None:
    """Write source, release and submissions."""
    source = course / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    nbformat.write(instructor(), source / NOTEBOOK)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", ASSIGNMENT]
    subprocess.run(command, cwd=course, check=True, capture_output=True)
    released = nbformat.read(course / "release" / ASSIGNMENT / NOTEBOOK, as_version=4)
    for file in sorted(submissions.glob("*.py")):
        folder = course / "submitted" / file.stem / ASSIGNMENT
        folder.mkdir(parents=True)
        released.cells[0].source = file.read_text(encoding="utf-8")
        nbformat.write(released, folder / NOTEBOOK)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
