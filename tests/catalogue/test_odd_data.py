"""Data files with numbers of thousands of digits, or nested thousands deep, are refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.catalogue.file_types import KataFile
from grader.data_files import read_data
from grader.errors import PackError, UsageError
from grader.learner.workspace import PROGRESS_FILE, load_progress


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 3000 + "]" * 3000, "{a=" * 3000 + "1" + "}" * 3000])
def test_kata_toml(value: str, tmp_path: Path) -> None:
    path = tmp_path / "kata.toml"
    path.write_text(f"points = {value}\n")
    with pytest.raises(PackError, match=r"kata\.toml: cannot be read"):
        read_data(path, KataFile)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 100_000 + "]" * 100_000])
def test_progress(value: str, tmp_path: Path) -> None:
    path = tmp_path / PROGRESS_FILE
    path.write_text(f'{{"katas": {{}}, "x": {value}}}')
    with pytest.raises(UsageError, match=r"nested too deep|not valid JSON"):
        load_progress(tmp_path)
    assert path.read_text().endswith("}")
