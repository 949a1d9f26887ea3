"""Every interpreter that Kata starts is isolated, stands nowhere and knows nothing of its caller."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import interpreter
from grader.errors import EngineError
from tests.conftest import Run

ROOT = Path(__file__).parents[2]


def about(folder: Path) -> dict[str, object]:
    """Return what a started interpreter says of itself: `python -m json.tool` is a program that answers."""
    code = "import json, os, sys; print(json.dumps([sys.path, dict(os.environ), os.getcwd(), sys.flags.isolated]))"
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "kata_told.py").write_text(code)
    (folder / "empty").mkdir(0o700)
    sys.path.append(str(folder / "site-packages"))
    try:
        started = interpreter.start("kata_told", [], folder / "empty", stdout=subprocess.PIPE)
    finally:
        sys.path.remove(str(folder / "site-packages"))
    out, _ = started.communicate()
    path, variables, where, isolated = json.loads(out)
    return {"path": path, "variables": variables, "where": where, "isolated": isolated}


def test_it_knows_nothing_of_its_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = {
        "TOKEN": "x" * 600,
        "PYTHONPATH": str(tmp_path),
        "PYTEST_ADDOPTS": "-x",
        "HOME": "/nowhere",
        "DASK_CONFIG": "/nowhere",
        "MPLBACKEND": "agg",
        "LD_PRELOAD": "",
    }
    for name, value in foreign.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KATA_PACKS", f"some{os.pathsep}{os.pathsep}/other")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{os.pathsep}/opt/lib{os.pathsep}lib")
    monkeypatch.syspath_prepend("")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = about(tmp_path)
    assert found["isolated"] == 1
    assert found["where"] == str(tmp_path / "empty")
    assert foreign.keys().isdisjoint(found["variables"])  # type: ignore[arg-type]
    assert found["variables"]["KATA_PACKS"] == f"{tmp_path}/some{os.pathsep}/other"  # type: ignore[index]
    assert found["variables"]["LD_LIBRARY_PATH"] == "/opt/lib"  # type: ignore[index]
    assert {"", str(tmp_path), os.getcwd()}.isdisjoint(found["path"])  # type: ignore[arg-type]


def test_it_stands_in_an_empty_folder_of_ours_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "full").mkdir(0o700)
    (tmp_path / "full" / "tempfile.py").touch()
    for name in ("open", "full"):
        with pytest.raises(EngineError, match="not an empty folder of ours"):
            interpreter.start("this", [], tmp_path / name)


def named(path: Path) -> Iterator[str]:
    """Yield what a file imports or reaches for, by dotted name; what stands in its texts is not among it."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=last):
                yield f"{owner}.{last}"
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{name.name}" for name in names)


@pytest.mark.slow
def test_nothing_else_starts_one() -> None:
    """One function does: whoever writes another way in has to come past this test."""
    ways = re.compile(
        r"sys\.executable|multiprocessing(?!\.connection)\b.*|os\.(exec|spawn|posix_spawn|popen|system).*"
    )
    # Those run where they are copied to, and nothing of ours is there yet.
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "grader").rglob("*.py")
        if "templates" not in path.parts and any(ways.fullmatch(name) for name in named(path))
    }
    assert found == {"grader/interpreter.py"}


@pytest.mark.parametrize(
    "arguments", [("grade", "."), ("gradebook", "show"), ("start", "9.3.1"), ("check",), ("report",)]
)
def test_a_folder_that_was_deleted_is_said_so(kata: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    folder.rmdir()
    kata(*arguments).refused("no longer exists")


def test_the_command_line_forgets_the_callers_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "here", str(folder / "class"), str(ROOT)]))
    library = [entry for entry in sys.path if entry and "python3" in entry]
    monkeypatch.setattr(
        sys, "path", [str(folder), "", "here", str(folder / "class"), str(ROOT), *library, "/elsewhere"]
    )
    interpreter.forget_foreign_paths()
    assert sys.path == [str(ROOT), *library, "/elsewhere"]
