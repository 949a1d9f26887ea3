"""What Gradescope shows of a class of one: results.json, made of the rows of a gradebook."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.exports.gradescope import to_gradescope
from grader.instructor.gradebook.row_types import Mark, Reports

LONGEST = 100_000
"""Characters of one output that Gradescope takes."""


def results(rows: list[Mark], *, marks_speed: bool) -> dict[str, Any]:
    """Return the content of results.json: what Gradescope shows, and what a mark can be repeated from."""
    if not marks_speed:
        rows = [_unmarked(row) for row in rows]
    ((_, content),) = to_gradescope(rows, Course())
    document = json.loads(content)
    for test in document["tests"]:
        if len(test.get("output", "")) > LONGEST:
            test["output"] = test["output"][: LONGEST - 1] + "…"
    # What a mark depends on besides the file
    document["extra_data"] = {
        "kata": [
            {
                "kata": report.kata,
                "seed": report.seed,
                "isolation": report.isolation,
                "versions": report.versions,
            }
            for report in (row.report for row in rows)
        ]
    }
    return dict(document)


def _unmarked(row: Mark) -> Mark:
    """Return a mark whose speed is told and worth nothing."""
    attempt = row.attempt
    if attempt is None:
        return row
    report = row.report
    checks = [
        msgspec.structs.replace(check, points=0.0, max_points=0.0) if check.aspect == "performance" else check
        for check in report.checks
        if (check.aspect, check.status) != ("performance", "skipped")
    ]
    report = msgspec.structs.replace(report, checks=checks, speed=msgspec.UNSET)
    result = row.result._replace(score=report.score, max_score=report.max_score)
    return msgspec.structs.replace(
        row, result=result, reports=Reports((attempt,), lambda _: [(attempt, report)])
    )
