"""Notebooks for hosted services: what is in them, and what their cells say, run by real kernels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.notebooks import played, typed
from grader.catalogue.markdown import PICTURE
from tests import ours
from tests.conftest import invoke

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("colab")]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("made") / "notebooks"
    done = invoke("pack", "bundle", "colab", "masks", "encoder-layer", "--out", str(target))
    assert done.code == 0, done.text
    assert "no hidden check and no answer" in done.text
    return target


def test_a_notebook_holds_the_kata_and_no_answer(bundle: Path) -> None:
    assert len([*(bundle / "wheels").glob("tensor_kata-*.whl")]) == 1
    assert (bundle / "README.md").read_text().count("colab-badge.svg") == 2
    for slug in ("masks", "encoder-layer"):
        kata = ours.katas()[slug]
        assert kata.solution is not None
        text = (bundle / f"{kata.module}.ipynb").read_text()
        cells = json.loads(text)["cells"]
        sources = ["".join(cell["source"]) for cell in cells]
        assert sources[0].startswith("#@title Run this first")
        assert not any("@" + word in sources[0] for word in ("VERSION@", "GIVEN@", "SLUG@"))
        assert [re.search(r"%kata (\w+)", source)[1] for source in sources[-4:]] == [
            "check",
            "try",
            "hint",
            "demo",
        ]  # type: ignore[index]
        (lesson,) = [source for source in sources if source.startswith("# ")]
        assert lesson.count("data:image/svg+xml;base64,") == len(PICTURE.findall(kata.lesson.read_text())) > 0
        stub = kata.stub.read_text() + kata.lesson.read_text()
        long = [
            line for line in kata.solution.read_text().splitlines() if len(line) > 60 and "import" not in line
        ]
        assert not [line for line in long if line.strip() not in stub and json.dumps(line)[1:-1] in text]


@pytest.fixture
def play(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a notebook with an answer, and cells before it, where Kata is installed already and nothing can be."""
    pytest.importorskip("ipykernel")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")

    def run(module: str, answer: str | None, *before: str, without_first: bool = False) -> Any:
        import nbformat

        book = typed(bundle / f"{module}.ipynb", answer)
        new: Any = nbformat.v4.new_code_cell
        book.cells = [new(cell) for cell in before] + book.cells[without_first:]
        folder = tmp_path / "notebook"
        folder.mkdir()
        return played(book, folder, "python3")

    return run


def test_a_right_answer_passes_and_every_cell_runs(play: Callable[..., Any]) -> None:
    solution = ours.katas()["masks"].solution
    assert solution is not None
    status, named, _, errors = play("masks", solution.read_text())
    assert (status, named, errors) == ("pass", [], [])


@pytest.mark.nightly
def test_what_is_given_is_there_and_a_stub_is_not_started(play: Callable[..., Any], tmp_path: Path) -> None:
    status, named, _, errors = play("encoder_layer", None)
    assert (status, named, errors) == ("not_started", [], [])
    assert (tmp_path / "notebook" / "blocks.py").is_file()


def test_without_a_network_it_is_said_and_nothing_is_lost(play: Callable[..., Any]) -> None:
    other = (
        "import importlib.metadata, subprocess\nimportlib.metadata.version = lambda name: '0.0'\n"
        "subprocess.run = lambda *_, **__: subprocess.CompletedProcess([], 1, '', 'no network')"
    )
    _, _, _, errors = play("masks", None, other)
    assert "could not be installed; what you wrote in this notebook is safe" in errors[0]
    assert "Run this cell again later" in errors[0]


def test_without_the_first_cell_the_others_say_to_run_it(play: Callable[..., Any]) -> None:
    absent = (
        "import sys\nclass Absent:\n    def find_spec(self, name, *_):\n        if name == 'kata':\n"
        "            raise ModuleNotFoundError(name)\nsys.meta_path.insert(0, Absent())"
    )
    _, _, _, errors = play("masks", None, absent, without_first=True)
    told = [error for error in errors if "run the first cell of this notebook" in error]
    assert len(told) == 4
