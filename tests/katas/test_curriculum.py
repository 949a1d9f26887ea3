"""What docs/curriculum.md says of the katas: numbers, points, and commands that work."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from grader.catalogue import Catalogue, Kata
from grader.words import hours

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "curriculum.md"
TEXT = PAGE.read_text(encoding="utf-8") + PAGE.with_name("curriculum-items.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`(kata [a-z]+ [^`]+)`", TEXT)))


@pytest.fixture(scope="module")
def katas() -> dict[str, Kata]:
    return {
        kata.slug: kata for kata in Catalogue.discover().katas if kata.unit.folder.parent == ROOT / "katas"
    }


def names_and_titles(kata: Kata) -> list[str]:
    """Return what -k looks at, for each visible check: its name and its title as one text."""
    found = []
    for node in ast.parse(kata.checks.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            title = (ast.get_docstring(node) or "").partition("\n")[0]
            found.append(f"{node.name} {title}".lower())
    return found


def test_the_table_has_each_kata_with_its_checks_and_points(katas: dict[str, Kata]) -> None:
    rows = dict(re.findall(r"^\| (\d+\.\d+\.\d+) \| ([\w-]+) \|", TEXT, re.M))
    assert rows == {kata.number: kata.slug for kata in katas.values()}
    for kata in katas.values():
        checks, points = len(names_and_titles(kata)), f"{kata.points:g} + {kata.hidden_points:g}"
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| {kata.number} |"))
        assert row.endswith(f"| {kata.effort.replace(' min', '')} | {checks} | {points} |"), row


def test_the_readme_has_each_unit_with_its_time(katas: dict[str, Kata]) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d+\.\d+) .* \| ([^|]+) \|$", page, re.M))
    minutes: dict[str, int] = {}
    for kata in katas.values():
        minutes[kata.unit.number] = minutes.get(kata.unit.number, 0) + (kata.minutes or 0)
    assert rows == {number: hours(whole) for number, whole in minutes.items()}


@pytest.mark.sampled(38)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_name_something(command: str, katas: dict[str, Kata]) -> None:
    _, verb, name, *options = shlex.split(command)
    if name == "ID" or verb == "pack":
        return
    catalogue = Catalogue.discover()
    meant = [kata for kata in katas.values() if name in (kata.slug, kata.number)]
    unit = next((unit for unit in catalogue.units if unit.number == name), None)
    meant = meant or list(unit.katas if unit is not None else ())
    assert meant, command
    if verb == "demo":
        assert ((unit or meant[0]).folder / "demo.py").is_file(), command
    if options:
        flag, expression = options
        assert flag == "-k"
        texts = [text for kata in meant for text in names_and_titles(kata)]
        assert any(selects(expression, text) for text in texts)


def selects(expression: str, text: str) -> bool:
    """Return whether -k with an expression takes a check with this name and title."""

    def found(word: str, /, **_: str | int | bool | None) -> bool:
        return word.lower() in text

    return Expression.compile(expression).evaluate(found)
