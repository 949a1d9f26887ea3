"""No line is wider than the terminal, and every command is written as it is typed where it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.cli.main import COMMANDS
from grader.report import style
from tests import ours
from tests.cli.test_comfort import WRONG
from tests.conftest import Run

pytestmark = pytest.mark.slow

COPIED = re.compile(r"(?:.*  )?(?:%?kata .*|\S*/\S*)")
"""A command or a path alone on its line, which are never broken."""
LIGHT = [
    *("", "list", "start 9.2", "start 9.2", "start decoder-layer", "start 9.4", "start 9.3 --notebook"),
    *(
        "start 9.3 --given",
        "demo 9.2",
        "demo nothing",
        "hint masks --tier 9",
        "hint masks --tier x",
    ),
    *(
        "solution masked-attention",
        "solution",
        "show 9",
        "show 9.3 --stub",
        "chek",
        "9.3",
        "check nothing.py",
    ),
    *(
        "check masks --json --format junit",
        "reset 9.7",
        "reset masks",
        "completion tcsh",
    ),
]


def shown(kata: Run, width: int, command: str) -> list[str]:
    ran = kata(*command.split())
    lines: list[str] = ran.text.splitlines()
    for line in lines:
        assert len(line) <= width or COPIED.fullmatch(line), f"kata {command}: {line}"
    return lines


@pytest.mark.nightly
@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(
    kata: Run, stub: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    stub.write_text(ours.MASKS)
    lines = shown(kata, width, "check masks")
    assert "  Is it fast, too?  kata check masks --perf" in lines
    for command in LIGHT:
        shown(kata, width, command)
    stub.write_text(WRONG)
    shown(kata, width, "check masks")
    if width == 60:
        assert "✔ passed, fails now" in kata("list").out  # whole words


def test_in_a_notebook_commands_are_those_of_a_notebook(
    kata: Run, stub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(style.COMMANDS) == set(COMMANDS)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv(style.IN_NOTEBOOK, "1")
    for command in ("check masks", "check 9.9", *LIGHT):
        for line in shown(kata, 100, command):
            assert not re.search(rf"(?<![%\w/])kata ({'|'.join(COMMANDS)})\b", line), (
                f"kata {command}: {line}"
            )
    assert "next:  %kata check " in kata().out
    kata("watch", "masks").refused("a notebook has none")
