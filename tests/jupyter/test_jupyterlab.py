"""Kata 9.3.1 in JupyterLab, in Chromium: from the stub by way of a mistake to a pass. `make jupyter` runs it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import TESTS, Run
from tests.jupyter import lab
from tests.pages.test_browser import CONTRAST, READABLE
from tests.standby.conftest import Place, a_place, wait_for

ANSWER = (TESTS.parent / "solutions" / "9.3-encoder-vs-decoder" / "masks" / "masks.py").read_text()
RIGHT = {
    node.name: ast.get_source_segment(ANSWER, node) or ""
    for node in ast.parse(ANSWER).body
    if isinstance(node, ast.FunctionDef)
}
LATE = RIGHT["causal_mask"].replace("key <= query", "key <= query + 1")
CHECK = "%kata check masks"

pytestmark = pytest.mark.skipif(
    not lab.PYTHON.exists(), reason="no JupyterLab here; make jupyter installs it beside"
)


@pytest.fixture
def place() -> Iterator[Place]:
    with a_place() as made:
        yield made


@pytest.fixture
def started(folder: Path, place: Place, kata_process: Run) -> Path:
    """Of a learner who has just typed `kata start masks --notebook`."""
    assert kata_process("start", "masks", "--notebook", cwd=folder).code == 0
    return next(folder.rglob("masks.ipynb"))


@pytest.fixture
def notebook(
    browser: Any, started: Path, folder: Path, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[lab.Notebook]:
    monkeypatch.delenv("KATA_WARM")
    monkeypatch.delenv("CI", raising=False)
    own = tmp_path / "jupyter"
    own.mkdir()
    with lab.serving(folder, own, XDG_RUNTIME_DIR=str(place.folder)) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        yield lab.open_notebook(page, address, str(started.relative_to(folder)))
        page.close()


def test_from_the_stub_to_a_pass(
    notebook: lab.Notebook, started: Path, place: Place, kata_process: Run
) -> None:
    notebook.run_all()
    check = notebook.cell(CHECK)
    assert "not started" in notebook.shown(check)
    for name, source in {**RIGHT, "causal_mask": LATE}.items():
        cell = notebook.cell(f"def {name}(")
        notebook.write(cell, source)
        notebook.run(cell)
    wrong = notebook.run(check)
    assert "9/10 points" in wrong
    assert "shifted one position late" in wrong
    assert "reload" not in wrong  # nothing but the verdict
    assert "%kata try masks -k test_causal_values" in wrong
    assert check.locator("svg[role=img] rect").count() == 2 * 4 * 4
    for theme in lab.THEMES:
        notebook.dress(theme)
        assert lab.contrast_below(check, CONTRAST, READABLE) == []
        assert lab.contrast_below(check, CONTRAST, 22.0), "the measure itself can fail"
    wait_for(place.standing)
    notebook.write(notebook.cell("def causal_mask("), RIGHT["causal_mask"])
    notebook.run(notebook.cell("def causal_mask("))
    served = sum(one.served for one in place.standing())
    assert "10/10 points   ✔ passed" in notebook.run(check)
    assert sum(one.served for one in place.standing()) == served + 1
    notebook.save()
    wait_for(lambda: LATE not in (book := started.read_text()) and "10/10" in book)
    cells = json.loads(started.read_text())["cells"]
    typed = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert set(RIGHT.values()) < set(typed)  # as it was typed: the editor has indented and closed nothing
    assert "10/10" in kata_process("check", "masks", "-q", cwd=started.parents[2]).out
