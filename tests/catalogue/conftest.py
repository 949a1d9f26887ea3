"""A pack to break: two units, three katas, written afresh for every test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pack_files import write_kata, write_pack, write_unit


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("KATA_PACKS", raising=False)
    monkeypatch.delenv("KATA_SOLUTIONS", raising=False)
    root = write_pack(tmp_path / "pack", "numbers")
    counting = write_unit(root, "3.9", "counting")
    write_kata(counting, "3.9.1", "count-up")
    write_kata(counting, "3.9.2", "count-down", 'after = ["count-up"]\n')
    write_kata(write_unit(root, "3.10", "adding"), "3.10.1", "add-all")
    return root


@pytest.fixture
def kata_folder(pack: Path) -> Path:
    return pack / "3.9-counting" / "count-down"


@pytest.fixture
def rewrite(kata_folder: Path) -> Callable[[str, str], None]:
    """Replace text in the kata.toml of count-down."""

    def apply(old: str, new: str) -> None:
        path = kata_folder / "kata.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return apply
