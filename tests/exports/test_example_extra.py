"""The extra that docs/extras.md shows, run as it stands there."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from grader.cli.main import cli

FOLDER = Path(__file__).parents[2] / "docs/example-extra"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, course_folder: Path) -> None:
    """As after `pip install`: its module can be imported, and its entry point is found."""
    monkeypatch.syspath_prepend(FOLDER)
    declared = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    entries = [
        SimpleNamespace(load=lambda name=name: import_module(name))
        for name in declared["kata.extras"].values()
    ]
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: entries if group == "kata.extras" else []
    )


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, prog_name="kata")


def test_who_is_missing_is_listed(installed: None) -> None:
    ran = run("missing", "masks")
    assert ran.stdout == "zed  Zed  nothing handed in\n"
    assert ran.stderr == "1 learner of 3\n"
    unfinished = json.loads(run("missing", "masks", "--unfinished", "--json").stdout)
    assert unfinished["missing"] == [
        {"learner": "ada", "why": "fail"},
        {"learner": "adam", "why": "timeout"},
        {"learner": "zed", "why": "nothing handed in"},
    ]


def test_what_it_cannot_do_it_says_as_kata_does(installed: None) -> None:
    ran = run("missing", "maks")
    assert ran.exit_code == 2
    assert "maks" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Example" in run("missing", "--help").stdout
