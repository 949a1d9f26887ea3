"""From a gradebook's rows to a folder of pages, one learner at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from grader.errors import UsageError
from grader.gradebook.course import Course
from grader.gradebook.records import Row
from grader.pages import tally, text, view
from grader.pages.charts import histogram, tops
from grader.pages.code import code_lines
from grader.pages.folder import Folder, file_stem
from grader.pages.html import page
from grader.pages.lessons import Lessons
from grader.pages.tally import ClassTally
from grader.reports.json_text import json_text
from grader.submissions.as_text import text_of
from grader.submissions.names import natural_key

Part = Literal["all", "class", "feedback"]
CLASS, LEARNERS, FEEDBACK, INDEX = "index.html", "learners/", "feedback/", "index.json"


@dataclass(frozen=True)
class Written:
    """What was written."""

    folder: Path
    learners: int
    files: int


def write_report(
    rows: Iterable[Row],
    course: Course,
    lessons: Lessons,
    folder: Path,
    *,
    built: datetime,
    part: Part = "all",
    secret: bytes = b"",
    code: Callable[[int], tuple[str, bytes] | None] = lambda attempt: None,
    spoken: view.Spoken = view.SILENCE,
    progress: Callable[[int], None] = lambda done: None,
) -> Written:
    """Write the class report, a page for each learner, and the feedback.

    Args:
        rows: ordered by learner; one learner's are held in memory at a time.
        course: its name, weights and time zone.
        lessons: titles, hints and questions.
        folder: new, empty, or an earlier report's.
        built: the moment to state.
        part: which of it to write; the other part stays as it is.
        secret: of the gradebook; files' names are made with it, and cannot be computed without.
        code: the module that an attempt graded, its name and content; for the instructor's pages alone.
        spoken: what people said about hand-ins.
        progress: told how many learners are done.

    Raises:
        UsageError: there are no rows, or the folder holds something else.
        PackError: a kata's hints or questions cannot be read.
        EngineError: a file cannot be written.
    """
    every = iter(rows)
    first = next(every, None)
    if first is None:
        raise UsageError("The gradebook holds no marks yet.", "Grade a class first: kata grade SUBMISSIONS")
    into = Folder(folder)
    counted = ClassTally(course)
    index: list[dict[str, str]] = []
    files = 0
    before: _Neighbour | None = None
    for theirs, following in _with_next(chain([first], every)):
        learner = theirs[0].learner
        stem = file_stem(learner, secret)
        pages = {"learner": learner, "name": theirs[0].name}
        if part != "class":
            shown = view.for_learner(theirs, course, lessons, spoken)
            pages |= {"feedback": f"{FEEDBACK}{stem}.html", "markdown": f"{FEEDBACK}{stem}.md"}
            into.write(pages["feedback"], page("feedback.html", learner=shown))
            into.write(pages["markdown"], page("feedback.md", learner=shown))
        if part != "feedback":
            pages["page"] = f"{LEARNERS}{stem}.html"
            full = view.for_instructor(theirs, course, lessons, spoken)
            after = _Neighbour.of(following, secret) if following is not None else None
            into.write(
                pages["page"],
                page(
                    "learner.html",
                    learner=full,
                    code=_code(theirs, code),
                    feedback=pages.get("feedback"),
                    before=before,
                    after=after,
                ),
            )
            before = _Neighbour.of(theirs[0], secret)
            counted.add(
                theirs,
                title={row.kata: lessons.title(row.kata) for row in theirs},
                page=pages["page"],
                feedback=f"{FEEDBACK}{stem}" if part == "all" else None,
            )
        index.append(pages)
        files += len(pages) - 2
        progress(len(index))
    if part != "feedback":
        into.write(
            CLASS, page("class.html", **_figures(counted), title=course.name, built=view.when(built, course))
        )
        files += 1
    into.write(INDEX, json_text(index, indent=1) + "\n")  # ASCII, so that also half characters are told apart
    other: dict[Part, tuple[str, ...]] = {"all": (), "class": (FEEDBACK,), "feedback": (CLASS, LEARNERS)}
    into.finish(keep=other[part])
    return Written(folder, len(index), files + 1)


def _code(
    rows: Iterable[Row], code: Callable[[int], tuple[str, bytes] | None]
) -> dict[str, tuple[str, list[Markup], int]]:
    """Return, by kata, the name of the module that counts, its lines, and how many are left out."""
    shown: dict[str, tuple[str, list[Markup], int]] = {}
    for row in rows:
        found = code(row.attempt) if row.attempt is not None else None
        if found is not None:
            source = text_of(*found)
            lines = code_lines(found[0], source)
            shown[row.kata] = text.name(found[0]), lines, len(source.splitlines()) - len(lines)
    return shown


@dataclass(frozen=True)
class _Neighbour:
    """Whose page comes before or after a learner's."""

    name: str
    page: str

    @classmethod
    def of(cls, row: Row, secret: bytes) -> _Neighbour:
        return cls(text.name(row.name), f"../{LEARNERS}{file_stem(row.learner, secret)}.html")


def _with_next(rows: Iterable[Row]) -> Iterator[tuple[list[Row], Row | None]]:
    """Yield each learner's rows, and one of the next learner's."""
    held: list[Row] = []
    for row in rows:
        if held and row.learner != held[0].learner:
            yield held, row
            held = []
        held.append(row)
    if held:
        yield held, None


def _figures(counted: ClassTally) -> dict[str, Any]:
    """Return what the class report shows."""
    katas = sorted(counted.katas.values(), key=lambda kata: (natural_key(kata.number), kata.slug))
    middle = tally.median(counted.parts)
    highest = max((max(tops(kata.parts)) for kata in katas), default=0)
    plots = []
    times = []
    for kata in katas:
        plots.append(
            (
                kata,
                histogram(kata.parts, highest, tally.median(kata.parts)),
                tally.median(kata.scores),
            )
        )
        times.append(
            (
                kata,
                _short(tally.mean(kata.attempts)),
                max(kata.attempts, default=0),
                _short(tally.median(kata.durations)),
                _short(max(kata.durations, default=None)),
            )
        )
    return {
        "lines": counted.lines,
        "katas": katas,
        "worked": counted.worked,
        "mean": tally.mean(counted.parts),
        "median": middle,
        "overall": histogram(counted.parts, max(tops(counted.parts), default=0), middle),
        "plots": plots,
        "times": times,
        "mistakes": counted.mistakes,
        "weights": {slug: counted.course.weight(slug) for slug in counted.katas},
        "has_feedback": any(line.feedback for line in counted.lines),
    }


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
