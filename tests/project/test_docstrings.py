"""Examples in docstrings say what the code does."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import grader

ENGINE = Path(grader.__file__).parent
MODULES = sorted(
    ".".join(("grader", *path.relative_to(ENGINE).with_suffix("").parts))
    for path in ENGINE.rglob("*.py")
    if "\n    >>> " in path.read_text(encoding="utf-8")
)


def test_there_are_examples() -> None:
    assert "grader.engine.checks.text" in MODULES


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted
    assert not found.failed
