"""What a GPU would run, run: in a process of its own, because a kind of device that torch has learnt stays learnt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.devices import PRETEND_SWITCH

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.gate,
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only"),
]


def test_every_path_that_mentions_a_device_runs_on_the_pretended_one(everything: bool) -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            *(["--everything"] if everything else []),
            str(HERE / "rehearsal.py"),
        ],
        cwd=HERE.parents[1],
        env={**os.environ, PRETEND_SWITCH: "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
    assert "skipped" not in ran.stdout.splitlines()[-1]
