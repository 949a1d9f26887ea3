"""The adapters of this tree as tests use them: their folders, our solutions in each course's layout, and gradings."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import Catalogue
from grader.engine.runner.suite import Suite, suites_of

ROOT = Path(__file__).parents[2] / "adapters"
SOLUTIONS = ROOT / "solutions"


def copy_of(course: str, place: Path) -> Path:
    """Return a copy of an adapter and of its solution, without the packages it requires that are not installed here."""
    folder = place / "adapters" / course
    shutil.copytree(ROOT / course, folder)
    shutil.copytree(SOLUTIONS / course, folder.parent / "solutions" / course)
    file = folder / "adapt.toml"
    lines = file.read_text().splitlines(keepends=True)
    asks = next((line for line in lines if line.startswith("requires")), "")
    names = [name.strip(' "[]\n') for name in asks.partition("=")[2].split(",") if name.strip()]
    if any(importlib.util.find_spec(name) is None for name in names):
        lines.remove(asks)
    file.write_text("".join(lines))
    return folder


@contextmanager
def suites(adapter: Path, patch: pytest.MonkeyPatch, *, hidden: bool = True) -> Iterator[dict[str, Suite]]:
    """Give the checks of all katas that an adapter adapts."""
    patch.setenv("KATA_PACKS", str(adapter))
    katas = [kata for kata in Catalogue.discover().katas if kata.adapter is not None]
    with suites_of(katas, hidden=hidden) as found:
        yield found


def solution(adapter: Path, place: Path, **changed: Any) -> Path:
    """Return a copy of the adapter's solution in which files, by path with `/` as `__`, hold something else."""
    folder = place / "handed-in"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(adapter.parent / "solutions" / adapter.name, folder)
    for name, content in changed.items():
        (folder / name).write_text(content)
    return folder
