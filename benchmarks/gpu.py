"""What needs a GPU: the tests that skip without one, each kata's reference on it, and its thresholds of speed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run it; without a GPU say so, which is no failure."""
    import torch

    if not torch.cuda.is_available():
        print("There is no GPU that this torch can use: nothing to run. (kata doctor says more.)")
        return 0
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-k", "cuda or gpu", "tests"]
    tested = subprocess.run(command, cwd=ROOT, check=False).returncode
    return tested or _references() or _calibrate()


def _calibrate() -> int:
    """Measure every threshold that counts on a GPU, and write the table."""
    page = ROOT / "docs" / "performance.md"
    kata = str(Path(sys.executable).with_name("kata"))
    command = [kata, "pack", "calibrate", "--device", "cuda", "--write", str(page)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _references() -> int:
    """Check every reference with its inputs on the GPU."""
    from grader.worker.warm import start_launcher

    launcher = start_launcher()
    from grader.catalogue import Catalogue
    from grader.checks.suite import Options, Suite, with_suites

    katas = [kata for kata in Catalogue.discover().katas if kata.solution is not None]

    def body(suites: dict[str, Suite]) -> list[bool]:
        passed = []
        for kata in katas:
            assert kata.solution is not None
            report = suites[kata.slug].check(kata.solution, launcher, Options(device="cuda"))
            print(f"{kata.number} {kata.slug}: {report.status}, {report.duration_s:.2f} s on {report.device}")
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
    sys.exit(main())
