"""Tables for a spreadsheet and for other systems: one line for each learner and kata, or one for each learner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from grader.instructor.gradebook.course import Total, total
from grader.instructor.gradebook.events import PointsChange, standing
from grader.instructor.gradebook.exports.cells import line, number
from grader.instructor.gradebook.row_types import Mark, by_learner
from grader.instructor.lms.person import Person
from grader.instructor.lms.system import GradeFile
from grader.instructor.submissions.names import natural_key

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course

LONG = (
    "learner",
    "name",
    "email",
    "number",
    "kata",
    "status",
    "score",
    "max_score",
    "graded_score",
    "days_late",
    "late_points",
    "adjusted_points",
    "comments",
    "checks_passed",
    "checks_already_deducted",
    "checks",
    "attempts",
    "submitted_at",
    "graded_at",
    "isolation",
    "written_score",
    "written_max_score",
    "written_unmarked",
)


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A kata, or an assignment with all of its katas, as a column of a table."""

    kata: str
    """Its slug; of an assignment the name."""
    number: str
    title: str
    max_score: float
    katas: tuple[str, ...] = ()
    """Of an assignment; its cells are their sum, each weighed as the course says."""
    written: bool = False
    """It holds the kata's written answers, as far as they are released."""
    canvas_id: str = ""
    """The assignment's number in Canvas; found by its title there when none is given."""

    @property
    def heading(self) -> str:
        """Number and title: what the assignment is called elsewhere."""
        return f"{self.number} {self.title}".strip()


def columns_of(
    rows: Iterable[Mark],
    titles: Mapping[str, str] | None = None,
    canvas_ids: Mapping[str, str] | None = None,
) -> list[Column]:
    """Return the katas that occur in `rows`, in the order of their numbers.

    Args:
        rows: a whole class; it is read to its end.
        titles: by slug; a kata that is not there is called by its slug.
        canvas_ids: assignments' numbers in Canvas, by slug.
    """
    found: dict[str, tuple[str, float]] = {}
    written: dict[str, float] = {}
    for row in rows:
        if row.written is not None and row.written.released:
            written[row.kata] = max(written.get(row.kata, 0.0), row.written.max_score)
        _, most = found.get(row.kata, ("", 0.0))
        # A check that this machine could not run leaves one learner's maximum; the column's is the largest.
        found[row.kata] = (row.number, max(most, row.max_score))
    columns = [
        Column(
            kata=kata,
            number=number,
            title=(titles or {}).get(kata) or kata,
            max_score=most,
            canvas_id=(canvas_ids or {}).get(kata, ""),
        )
        for kata, (number, most) in sorted(found.items(), key=lambda item: (natural_key(item[1][0]), item[0]))
    ]
    # From the end, so that an insertion moves no place that is still to come.
    for place, column in reversed(list(enumerate(columns, 1))):
        if worth := written.get(column.kata, 0.0):
            title = f"{column.title}: written answers"
            columns.insert(
                place,
                Column(kata=column.kata, number=column.number, title=title, max_score=worth, written=True),
            )
    return columns


def by_assignment(columns: Sequence[Column], course: Course, numbers: Mapping[str, str]) -> list[Column]:
    """Return a column for each assignment of the course instead, as far as it was graded; other katas keep theirs."""
    found: list[Column] = []
    for name, assignment in course.assignments.items():
        own = [column for column in columns if column.kata in assignment.katas]
        if own:
            found.append(
                Column(
                    kata=name,
                    number="",
                    title=assignment.title or name,
                    max_score=sum(
                        (course.written_weight if column.written else course.weight)(column.kata)
                        * column.max_score
                        for column in own
                    ),
                    katas=tuple(column.kata for column in own if not column.written),
                    canvas_id=numbers.get(name, ""),
                )
            )
    return found + [column for column in columns if course.assignment_of(column.kata) is None]


def to_csv(rows: Iterable[Mark], course: Course, extra: Sequence[str] = ()) -> Iterator[str]:
    """Yield one line for each learner and kata.

    `score` is the mark; `graded_score` what the checks gave; `adjusted_points` what people changed after lateness
    was taken off. `checks_already_deducted` are counted as passed: their only error is the one that another check has
    already deducted; `checks_passed` leaves them out.

    Times are ISO 8601 with their offset. RFC 4180; how texts are kept from running as formulas, and
    how to undo that, is said at `cells.defuse`.
    """
    # Further columns of the roster come with the person, before the first mark.
    yield line([*LONG[:3], *extra, *LONG[3:]])
    for row in rows:
        report, person = row.report, course.person(row.learner)
        yield line(
            [
                row.learner,
                row.name,
                person.email if person else "",
                *(person.cell(column) if person else "" for column in extra),
                report.number,
                row.kata,
                report.status,
                row.points,
                row.max_score,
                report.earned if row.graded else None,
                row.days_late,
                row.late_points,
                adjusted_points(row),
                comments(row),
                sum(check.look == "pass" for check in report.checks),
                sum(check.look == "already_deducted" for check in report.checks),
                len(report.checks),
                row.attempts,
                # With their offset: a spreadsheet's own time zone is another.
                _iso(row.submitted_at),
                _iso(row.graded_at),
                report.isolation,
                *_written(row),
            ]
        )


def to_wide(
    rows: Iterable[Mark], columns: Sequence[Column], course: Course, extra: Sequence[str] = ()
) -> Iterator[str]:
    """Yield one line for each learner: a column for each kata, by slug, then the total and what there was to get.

    The total weighs the katas as the course says. A kata that a learner has no row for is an empty cell; so are
    what is not graded yet, written answers that wait for a mark, and a total that they are part of.
    """
    yield line(
        [
            "learner",
            "name",
            "email",
            *extra,
            *(f"{column.kata} written" if column.written else column.kata for column in columns),
            "score",
            "max_score",
        ]
    )
    for learner, own in by_learner(rows):
        marks = [own.get(column.kata) for column in columns]
        person = course.person(learner)
        yield line(
            [
                learner,
                # The same in all of a learner's rows.
                next(iter(own.values())).name,
                person.email if person else "",
                *(person.cell(column) if person else "" for column in extra),
                *(
                    # An empty cell, and not 0: a spreadsheet would count that in every average.
                    None if row is None else _released(row) if column.written else row.points
                    for column, row in zip(columns, marks, strict=True)
                ),
                *_whole(total(own.values(), course)),
            ]
        )


def to_grades(
    file: GradeFile,
    rows: Iterable[Mark],
    columns: Sequence[Column],
    course: Course,
    unsure: Collection[tuple[str, str]] = (),
) -> Iterator[str]:
    """Yield the file that a system imports grades from; what its importer does with it is said in its module.

    Somebody without a line in the roster has no more than the learner's identity and name.
    """
    end, filler = file.end or ("", "")
    headings = []
    for column in columns:
        # As the course says, or else as it would be called there
        known = None if column.written or column.canvas_id else course.columns.get(column.kata)
        made = file.heading(column.heading, column.canvas_id, number(column.max_score))
        headings.append(known or made)
    yield line([*file.student, *headings, *([end] if end else [])])
    if file.maxima:
        yield line(
            [file.maxima, *[None] * (len(file.student) - 1), *(column.max_score for column in columns)]
        )
    for learner, own in by_learner(rows):
        person = course.person(learner) or Person(learner=learner)
        marks = marks_of(own, columns, course, unsure, file.decimals)
        name = next(iter(own.values())).name
        yield line([*file.cells(learner, name, person), *marks, *([filler] if end else [])])


def marks_of(
    own: Mapping[str, Mark],
    columns: Sequence[Column],
    course: Course,
    unsure: Collection[tuple[str, str]],
    decimals: int | None = None,
) -> list[float | None]:
    """Return a learner's cell of each column; None where there is no mark, or nobody knows if it is a 0."""
    marks = _marks(own, columns, course, unsure)
    # The importer would round by itself or refuse; an empty cell stays one, since 0 is a mark.
    return [mark if mark is None or decimals is None else round(mark, decimals) for mark in marks]


def _marks(
    own: Mapping[str, Mark], columns: Sequence[Column], course: Course, unsure: Collection[tuple[str, str]]
) -> Iterator[float | None]:
    for column in columns:
        rows = [own[kata] for kata in column.katas or (column.kata,) if kata in own]
        # Nobody knows if that is a 0: nothing came in under the name, and a stranger's work may be theirs.
        if not rows or any((row.learner, row.kata) in unsure for row in rows):
            yield None
        elif column.katas:
            score, _ = _whole(total(rows, course))
            yield None if score is None else round(score, 6)
        elif column.written:
            yield _released(rows[0])
        else:
            yield rows[0].points


def _written(row: Mark) -> tuple[float | None, float | None, int | None]:
    """Return points for what is marked of the written answers, of how many, and how many answers wait."""
    part = row.written
    return (None, None, None) if part is None else (part.score, part.max_score, len(part.unmarked))


def _released(row: Mark) -> float | None:
    """Return the points for written answers; None while one of them waits for a mark, which is not 0."""
    part = row.written
    return part.score if part is not None and part.released and not part.unmarked else None


def _whole(all_of_it: Total) -> tuple[float | None, float]:
    """Return what somebody has and what there was to get; None while a part of it waits for a mark."""
    return None if all_of_it.waits else all_of_it.score, all_of_it.most


def adjusted_points(row: Mark) -> float:
    """Return by how much people changed a mark that lateness had already been taken from."""
    return row.score - max(0.0, row.result.score - row.late_points)


def comments(row: Mark) -> str:
    """Return what people said about a mark: `(+2) the seed was unlucky; (= 9) graded by hand`."""
    return "; ".join(f"({signed(change)}) {change.made.comment}" for change in standing(row.adjustments))


def signed(change: PointsChange) -> str:
    """Return a change of a mark as a person writes it: +2, -1.5, = 9."""
    return change.sign + number(change.points)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
