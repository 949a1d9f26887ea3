"""From a gradebook's rows to a folder of pages, one learner at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Literal

from markupsafe import Markup

from grader.errors import UsageError
from grader.instructor.gradebook.course import total
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.html import text
from grader.instructor.html.class_tally import ClassTally
from grader.instructor.html.folder import Folder, file_stem
from grader.instructor.html.html import page
from grader.instructor.html.viewer import Viewer, when
from grader.instructor.submissions.as_text import text_of
from grader.report.json_text import json_text

Part = Literal["all", "class", "feedback"]
CLASS, LEARNERS, FEEDBACK, INDEX = "index.html", "learners/", "feedback/", "index.json"


@dataclass(frozen=True)
class Written:
    """What was written."""

    folder: Path
    learners: int
    files: int


def write_report(
    rows: Iterable[Mark],
    viewer: Viewer,
    folder: Path,
    *,
    built: datetime,
    part: Part = "all",
    secret: bytes = b"",
) -> Written:
    """Write the class report, a page for each learner, and the feedback.

    Args:
        rows: ordered by learner; one learner's are held in memory at a time.
        viewer: what a learner sees is made with: the course, its lessons, the comments, the code.
        folder: new, empty, or an earlier report's.
        built: the moment to state.
        part: which of it to write; the other part stays as it is.
        secret: of the gradebook; files' names are made with it, and cannot be computed without.

    Raises:
        UsageError: there are no rows, or the folder holds something else.
        PackError: a kata's hints or questions cannot be read.
        EngineError: a file cannot be written.
    """
    # Looked at before the folder is made: with nothing to report there is no folder.
    every = iter(rows)
    first = next(every, None)
    if first is None:
        raise UsageError("The gradebook holds no marks yet.", "Grade a class first: kata grade SUBMISSIONS")
    report = _Report(viewer, Folder(folder), part, secret)
    # One learner at a time, with one row of each neighbour: a class's reports do not fit into memory.
    before: Mark | None = None
    for theirs, after in _with_next(chain([first], every)):
        report.add(theirs, before, after)
        before = theirs[0]
    return Written(folder, len(report.index), report.finish(built))


class _Report:
    """A report that is being written."""

    def __init__(self, viewer: Viewer, into: Folder, part: Part, secret: bytes) -> None:
        self.index: list[dict[str, str]] = []
        self._for_learner, self._for_instructor = viewer, replace(viewer, full=True)
        self._into, self._part, self._secret = into, part, secret
        self._tally = ClassTally(viewer.course)

    def add(self, rows: list[Mark], before: Mark | None, after: Mark | None) -> None:
        """Write one learner's pages; `before` and `after`: rows of the learners whose pages are next to them."""
        stem = file_stem(rows[0].learner, self._secret)
        pages = {"learner": rows[0].learner, "name": rows[0].name}
        if self._part != "class":
            shown = self._facts(self._for_learner, rows)
            pages |= {"feedback": f"{FEEDBACK}{stem}.html", "markdown": f"{FEEDBACK}{stem}.md"}
            self._into.write(pages["feedback"], page("feedback.html", **shown))
            self._into.write(pages["markdown"], page("feedback.md", **shown))
        if self._part != "feedback":
            pages["page"] = f"{LEARNERS}{stem}.html"
            facts = {
                **self._facts(self._for_instructor, rows),
                "code": self._lines(rows),
                "feedback": pages.get("feedback"),
                "before": self._link(before),
                "after": self._link(after),
            }
            self._into.write(pages["page"], page("learner.html", **facts))
            self._tally.add(
                rows,
                title={row.kata: self._for_learner.lessons.title(row.kata) for row in rows},
                page=pages["page"],
                feedback=f"{FEEDBACK}{stem}" if self._part == "all" else None,
            )
        self.index.append(pages)

    def finish(self, built: datetime) -> int:
        """Write what is about the class, and remove what is no longer; return how many files there are."""
        if self._part != "feedback":
            course = self._tally.course
            facts = {"title": course.name, "built": when(built, course), "tally": self._tally}
            self._into.write(CLASS, page("class.html", **facts))
        # ASCII, so that also half characters are told apart
        self._into.write(INDEX, json_text(self.index, indent=1) + "\n")
        self._into.finish()
        return sum(len(pages) - 2 for pages in self.index) + (1 if self._part == "feedback" else 2)

    def _facts(self, see: Viewer, marks: list[Mark]) -> dict[str, object]:
        """Return what pages about a learner are made of."""
        name, learner = text.name(marks[0].name), text.name(marks[0].learner)
        return {
            "see": see,
            "marks": marks,
            "name": name,
            "learner": learner,
            "total": total(marks, see.course),
        }

    def _link(self, row: Mark | None) -> dict[str, str] | None:
        if row is None:
            return None
        return {
            "name": text.name(row.name),
            "page": f"../{LEARNERS}{file_stem(row.learner, self._secret)}.html",
        }

    def _lines(self, rows: Iterable[Mark]) -> dict[str, tuple[str, list[Markup], int]]:
        """Return, by kata, the name of the module that counts, its lines, and how many are left out."""
        shown: dict[str, tuple[str, list[Markup], int]] = {}
        for row in rows:
            bundle = self._for_instructor.bundle(row.attempt) if row.attempt is not None else None
            if bundle is not None:
                source = text_of(bundle.main, bundle.files[bundle.main])
                lines = text.code_lines(bundle.main, source)
                shown[row.kata] = text.name(bundle.main), lines, len(source.splitlines()) - len(lines)
        return shown


def _with_next(rows: Iterable[Mark]) -> Iterator[tuple[list[Mark], Mark | None]]:
    """Yield each learner's rows, and one of the next learner's."""
    held: list[Mark] = []
    for row in rows:
        if held and row.learner != held[0].learner:
            yield held, row
            held = []
        held.append(row)
    if held:
        yield held, None
