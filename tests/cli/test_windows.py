"""Where Kata cannot run it says so, and where it can."""

from __future__ import annotations

import sys

import pytest

from grader.cli import entry


def test_windows_is_told_of_wsl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit, match="WSL 2") as caught:
        entry.main()
    assert "Linux or macOS" in str(caught.value)
