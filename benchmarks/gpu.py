"""Run what needs an accelerator: tests that skip without one, hostile submissions, right answers, speed thresholds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grader.devices import Device, accelerator_here  # noqa: E402
from tests.hostile.room import DEVICE  # noqa: E402

KATA = str(Path(sys.executable).with_name("kata"))
TESTS = ["tests/host/test_cuda.py"]
STREAMS = ["tests/hostile/test_speed.py", "-k", "side_stream"]
HOSTILE = ["tests/hostile/test_corpus.py", "-k", "test_it_gets and not user"]
"""A GPU opens calls and files that a worker has no use for elsewhere."""


def main(ids: list[str]) -> int:
    """Run it, for these katas or all; without an accelerator say so, which is not a failure."""
    import torch

    device = accelerator_here()
    if device is None:
        print("There is no GPU that this torch can use: nothing to run. (kata doctor says more.)")
        return 0
    print(f"{device.describe()}, torch {torch.__version__}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    chosen = [TESTS, STREAMS, HOSTILE] if device.kind == "cuda" else [TESTS]
    env = {**os.environ, DEVICE: device.name}
    codes = [
        subprocess.run([*command, *words], cwd=ROOT, env=env, check=False).returncode for words in chosen
    ]
    return max(*codes, _answers(device, ids), _calibrate(device, ids))


def _calibrate(device: Device, ids: list[str]) -> int:
    """Measure every threshold that counts on it; keep each kata's and write the table."""
    from grader.catalogue import Catalogue

    ids = ids or [kata.slug for kata in Catalogue.discover().katas if kata.speed_checks is not None]
    page = str(ROOT / "docs" / "performance.md")
    words = ["--device", device.name, "--write", page]
    runs = [subprocess.run([KATA, "pack", "calibrate", one, *words], cwd=ROOT, check=False) for one in ids]
    return max(run.returncode for run in runs)


def _answers(device: Device, ids: list[str]) -> int:
    """Grade every reference and alternative as a class, hidden checks and all: each must pass.

    In processes of their own: what forks workers must not have woken the driver, as asking for the device did here.
    """
    from grader.catalogue import Catalogue

    catalogue = Catalogue.discover()
    katas = [kata for one in ids for kata in catalogue.resolve(one)] if ids else catalogue.katas
    with tempfile.TemporaryDirectory() as folder:
        for kata in katas:
            for file in (kata.solution, *kata.alternatives):
                assert file is not None
                learner = Path(folder, "class", "reference" if file == kata.solution else file.stem)
                learner.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, learner / f"{kata.module}.py")
        reports = Path(folder, "reports.jsonl")
        command = [KATA, "grade", "class", "--device", device.name, "--json", str(reports)]
        only = [word for kata in katas for word in ("--only", kata.slug)]
        graded = subprocess.run([*command, *only], cwd=folder, check=False).returncode
        rows = [json.loads(line) for line in reports.read_text().splitlines()] if reports.exists() else []
    wrong = [row for row in rows if row["status"] not in ("pass", "missing")]
    for row in wrong:
        lost = [check for check in row["checks"] if check["status"] not in ("pass", "skipped")]
        print(row["learner"], row["kata"], row["status"], row.get("message") or "")
        print(*(f"  {check['id']}: {check['status']}\n{check['message']}" for check in lost), sep="\n")
    print(
        sum(row["status"] == "pass" for row in rows), "right answers pass,", len(wrong), "do not", flush=True
    )
    return graded or int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
