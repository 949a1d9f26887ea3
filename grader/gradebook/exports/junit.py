"""JUnit XML: every check as a test case, for continuous integration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC
from xml.etree import ElementTree

from grader.gradebook.exports.cells import number
from grader.gradebook.records import Row
from grader.reports.report import CheckReport
from grader.reports.style import DEDUCTED, LOOKS, safe

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KINDS = {"fail": "failure", "error": "error", "timeout": "error", "todo": "skipped", "skipped": "skipped"}


def to_junit(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a document with one suite for each learner and kata, and one case for each check.

    It is valid against both schemas in use: Jenkins' (`junit-10.xsd` of jenkinsci/xunit-plugin) and the stricter
    one for Ant (`JUnit.xsd` of windyroad/JUnit-Schema), whose order of elements and required attributes it keeps.
    Points have no place in either; they are properties of the suite, and stand in what a failure says. Characters
    that a terminal would obey, or that XML does not have, are shown as escapes. Hidden checks are in it: it is for
    instructors.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    for position, row in enumerate(rows):
        suite = _suite(position, row)
        ElementTree.indent(suite)
        yield ElementTree.tostring(suite, encoding="unicode") + "\n"
    yield "</testsuites>\n"


def _suite(position: int, row: Row) -> ElementTree.Element:
    report = row.report
    checks = report.checks or [_whole(row)]
    kinds = [_KINDS.get(check.status, "") for check in checks]
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": _clean(f"{row.learner} {report.number} {row.kata}"),
            "package": _clean(row.learner),
            "id": str(position),
            "timestamp": row.graded_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "hostname": "localhost",
            "tests": str(len(checks)),
            "failures": str(kinds.count("failure")),
            "errors": str(kinds.count("error")),
            "skipped": str(kinds.count("skipped")),
            "time": f"{max(0.0, report.duration_s):.3f}",
        },
    )
    facts = {
        "learner": row.learner,
        "name": row.name,
        "status": report.status,
        "score": number(row.score),
        "max_score": number(row.max_score),
        "graded_score": number(report.earned),
        "late_points": number(row.late_points),
    }
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _clean(value)})
    for check, kind in zip(checks, kinds, strict=True):
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "classname": _clean(f"{row.learner}.{row.kata}"),
                "name": _clean(check.name + (" (hidden)" if check.hidden else "")),
                "time": "0.000",
            },
        )
        if kind:
            _outcome(case, kind, check)
    deducted = [f"{one.name}: {DEDUCTED}" for one in checks if one.same_mistake == "counted"]
    ElementTree.SubElement(suite, "system-out").text = _clean("\n".join([report.output or "", *deducted]))
    ElementTree.SubElement(suite, "system-err").text = _clean(report.message or "")
    return suite


def _outcome(case: ElementTree.Element, kind: str, check: CheckReport) -> None:
    message = check.message or check.status
    first = message.strip().partition("\n")[0]
    outcome = ElementTree.SubElement(case, kind, {"type": check.status, "message": _clean(first)})
    points = f"{number(check.points)}/{number(check.max_points)} points, {check.aspect}"
    outcome.text = _clean("\n".join(filter(None, [points, message, check.likely, check.output])))


def _whole(row: Row) -> CheckReport:
    """Return the kata as its only check, when there was nothing to check: a suite without cases looks like success."""
    report = row.report
    return CheckReport(
        name="the submission can be checked",
        id="submission",
        aspect="submission",
        hidden=False,
        status="pass" if report.status == "pass" else "timeout" if report.status == "timeout" else "error",
        points=report.earned,
        max_points=report.possible,
        message=report.message or LOOKS[report.status].word,
    )


def _clean(text: str) -> str:
    return _NOT_XML.sub("", safe(text))
