"""Run by the verifier: grades the answer as `kata grade` does, hidden checks included, and writes the reward."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else "/")
"""Where /app and /logs are: elsewhere when it is tried without containers."""
KATA, ANSWER = "@SLUG@", ROOT / "app" / "@FILE@"
REWARD = ROOT / "logs" / "verifier" / "reward.json"
PACKS = {"KATA_SOLUTIONS": HERE / "pack" / "solutions", "KATA_PACKS": HERE / "pack" / "katas"}


def graded() -> dict[str, Any]:
    """Return the report of the answer, made in a folder in which nothing else has ever run."""
    with tempfile.TemporaryDirectory() as place:
        hand_in = Path(place, "class", "answer")
        hand_in.mkdir(parents=True)
        shutil.copyfile(ANSWER, hand_in / ANSWER.name)
        variables = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "HOME": place}
        variables |= {name: str(path) for name, path in PACKS.items() if path.is_dir()}
        command = ["-I", "-B", "-m", "grader", "grade", "class", "--only", KATA, "--json", "reports.jsonl"]
        # No seed: the gradebook is new, so each trial draws inputs of its own.
        subprocess.run(
            [sys.executable, *command], cwd=place, env=variables, stdin=subprocess.DEVNULL, check=True
        )
        report: dict[str, Any] = json.loads(Path(place, "reports.jsonl").read_text())
        return report


def share(points: float, most: float) -> float:
    """Return points as a share from 0 to 1; JSON may hold NaN, and a reward beyond its range would be learned from."""
    if not 0 <= points <= most or most == 0:
        raise SystemExit(f"{points!r} of {most!r} points is not a share from 0 to 1: no reward")
    return points / most


def main() -> None:
    """Write the reward, whole or not at all: without one the trial is an error and not a zero."""
    # Whatever lies there was written by somebody else, and would count if this ended early.
    if REWARD.is_dir() and not REWARD.is_symlink():
        shutil.rmtree(REWARD)
    REWARD.unlink(missing_ok=True)
    shares = {"score": 0.0, "passed": 0.0}
    # A link could point at what is next to this file.
    if ANSWER.exists() and stat.S_ISREG(ANSWER.lstat().st_mode):
        report = graded()
        points: dict[str, float] = defaultdict(float)
        most: dict[str, float] = defaultdict(float)
        for check in report["checks"]:
            points[check["aspect"]] += check["points"]
            most[check["aspect"]] += check["max_points"]
        shares = {
            "score": share(report["score"], report["max_score"]),
            "passed": float(report["status"] == "pass"),
        }
        shares |= {f"aspect_{name}": share(points[name], most[name]) for name in sorted(most) if most[name]}
    REWARD.parent.mkdir(parents=True, exist_ok=True)
    # In a folder of its own: a file of any name may lie there already, a link among them.
    with tempfile.TemporaryDirectory(dir=REWARD.parent) as place:
        new = Path(place, REWARD.name)
        new.write_text(json.dumps(shares, indent=2) + "\n")
        new.replace(REWARD)


main()
