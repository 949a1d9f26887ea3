"""Tables for a spreadsheet, Canvas and Moodle: one line for each learner and kata, or one for each learner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from grader.instructor.gradebook.course import total
from grader.instructor.gradebook.exports.cells import line, number
from grader.instructor.gradebook.records import Adjustment, Row, by_learner
from grader.instructor.submissions.names import natural_key

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.person import Person

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


STUDENT_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "Points Possible"
"""Canvas's own words."""
PERSON_COLUMNS = ("Identifier", "Full name", "Email address")
"""Moodle asks which column is whom."""


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
    rows: Iterable[Row],
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
        found[row.kata] = (row.report.number, max(most, row.max_score))
    columns = [
        Column(
            kata=kata,
            number=number,
            title=(titles or {}).get(kata) or kata,
            max_score=most,
            canvas_id=(canvas_ids or {}).get(kata, ""),
        )
        for kata, (number, most) in sorted(found.items(), key=lambda one: (natural_key(one[1][0]), one[0]))
    ]
    for place, one in reversed(list(enumerate(columns, 1))):
        if worth := written.get(one.kata, 0.0):
            title = f"{one.title}: written answers"
            columns.insert(
                place, Column(kata=one.kata, number=one.number, title=title, max_score=worth, written=True)
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


def to_csv(rows: Iterable[Row], course: Course, extra: Sequence[str] = ()) -> Iterator[str]:
    """Yield one line for each learner and kata.

    `score` is the mark; `graded_score` what the checks gave; `adjusted_points` what people changed after lateness
    was taken off. `checks_already_deducted` are counted as passed: their only error is the one that another check has
    already deducted; `checks_passed` leaves them out.

    Times are ISO 8601 with their offset. RFC 4180; how texts are kept from running as formulas, and
    how to undo that, is said at `cells.defuse`.
    """
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
                row.score,
                row.max_score,
                report.earned,
                row.days_late,
                row.late_points,
                adjusted_points(row),
                comments(row),
                sum(check.look == "pass" for check in report.checks),
                sum(check.look == "already_deducted" for check in report.checks),
                len(report.checks),
                row.attempts,
                _iso(row.submitted_at),
                _iso(row.graded_at),
                report.isolation,
                *_written(row),
            ]
        )


def to_wide(
    rows: Iterable[Row], columns: Sequence[Column], course: Course, extra: Sequence[str] = ()
) -> Iterator[str]:
    """Yield one line for each learner: a column for each kata, by slug, then the total and what there was to get.

    The total weighs the katas as the course says.

    A kata that a learner has no row for is an empty cell.
    """
    yield line(
        [
            "learner",
            "name",
            "email",
            *extra,
            *(f"{one.kata} written" if one.written else one.kata for one in columns),
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
                next(iter(own.values())).name,
                person.email if person else "",
                *(person.cell(column) if person else "" for column in extra),
                *(
                    None if row is None else _released(row) if column.written else row.score
                    for column, row in zip(columns, marks, strict=True)
                ),
                *total(
                    (row for row, column in zip(marks, columns, strict=True) if row and not column.written),
                    course,
                ),
            ]
        )


def to_canvas(
    rows: Iterable[Row], columns: Sequence[Column], course: Course, unsure: Collection[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield a gradebook for Canvas (Grades, Import).

    What the importer does with it (`lib/gradebook_importer.rb` of instructure/canvas-lms):

    - the first line must hold these five student columns in this order;
    - a student is found by `ID`, then `SIS User ID`, then `SIS Login ID`, then by name; the roster's
      columns `canvas_id`, `sis_user_id` and `sis_login_id`, where the learner's identity stands for a login that is
      not given;
    - an assignment is found by the number in `Title (number)`, else by its whole title; Canvas offers to make one
      that it does not find;
    - the line whose first cell holds "Points Possible" sets what each assignment is worth;
    - an empty cell changes nothing, and scores count to two decimals.
    """
    headings = [
        f"{column.heading} ({column.canvas_id})" if column.canvas_id else column.heading for column in columns
    ]
    yield line([*STUDENT_COLUMNS, *headings])
    yield line([f"    {POINTS_POSSIBLE}", None, None, None, None, *(column.max_score for column in columns)])
    for learner, own in by_learner(rows):
        person = course.person(learner)
        yield line(
            [
                _student(next(iter(own.values())).name),
                person.canvas_id if person else "",
                _other(person, "sis_user_id"),
                _other(person, "sis_login_id") or learner,
                person.section if person else "",
                *(None if mark is None else round(mark, 2) for mark in _marks(own, columns, course, unsure)),
            ]
        )


def to_moodle(
    rows: Iterable[Row], columns: Sequence[Column], course: Course, unsure: Collection[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield a grade file for Moodle (Grades, Import, CSV file).

    Moodle asks which column is whom (docs.moodle.org, "Grade import"; `grade/import/csv/classes/load_data.php`):
    map `Email address` to the email address, or `Identifier` (the roster's
    `moodle_id`, else the learner's identity) to the username or ID number, and each kata to a
    grade item or to a new one. Email addresses are compared letter for letter. A grade above 100 is refused unless
    the site allows it; an empty cell is no grade. There is no feedback column, because importing one replaces the
    grades beside it.
    """
    yield line([*PERSON_COLUMNS, *(column.heading for column in columns)])
    for learner, own in by_learner(rows):
        person = course.person(learner)
        yield line(
            [
                (person.moodle_id if person else "") or learner,
                next(iter(own.values())).name,
                person.email if person else "",
                *_marks(own, columns, course, unsure),
            ]
        )


def to_blackboard(
    rows: Iterable[Row], columns: Sequence[Column], course: Course, unsure: Collection[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield a grade file for Blackboard (Grade Centre or Gradebook, Work Offline, Upload).

    A student is found by `Username` (help.blackboard.com, "Download and upload grades": "Each file requires a
    unique identifier for each student to match the data to the right person"); it is the roster's `username`, else the
    learner's identity. A column that Blackboard does not know is made; the number behind `|` is its own.
    """
    headings = [
        f"{column.heading} [Total Pts: {number(column.max_score)} Score]"
        + (f" |{column.canvas_id}" if column.canvas_id else "")
        for column in columns
    ]
    yield line(["Last Name", "First Name", "Username", "Student ID", *headings])
    for learner, own in by_learner(rows):
        person = course.person(learner)
        first, _, last = next(iter(own.values())).name.rpartition(" ")
        yield line(
            [
                last,
                first,
                _other(person, "username") or learner,
                _other(person, "student_id"),
                *_marks(own, columns, course, unsure),
            ]
        )


def to_brightspace(
    rows: Iterable[Row], columns: Sequence[Column], course: Course, unsure: Collection[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield a grade file for Brightspace (Grades, Enter Grades, Import).

    "You must provide a Username or Org Defined ID (or both)", and numeric items "should be labeled with the grade item
    name followed by 'Points Grade'" (community.d2l.com, "Importing grades"); what it exports has a `#` before
    identifiers, and a last column `End-of-Line Indicator` of the same. The roster's `username`, else the identity.
    """
    headings = [f"{column.heading} Points Grade" for column in columns]
    yield line(["OrgDefinedId", "Username", *headings, "End-of-Line Indicator"])
    for learner, own in by_learner(rows):
        person = course.person(learner)
        number = _other(person, "orgdefinedid")
        yield line(
            [
                f"#{number}" if number else "",
                f"#{_other(person, 'username') or learner}",
                *_marks(own, columns, course, unsure),
                "#",
            ]
        )


def _marks(
    own: Mapping[str, Row], columns: Sequence[Column], course: Course, unsure: Collection[tuple[str, str]]
) -> Iterator[float | None]:
    """Yield a learner's cell of each column; None where there is no mark, or nobody knows if it is a 0."""
    for column in columns:
        rows = [own[kata] for kata in column.katas or (column.kata,) if kata in own]
        if not rows or any(_open(row, unsure) for row in rows):
            yield None
        elif column.katas:
            yield round(total(rows, course, for_learner=True)[0], 6)
        elif column.written:
            yield _released(rows[0])
        else:
            yield rows[0].score


def _open(row: Row, unsure: Collection[tuple[str, str]]) -> bool:
    """Whether nobody knows if this is a 0: nothing came in under the name, and a stranger's work may be theirs."""
    return (row.learner, row.kata) in unsure


def _written(row: Row) -> tuple[float | None, float | None, int | None]:
    """Return points for written answers, of how many, and how many answers are not marked yet and in no total."""
    part = row.written
    return (None, None, None) if part is None else (part.score, part.max_score, len(part.unmarked))


def _released(row: Row) -> float | None:
    return row.written.score if row.written is not None and row.written.released else None


def adjusted_points(row: Row) -> float:
    """Return by how much people changed a mark that lateness had already been taken from."""
    return row.score - max(0.0, row.report.earned - row.late_points)


def comments(row: Row) -> str:
    """Return what people said about a mark: `(+2) the seed was unlucky; (= 9) graded by hand`."""
    return "; ".join(f"({signed(one)}) {one.comment}" for one in row.adjustments if not one.revoked)


def signed(one: Adjustment) -> str:
    """Return an adjustment as a person writes it: +2, -1.5, = 9."""
    sign = "= " if one.kind == "override" else "+" if one.points >= 0 else ""
    return sign + number(one.points)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None


def _student(name: str) -> str:
    """Return a name that is no line of points: Canvas would take the marks of a "Points Possible" for the maxima."""
    return name.replace(POINTS_POSSIBLE, POINTS_POSSIBLE.lower())


def _other(person: Person | None, column: str) -> str:
    return person.cell(column) if person else ""
