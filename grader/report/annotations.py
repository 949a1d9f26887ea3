"""What failed, for programs that point at lines: GitHub's annotations, VS Code's problems, JUnit's XML.

Formats: https://docs.github.com/actions/reference/workflow-commands-for-github-actions (`::error`, and how it is
escaped), https://github.com/testmoapp/junitxml.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from grader.data_files import read_bounded
from grader.notebooks import MAX_MODULE, parse_module
from grader.report import Format
from grader.report.report import CALLED, UNWRITTEN, WRONG, KataReport
from grader.report.style import DEDUCTED, escape_controls

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SHOWN_BY_GITHUB = 10
"""Of one kind in one step GitHub shows so many annotations."""


@dataclass(frozen=True)
class Annotation:
    """Something to point at."""

    kata: str
    check: str
    """Its function; the kata's name when nothing could be checked."""
    file: str
    line: int
    severity: str
    """error, warning for what is not written yet, or notice of what is counted as passed."""
    title: str
    text: str
    """All of the message, of several lines."""

    @property
    def one_line(self) -> str:
        """The title and the line that says most."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith(("likely  ", "first difference  "))]
        last = " ".join((telling or lines or [""])[-1].split())
        title = f"{self.title}: {last}" if last and last != self.title else self.title
        return escape_controls(f"{title} (cell {self.cell})" if self.cell else title)

    @property
    def cell(self) -> int | None:
        """The cell of a notebook that the message names last: its lines are counted there."""
        found = re.findall(rf"^{re.escape(Path(self.file).name)}, cell (\d+)", self.text, re.MULTILINE)
        return int(found[-1]) if found else None


def annotate(reports: Sequence[KataReport]) -> list[Annotation]:
    """Return what there is to mend: checks that fail, katas that do not load or are not written."""
    return [annotation for report in reports for annotation in _annotations(report)]


def _annotations(report: KataReport) -> Iterator[Annotation]:
    file = _relative(report.file or f"{report.kata}.py")
    lines = definitions(file)

    def annotation(check: str, severity: str, title: str, text: str, line: int | None = None) -> Annotation:
        at = _line(text, file, lines) if line is None else line
        return Annotation(report.kata, check, file, at, severity, title, text)

    if report.message is not None:
        title = report.message.partition("\n")[0].removesuffix(".")
        # An exercise that is not begun is not an error: a new repository holds nothing but these.
        severity = "warning" if report.status in UNWRITTEN else "error"
        yield annotation(report.kata, severity, title, report.message)
    elif report.status == "not_started":
        yield annotation(report.kata, "warning", f"{report.kata} is not started", "", 1)
        return
    for name in report.todo:
        yield annotation(report.kata, "warning", f"{name} is not written yet", "", lines.get(name, 1))
    for check in report.checks:
        if check.status in WRONG:
            likely = [f"likely  {check.likely}"] if check.likely else []
            yield annotation(
                check.id, "error", check.name, "\n".join([check.message or check.status, *likely])
            )
        elif check.same_mistake == "counted":
            yield annotation(check.id, "notice", check.name, DEDUCTED)


def _relative(file: str) -> str:
    """Return a file below the current folder as it is called from there."""
    return os.path.relpath(file) if Path(file).absolute().is_relative_to(Path.cwd()) else file


def _line(text: str, file: str, definitions: Mapping[str, int]) -> int:
    """Return the line of the file, or of its cell, that a message names last; else where what was called begins."""
    place = rf"^{re.escape(Path(file).name)}, (?:cell \d+, )?line (\d+)"
    named: list[str] = re.findall(place, text, re.MULTILINE)
    if named:
        return int(named[-1])
    called = CALLED.search(text)
    return definitions.get(called[1], 1) if called else 1


def definitions(file: str) -> dict[str, int]:
    """Return where each function, class and method of a file begins; nothing for what cannot be read as Python."""
    try:
        tree = parse_module(read_bounded(Path(file), MAX_MODULE))
    except (OSError, SyntaxError, ValueError):
        return {}
    found = {}
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            found[node.name] = node.lineno
            for member in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(member, _DEFINITIONS):
                    found[f"{node.name}.{member.name}"] = member.lineno
    return found


# --- formats ---


def github(reports: Sequence[KataReport]) -> str:
    """Return workflow commands, one each, and after them how many GitHub would not show."""
    found = annotate(reports)
    shown = found if len(found) <= SHOWN_BY_GITHUB else found[: SHOWN_BY_GITHUB - 1]
    lines = [
        f"::{note.severity} file={_property(note.file)},line={note.line},"
        f"title={_property(f'{note.kata}: {note.title}')}::{_data(note.text or note.title)}"
        for note in shown
    ]
    if more := len(found) - len(shown):
        lines.append(f"::notice title=kata::{more} more: kata check prints them all")
    return "\n".join(lines)


def _data(text: str) -> str:
    clean = "\n".join(map(escape_controls, text.splitlines()))
    return clean.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def vscode(reports: Sequence[KataReport]) -> str:
    """Return lines `file:line:column: severity: message [check]`, as a problem matcher reads them."""
    return "\n".join(
        f"{escape_controls(note.file)}:{note.line}:1: {note.severity.replace('notice', 'info')}: "
        f"{note.one_line} [{note.check}]"
        for note in annotate(reports)
    )


_JUNIT = {"fail": "failure", "error": "error", "timeout": "error", "skipped": "skipped", "todo": "skipped"}
"""By a check's status, the element of a case that did not pass."""


def junit(reports: Sequence[KataReport]) -> str:
    """Return JUnit's XML: a suite for each kata, a case for each check."""
    top = ElementTree.Element("testsuites", name="kata")
    for report in reports:
        kinds = Counter(_JUNIT.get(check.status, "pass") for check in report.checks)
        counts = {
            "tests": len(report.checks),
            "failures": kinds["failure"],
            "errors": kinds["error"],
            "skipped": kinds["skipped"],
        }
        facts = {"name": f"{report.number} {report.kata}", "time": f"{report.duration_s:.3f}"}
        facts |= {name: str(count) for name, count in counts.items()}
        suite = ElementTree.SubElement(top, "testsuite", facts)
        file = escape_controls(_relative(report.file or ""))
        for check in report.checks:
            # XML knows no control characters, and a single one makes the whole file unreadable.
            facts = {"classname": report.kata, "name": escape_controls(check.name), "file": file}
            case = ElementTree.SubElement(suite, "testcase", facts)
            if kind := _JUNIT.get(check.status):
                lines = [
                    escape_controls(line)
                    for line in (check.message or report.message or check.status).splitlines()
                ]
                first = escape_controls(check.likely or lines[-1].strip())
                ElementTree.SubElement(case, kind, message=first).text = "\n".join(lines)
            elif check.same_mistake == "counted":
                ElementTree.SubElement(case, "system-out").text = DEDUCTED
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode")


WRITERS: dict[Format, Callable[[Sequence[KataReport]], str]] = {
    "github": github,
    "vscode": vscode,
    "junit": junit,
}
