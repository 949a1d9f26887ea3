"""docs/architecture.md says what is there: names exist, folders are listed, and a call goes the way it tells."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import completed

ROOT = Path(__file__).parents[2]
GRADER = ROOT / "grader"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PARTS = {path.stem for path in GRADER.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
NAMES = sorted(
    {
        name
        for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", TEXT)
        if name.partition(".")[0] in PARTS and not name.endswith((".py", ".sqlite"))
    }
)
LONGEST = 14
"""Functions of ours between a command and a learner's function."""


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def there(name: str) -> Any:
    parts = name.split(".")
    for place in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(["grader", *parts[:place]]))
        except ModuleNotFoundError:
            continue
        for part in parts[place:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_named_exists(name: str) -> None:
    there(name)


def test_many_names_are_looked_at() -> None:
    assert len(NAMES) > 50


def test_files_that_are_named_exist() -> None:
    known = {path.name for path in GRADER.rglob("*")} | {path.name for path in (ROOT / "katas").rglob("*")}
    for path in re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|ini))`", TEXT):
        assert (ROOT / path).exists() or (GRADER / path).exists() or ("/" not in path and path in known), path
    for folder in re.findall(r"`((?:grader|tests|docs)/[\w/]*/)`", TEXT):
        assert (ROOT / folder).is_dir(), folder


def test_every_folder_and_module_of_the_engine_is_listed() -> None:
    table = section("Folders, and who may import whom")
    for name in PARTS - {"__init__", "__main__"}:
        path = f"grader/{name}/" if (GRADER / name).is_dir() else f"grader/{name}.py"
        assert f"`{path}`" in table, path


def test_the_layers_are_those_that_are_enforced() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    drawn = re.search(r"\n\n((?:    [\w |:]+\n)+)\n", section("Folders, and who may import whom"))
    assert drawn is not None
    assert [line.strip() for line in drawn[1].splitlines()] == layers


@pytest.mark.nightly
def test_a_check_goes_the_way_that_is_told() -> None:
    told = re.findall(r"^\d+\. `([\w.]+)`", section("The way of one `kata check`"), re.MULTILINE)
    found = completed([sys.executable, "-m", "benchmarks.hops"], cwd=ROOT, check=True)
    way = [line.split()[2] for line in found.stdout.splitlines()]
    assert way[way.index("cli.learner.check.check") :] == told
    assert len(told) <= LONGEST


def test_the_readme_leads_to_the_five_ways() -> None:
    assert "docs/architecture.md#five-ways-in" in (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in section("Five ways in").splitlines() if line.startswith("| where")]
    assert len(rows) == 5


@pytest.mark.slow
def test_no_two_public_classes_share_a_name() -> None:
    where: dict[str, list[str]] = {}
    for path in (ROOT / "grader").rglob("*.py"):
        if "template" in path.parts:  # of a pack that is to be written
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}
