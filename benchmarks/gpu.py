"""Run what needs an accelerator: tests that skip without one, hostile submissions, references, speed thresholds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grader.devices import Device, accelerator_here  # noqa: E402
from tests.hostile.room import DEVICE  # noqa: E402

TESTS = ["tests/host/test_cuda.py"]
STREAMS = ["tests/hostile/test_speed.py", "-k", "side_stream"]
HOSTILE = ["tests/hostile/test_corpus.py", "-k", "test_it_gets and not user"]
"""A GPU opens calls and files that a worker has no use for elsewhere."""


def main(ids: list[str]) -> int:
    """Run it, for these katas or all; without an accelerator say so, which is no failure."""
    import torch

    device = accelerator_here()
    if device is None:
        print("There is no GPU that this torch can use: nothing to run. (kata doctor says more.)")
        return 0
    print(f"{device.describe()}, torch {torch.__version__}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    tested = subprocess.run([*command, *TESTS], cwd=ROOT, check=False).returncode
    if device.kind == "cuda":
        tested = tested or subprocess.run([*command, *STREAMS], cwd=ROOT, check=False).returncode
        env = {**os.environ, DEVICE: device.name}
        tested = tested or subprocess.run([*command, *HOSTILE], cwd=ROOT, env=env, check=False).returncode
    return tested or _references(device, ids) or _calibrate(device, ids)


def _calibrate(device: Device, ids: list[str]) -> int:
    """Measure every threshold that counts on it; keep each kata's and write the table."""
    from grader.catalogue import Catalogue

    ids = ids or [kata.slug for kata in Catalogue.discover().katas if kata.speed_checks is not None]
    kata = str(Path(sys.executable).with_name("kata"))
    page = str(ROOT / "docs" / "performance.md")
    codes = [
        subprocess.run(
            [kata, "pack", "calibrate", one, "--device", device.name, "--write", page], cwd=ROOT, check=False
        ).returncode
        for one in ids
    ]
    return max(codes)


def _references(device: Device, ids: list[str]) -> int:
    """Check every reference with its inputs on it."""
    from grader.engine.host.warm import start_launcher

    launcher = start_launcher(device=device.name)
    from grader.catalogue import Catalogue
    from grader.engine.runner.suite import Options, Suite, with_suites

    catalogue = Catalogue.discover()
    wanted = [kata for one in ids for kata in catalogue.resolve(one)] if ids else catalogue.katas
    katas = [kata for kata in wanted if kata.solution is not None]

    def body(suites: dict[str, Suite]) -> list[bool]:
        passed = []
        for kata in katas:
            assert kata.solution is not None
            report = suites[kata.slug].check(kata.solution, launcher, Options(device=device.name))
            print(
                f"{kata.number} {kata.slug}: {report.status}, {report.duration_s:.2f} s on {report.device}",
                flush=True,
            )
            for check in report.checks:
                if check.status not in ("pass", "skipped"):
                    print(f"  {check.name}: {check.status}\n{check.message}")
            passed.append(report.status == "pass")
        return passed

    try:
        return 0 if all(with_suites(katas, body)) else 1
    finally:
        launcher.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
