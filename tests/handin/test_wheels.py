"""What a bundle installs."""

from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace

import pytest

from grader.errors import UsageError
from grader.handin import wheels
from grader.handin.bundle import default_python


def test_what_is_needed_is_that_of_the_python_that_the_bundle_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    here = default_python()
    needs = {
        wheels.DISTRIBUTION: [
            f"old ; python_version <= '{here}'",
            f"new ; python_version > '{here}'",
            "apple ; sys_platform == 'darwin'",
        ],
        "old": [],
    }

    def distribution(name: str) -> SimpleNamespace:
        if name not in needs:
            raise metadata.PackageNotFoundError(name)
        return SimpleNamespace(version="1.0+cpu", requires=needs[name])

    monkeypatch.setattr(metadata, "distribution", distribution)
    own = f"{wheels.DISTRIBUTION}==1.0"
    assert wheels.lines(here) == ["old==1.0", own]
    assert wheels.lines("3.99") == ["new", own]
    del needs["old"]
    with pytest.raises(UsageError, match="old is not installed here"):
        wheels.lines(here)
