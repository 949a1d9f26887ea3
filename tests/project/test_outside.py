"""The table of others' tests is about mistakes that we have, under names that both have."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from grader.engine.mistakes.mistakes import mistakes
from tests import ours

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in [name for name in sys.modules if name.partition(".")[0] == "published"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "outside", raising=False)
    return importlib.import_module("outside")


def test_every_part_has_mistakes(outside: ModuleType) -> None:
    for part in outside.PARTS:
        kata = ours.katas()[part.kata]
        found = [mistake for mistake in mistakes(kata) if outside.belongs(mistake.changed, part)]
        assert len(found) > 10, part.title
        assert part.task or part.tests, part.title


@pytest.mark.slow
def test_an_answer_passes_by_their_tests_alone(outside: ModuleType, tmp_path: Path) -> None:
    tasks = tmp_path / "torch_judge" / "tasks"
    tasks.mkdir(parents=True)
    code = "import torch\nassert abs({fn}(torch.ones(1)).item() - 0.8413) < 1e-3\n"
    (tasks / "gelu.py").write_text(
        f"TASK = {{'function_name': 'my_gelu', 'tests': [{{'code': {code!r}}}]}}\n"
    )
    [part] = [part for part in outside.PARTS if part.task == "gelu"]
    answers = {
        "right": "import torch\ndef gelu(x):\n    return torch.nn.functional.gelu(x)\n",
        "wrong": "def gelu(x):\n    return x\n",
        "ends": "import os\ndef gelu(x):\n    os._exit(0)\n",
        "no code": "def gelu(:\n",
    }
    passed = {
        name: outside.passes(outside.passes_torchcode, tmp_path, part, text) for name, text in answers.items()
    }
    assert passed == {"right": True, "wrong": False, "ends": False, "no code": False}


def test_what_is_missing_is_said_and_the_table_stays(
    outside: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "TorchCode").mkdir()
    page = (BENCHMARKS.parent / "docs" / "outside.md").read_text()
    monkeypatch.setattr(sys, "argv", ["outside.py", str(tmp_path), "--write"])
    with pytest.raises(SystemExit, match="clone what is missing"):
        outside.main()
    assert f"missing: {tmp_path / 'assignment1-basics'}; git clone" in capsys.readouterr().err
    assert (BENCHMARKS.parent / "docs" / "outside.md").read_text() == page
