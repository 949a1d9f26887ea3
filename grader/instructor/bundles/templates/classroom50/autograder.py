"""Classroom 50 runs this in a checkout of the learner's repository; it leaves result.json there.

This bundle is public. It holds no hidden check and no reference: marks that count are made by `kata grade`.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUNDLE = json.loads((HERE / "bundle.json").read_text(encoding="utf-8"))


def main() -> int:
    """Check the katas of the bundle, and write result.json; a wrong answer is not a failure of this program."""
    result = Path.cwd() / "result.json"
    install()
    variables = {**os.environ, "CI": "true"}
    if (HERE / "pack").is_dir():
        variables["KATA_PACKS"] = str(HERE / "pack" / "katas")
    # Isolated: a file in the checkout that is called like a module of ours must not become one.
    done = subprocess.run(
        [sys.executable, "-I", "-m", "grader", "check", "--json"],
        env=variables,
        stdout=subprocess.PIPE,
        check=False,
    )
    # 0 to 2 are about the submission; anything else is about this machine, and is no 0 points.
    if done.returncode not in (0, 1, 2):
        print("::error::Kata could not check this submission; see above.", file=sys.stderr)
        return 1
    found = json.loads(done.stdout)["katas"] if done.returncode != 2 else []
    reports = {report["kata"]: report for report in found}
    tests = [test for kata in BUNDLE["katas"] for test in tests_of(kata, reports.get(kata["kata"]))]
    document = {
        "schema": "classroom50/result/v1",
        "classroom": os.environ["CLASSROOM"],
        "assignment": os.environ["ASSIGNMENT"],
        "submission": os.environ["SUBMISSION_TAG"],
        "commit": os.environ["COMMIT_URL"],
        "release": os.environ["RELEASE_URL"],
        "review": os.environ.get("REVIEW_URL") or os.environ["COMMIT_URL"],
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }
    # Written next to it and moved: a job that is cut off leaves no half result.
    fresh = result.with_suffix(".new")
    fresh.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    fresh.replace(result)
    return 0


def install() -> None:
    """Install what the bundle asks for, where it is not there yet."""
    there = subprocess.run(
        [sys.executable, "-I", "-c", "import grader, torch"], stderr=subprocess.DEVNULL, check=False
    )
    if there.returncode != 0:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "-r", str(HERE / "requirements.txt")], check=True)


def tests_of(kata: dict[str, Any], report: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the rows of one kata; points are whole numbers here, so they are counted in parts of one."""
    if report is None or not report["checks"]:
        why = (
            f": {report['message']}"
            if report and report["message"]
            else ": not handed in"
            if report is None
            else ""
        )
        points = round(kata["points"] * BUNDLE["parts"])
        return [
            {
                "test-name": f"{kata['number']} {kata['kata']}{why}",
                "passed": False,
                "score": 0,
                "max-score": points,
            }
        ]
    return [
        {
            "test-name": f"{kata['number']} {check['name']}",
            "passed": check["status"] == "pass",
            "score": round(check["points"] * BUNDLE["parts"]),
            "max-score": round(check["max_points"] * BUNDLE["parts"]),
        }
        for check in report["checks"]
    ]


if __name__ == "__main__":
    raise SystemExit(main())
