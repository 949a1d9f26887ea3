"""What Gradescope runs for one submission: grade it as `kata grade` grades a class of one, and leave results.json.

The layout is that of gradescope-autograders.readthedocs.io: `submission/`, `source/` with the bundle, `results/`. This
runs as root in a container that refuses namespaces; submissions run as nobody, so neither the results nor the bundle
are in their reach. `run_autograder` has left results that say "not graded" before anything else: only whole ones
replace them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from grader import interpreter
from grader.files import write_atomic
from grader.gradebook.course import Course
from grader.gradebook.exports.gradescope import to_gradescope
from grader.gradebook.records import Row
from grader.gradebook.store import Gradebook

LEARNER = "submission"
LONGEST = 100_000
"""Characters of one output that Gradescope takes."""


def main(arguments: list[str]) -> int:
    """Grade what was handed in below a folder such as /autograder; 0 says that its results are there."""
    (root,) = map(Path, arguments)
    settings = json.loads((root / "source" / "bundle.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="kata-gradescope-") as name:
        work = Path(name)
        for folder in ("class", "stand"):
            (work / folder).mkdir(mode=0o700)
        # Links stay links: the class's reader follows none.
        shutil.copytree(root / "submission", work / "class" / LEARNER, symlinks=True)
        book = work / "gradebook.sqlite"
        chosen = [part for kata in settings["katas"] for part in ("--only", kata["kata"])]
        speed = ["--perf"] if settings["perf"] else []
        process = interpreter.start(
            "grader",
            ["grade", str(work / "class"), *chosen, *speed, "-j", "1", "--gradebook", str(book)],
            work / "stand",
            stdin=subprocess.DEVNULL,
        )
        if process.wait() != 0:
            print("kata grade ended with", process.returncode, file=sys.stderr)
            return 1
        with Gradebook.open(str(book), create=False) as gradebook:
            rows = list(gradebook.rows(katas=[kata["kata"] for kata in settings["katas"]]))
        document = results(rows, marks_speed=settings["marks_speed"])
    write_atomic(root / "results" / "results.json", json.dumps(document, indent=2))
    return 0


def results(rows: list[Row], *, marks_speed: bool) -> dict[str, Any]:
    """Return the content of results.json: what Gradescope shows, and what a mark can be repeated from."""
    if not marks_speed:
        rows = [_unmarked(row) for row in rows]
    ((_, content),) = to_gradescope(rows, Course())
    document = json.loads(content)
    for test in document["tests"]:
        if len(test.get("output", "")) > LONGEST:
            test["output"] = test["output"][: LONGEST - 1] + "…"
    document["extra_data"] = {"kata": list(_replays(rows))}
    return dict(document)


def _unmarked(row: Row) -> Row:
    """Return a row whose speed is told and worth nothing."""
    report = row.report
    checks = [
        msgspec.structs.replace(check, points=0.0, max_points=0.0) if check.aspect == "performance" else check
        for check in report.checks
        if (check.aspect, check.status) != ("performance", "skipped")
    ]
    report = msgspec.structs.replace(report, checks=checks, speed=msgspec.UNSET)
    return msgspec.structs.replace(row, report=report, score=report.score, max_score=report.max_score)


def _replays(rows: list[Row]) -> Iterator[dict[str, Any]]:
    """Yield for each kata what its mark hangs on beside the file: `kata gradebook replay` asks for no more."""
    for row in rows:
        report = row.report
        yield {
            "kata": report.kata,
            "seed": report.seed,
            "isolation": report.isolation,
            "versions": report.versions,
        }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
