"""The pictures of README, docs/ and the lessons show what commands print, what pages look like and what is computed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import completed

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_no_picture_is_out_of_date() -> None:
    done = completed([sys.executable, str(ROOT / "docs" / "pictures" / "draw.py"), "--check"])
    assert (done.returncode, done.stdout) == (0, "")
