"""A workspace to play in: the tiny pack, grown by a second kata with a given file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.catalogue import Catalogue, Kata, load_pack
from grader.learner.workspace import Workspace

TINY = Path(__file__).parents[1] / "packs" / "tiny"

MERGE_STUB = '''"""Merge two ordered lists."""

from __future__ import annotations

import math
from helpers import smaller

INFINITY = math.inf


# The comparison that everything uses.
def before(a, b):
    """Return whether a comes first."""
    raise NotImplementedError


@staticmethod
def merge(left, right):
    """Merge."""
    raise NotImplementedError


class Merger:
    """Merge step by step."""

    def step(self):
        raise NotImplementedError
'''


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    root = tmp_path / "pack"
    shutil.copytree(TINY, root)
    merge = root / "1.1-sorting" / "merge"
    shutil.copytree(root / "1.1-sorting" / "insertion-sort", merge)
    (merge / "insertion_sort.py").unlink()
    (merge / "merge.py").write_text(MERGE_STUB)
    (merge / "kata.toml").write_text(
        'number = "1.1.2"\ntitle = "Merge"\nsummary = "Join two ordered lists."\nmodule = "merge"\n'
        'required = ["merge"]\npoints = 6\ngiven = ["helpers.py"]\n'
    )
    (root / "1.1-sorting" / "helpers.py").write_text("def smaller(a, b):\n    return min(a, b)\n")
    return root


@pytest.fixture
def catalogue(pack: Path) -> Catalogue:
    return Catalogue((load_pack(pack),))


@pytest.fixture
def insertion(catalogue: Catalogue) -> Kata:
    return catalogue.resolve_one("insertion-sort")


@pytest.fixture
def merge(catalogue: Catalogue) -> Kata:
    return catalogue.resolve_one("merge")


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    root = tmp_path / "home"
    root.mkdir()
    return Workspace(root)
