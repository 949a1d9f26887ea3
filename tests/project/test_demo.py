"""`make demo`, as a whole: it fails by itself when a command does not do what it should."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.conftest import completed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
def test_the_demo_plays_to_its_end() -> None:
    done = completed([sys.executable, "-m", "demo"], cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert re.search(r"\d+ commands in \d+ s, each as it should be", done.stdout)


def test_a_command_that_misbehaves_stops_it() -> None:
    code = "from pathlib import Path; from demo.stage import Stage; Stage(Path()).type('kata list', code=1)"
    done = completed([sys.executable, "-c", code], cwd=ROOT)
    assert done.returncode != 0
    assert "`kata list` ended with exit code 0 instead of 1" in done.stderr
