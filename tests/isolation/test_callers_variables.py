"""A token among the caller's variables is nowhere in a worker's memory: not where it arrived, nor as a freed string."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

import pytest

from grader.engine import sandbox
from grader.engine.sandbox.levels import LEVELS
from tests.conftest import TESTS, TINY, completed

pytestmark = pytest.mark.slow

RIGHT = TESTS / "packs/solutions/1.1-sorting/insertion-sort/insertion_sort.py"

CHECKS = """
import sys
from pathlib import Path

import grader.cli.learner.check
from grader.cli.main import main

# Read when the worker ends, long after the fork: until then nothing here may make a copy of it.
told, sys.argv[1:] = sys.argv[1], ["check", "insertion_sort.py"]
begin = grader.cli.learner.check.start_launcher


def start_launcher(**options):
    launcher = begin(**options)
    from grader.engine.host.launcher import WorkerProcess

    kill = WorkerProcess.kill

    def scan(process):
        token = Path(told).read_bytes()
        found = read = 0
        for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines():
            place, powers = line.split()[:2]
            if powers.startswith("rw"):
                low, high = (int(part, 16) for part in place.split("-"))
                try:
                    with open(f"/proc/{process.pid}/mem", "rb", 0) as memory:
                        memory.seek(low)
                        content = memory.read(high - low)
                except (OSError, OverflowError, ValueError):
                    continue
                read += len(content)
                found += sum(content.count(piece) for piece in (token[:32], token[-32:]))
        print(f"read {read >> 20} MB, found {found}", file=sys.stderr)
        kill(process)

    WorkerProcess.kill = scan
    return launcher


grader.cli.learner.check.start_launcher = start_launcher
main()
"""


@pytest.mark.nightly
@pytest.mark.parametrize("level", LEVELS)
def test_a_token_is_not_in_a_workers_memory(level: sandbox.Isolation, tmp_path: Path) -> None:
    if not sandbox.reaches(sandbox.probe().level, level):
        pytest.skip(f"this machine does not offer {level}")
    token = secrets.token_hex(300)
    (tmp_path / "token").write_text(token)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "insertion_sort.py").write_bytes(RIGHT.read_bytes())
    done = completed(
        [sys.executable, "-I", "-c", CHECKS, str(tmp_path / "token")],
        cwd=tmp_path / "work",
        env={
            **os.environ,
            "KATA_PACKS": str(TINY),
            "KATA_ISOLATION": level,
            "API_TOKEN": token,
            "SHORT": token[:40],
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("read ")]
    assert told
    assert all(int(line.split()[1]) > 20 and line.endswith("found 0") for line in told), told
