"""`kata course`: write a first `course.toml`, from the roster that a system gives; change and check it."""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import complete_id, gathered, note
from grader.cli.instructor.class_options import print_line, shell_quote
from grader.errors import UsageError
from grader.report.style import print_message
from grader.words import counted

if TYPE_CHECKING:
    from grader.catalogue import Catalogue, Kata
    from grader.instructor.gradebook.course import Course
    from grader.instructor.lms.person import Person


@click.group(short_help="Set up a course: assignments, rules, roster.")
def course() -> None:
    """Set up a course: assignments, rules, roster.

    \b
    Example:
      kata course new --roster canvas.csv --timezone Europe/Berlin
    """


def rosters_option(command: Callable[..., Any]) -> Any:
    """Give a command --roster, which may be repeated."""
    return click.option(
        "--roster",
        "rosters",
        metavar="FILE",
        multiple=True,
        type=click.Path(dir_okay=False, path_type=Path),
        help="A roster as Canvas, Moodle, Blackboard, Brightspace, Gradescope or GitHub Classroom export it, or a CSV "
        "file. Repeat it to merge several: people are matched by addresses, numbers and names.",
    )(command)


@dataclass(frozen=True)
class NewCourse:
    """What a first course.toml is made of."""

    name: str
    rosters: tuple[Path, ...]
    timezone: str
    assignments: tuple[str, ...]
    weeks: int | None
    start: datetime | None

    def text(self, catalogue: Catalogue) -> str:
        """Return it as a course.toml."""
        from grader.instructor.gradebook.course_file import quoted

        if self.weeks is not None and self.assignments:
            raise UsageError(
                "--syllabus and --assignment both say what the assignments are.", "Leave one of them out."
            )
        if self.weeks is None and self.start is not None:
            raise UsageError("--start says when a syllabus begins.", "Name its weeks: --syllabus 8.")
        if self.weeks is None:
            plan = _by_hand(self.assignments, catalogue)
        else:
            plan = _example(self.weeks, self.start, catalogue)
        roster = (
            'roster = "roster.csv"' if self.rosters else '# roster = "roster.csv"    # who is in the class'
        )
        return _COURSE.format(
            name=quoted(self.name),
            timezone=quoted(self.timezone),
            roster=roster,
            plan=plan,
        )


@dataclass(frozen=True)
class CourseChanges:
    """What is said of a course on the command line."""

    due: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    late: str | None = None
    lms: str | None = None
    anonymous: bool | None = None

    def made_in(self, text: str) -> str:
        """Return a course file with these changes."""
        from grader.instructor.gradebook.course_file import changed, quoted

        others = {("lms", "address"): quoted(self.lms)} if self.lms is not None else {}
        if self.anonymous is not None:
            others["marking", "anonymous"] = str(self.anonymous).lower()
        return changed(text, {"due": self.due, "closes": self.closes}, self.columns, self.late, others)


changes_options: Callable[[Callable[..., Any]], Any] = gathered(
    CourseChanges,
    click.option(
        "--due",
        metavar="NAME=TIME",
        multiple=True,
        help="When an assignment is due, such as week1=2026-10-12T18:00, or a day alone; repeat it for more.",
    ),
    click.option(
        "--closes",
        metavar="NAME=TIME",
        multiple=True,
        help="From when on what comes in for an assignment does not count; repeat it for more.",
    ),
    click.option(
        "--column",
        "columns",
        metavar="NAME=TITLE",
        multiple=True,
        help="The column of an assignment or a kata in your system's own grade export, with its number there, such as "
        "'week1=Week 1 (501)'; exports use it. Repeat it for more.",
    ),
    click.option(
        "--late",
        metavar="PERCENT",
        help="What each day that has begun costs, such as 10%. [default: nothing]",
    ),
    click.option(
        "--lms",
        metavar="URL",
        help="The course's page in Canvas or Moodle, as the browser has it, for kata gradebook push.",
    ),
    click.option(
        "--anonymous/--named",
        default=None,
        help="Whether the desk shows written answers without names until they are released. [default: named]",
    ),
    name="changes",
)


@course.command(short_help="Write a first course.toml and a roster.csv.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@gathered(
    NewCourse,
    click.option("--name", default="A course", show_default=True, help="Name of the course."),
    rosters_option,
    click.option(
        "--timezone",
        default="UTC",
        show_default=True,
        metavar="ZONE",
        help="Time zone of the course, such as Europe/Berlin.",
    ),
    click.option(
        "--assignment",
        "assignments",
        metavar="NAME=ID[,ID…]",
        multiple=True,
        shell_complete=complete_id,
        help="An assignment and its katas; repeat it for more. [default: one for each unit]",
    ),
    click.option(
        "--syllabus",
        "weeks",
        type=click.IntRange(1, 99),
        metavar="WEEKS",
        help="Begin with an example of 4, 8 or 14 weeks: an assignment for each week.",
    ),
    click.option(
        "--start",
        type=click.DateTime(["%Y-%m-%d"]),
        metavar="DATE",
        help="The first day of week 1, for the due times of --syllabus.",
    ),
)
@changes_options
def new(folder: Path, options: NewCourse, changes: CourseChanges) -> None:
    """Write a first course.toml and, from a system's roster, a roster.csv into FOLDER. Nothing is overwritten.

    Where a system's roster has a column for an assignment of the same name, exports write it under that title.

    \b
    Example:
      kata course new --roster canvas.csv
      kata course new --roster canvas.csv --assignment week1=9.3.1 --due week1=2026-10-12T18:00 --late 10%
      kata course new autumn --roster canvas.csv --roster github.csv --assignment week1=9.1,9.2 --assignment week2=9.3.1
      kata course new --syllabus 8 --start 2027-01-11
    """
    from grader.catalogue import Catalogue
    from grader.instructor.gradebook.course import COURSE_FILE
    from grader.instructor.gradebook.identities import merge_rosters
    from grader.instructor.gradebook.roster import read_roster, roster_text

    catalogue = Catalogue.discover()
    target, roster = folder / COURSE_FILE, folder / "roster.csv"
    for path in (target, *([roster] if options.rosters else [])):
        # `lexists`: a link that leads nowhere would be written through.
        if os.path.lexists(path) and path not in options.rosters:
            raise UsageError(
                f"{path} is there already.", "Change it with kata course set, or name another folder."
            )
    people, doubts = merge_rosters([list(read_roster(path).values()) for path in options.rosters])
    text = _with_columns(options.text(catalogue), options.rosters)
    files = {target: changes.made_in(text)}
    if options.rosters and roster not in options.rosters:
        files[roster] = roster_text(people)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError(f"{folder}: {error.filename} is not a folder.", "Name another one.") from error
    # The course file first in `files`: it is the one that is loaded, and it names the roster.
    given = _written(files, catalogue).assignments
    if options.rosters:
        print_message(f"{roster}   {_counted(people)}")
    print_message(f"{target}   {counted(len(given), 'assignment')}: {', '.join(given)}")
    for doubt in doubts:
        note(f"note: {doubt}")
    open_ = next((name for name, assignment in given.items() if assignment.due is None), None)
    due = f"kata course set{_in(folder)} --due {shell_quote(open_)}=TIME, then: " if open_ is not None else ""
    note(f"\nnext  {due}kata grade DOWNLOAD --assignment {shell_quote(next(iter(given), 'NAME'))}")


@course.command("set", short_help="Change due times, lateness, columns and the roster of a course.")
@click.argument("folder", type=click.Path(file_okay=False, exists=True, path_type=Path), default=Path())
@rosters_option
@changes_options
def set_(folder: Path, rosters: tuple[Path, ...], changes: CourseChanges) -> None:
    """Change FOLDER's course.toml; comments stay, and marks follow from what it says the next time they are shown.

    A new roster takes the place of the old one. If you are in both, your identity, your other names and what only the
    old one says stay; learners who are only in one of them are named.

    \b
    Example:
      kata course set --due week2=2026-10-19T18:00
      kata course set --late 10% --column 'week2=Week 2 (502)'
      kata course set --roster canvas-week3.csv
    """
    from grader.catalogue import Catalogue
    from grader.data_files import read_text
    from grader.instructor.gradebook.course import COURSE_FILE, Course

    target, catalogue = folder / COURSE_FILE, Catalogue.discover()
    if changes == CourseChanges() and not rosters:
        raise UsageError(
            "Nothing is to be changed.",
            "Say what: --due, --closes, --column, --late, --lms, --anonymous, --roster.",
        )
    before = Course.load(target, catalogue)  # to be told of what is wrong in it before
    files = {target: changes.made_in(read_text(target))}
    files |= _with_roster(files[target], target, rosters, before) if rosters else {}
    after = _written(files, catalogue)
    for path in files:
        note(f"changed  {path}")
    for what, here, there in (("new", after, before), ("not in it any more", before, after)):
        if names := [name for name in here.roster if there.person(name) is None]:
            from grader.instructor.submissions.names import listed

            note(f"{what}: {listed(names, 10)}")
            if here is before:
                note(f"if they left  kata gradebook left {shell_quote(names[0])} --comment TEXT")
    note(f"check  kata course check{_in(folder)}")


def _with_roster(text: str, target: Path, rosters: Sequence[Path], before: Course) -> dict[Path, str]:
    """Return a course file that names roster.csv, and this with the people of new rosters.

    Raises:
        UsageError: roster.csv is something else.
    """
    from grader.instructor.gradebook.course_file import quoted, with_value
    from grader.instructor.gradebook.identities import merge_rosters, renew_roster
    from grader.instructor.gradebook.roster import read_roster, roster_text

    path, named = target.with_name("roster.csv"), tomllib.loads(text).get("roster")
    # `lexists`: a link that leads nowhere would be written through.
    if os.path.lexists(path) and path not in (*rosters, target.parent / (named or "")):
        raise UsageError(f"{path} is there already, and is not the course's roster.", "Name it: --roster")
    new, _ = merge_rosters([list(read_roster(given).values()) for given in rosters])
    files = {path: roster_text(renew_roster(list(before.roster.values()), new))}
    if named != path.name:
        files[target] = with_value(text, "", "roster", quoted(path.name))
    return files


@course.command(short_help="Check course.toml and the roster, and show what they say.")
@click.argument("folder", type=click.Path(file_okay=False, exists=True, path_type=Path), default=Path())
def check(folder: Path) -> None:
    """Check FOLDER's course.toml and its roster, and show what they say; exit code 2 where something is wrong.

    \b
    Example:
      kata course check
    """
    from grader.catalogue import Catalogue
    from grader.instructor.gradebook.course import COURSE_FILE, Course
    from grader.instructor.gradebook.identities import words_in

    course = Course.load(folder / COURSE_FILE, Catalogue.discover())
    people = list(course.roster.values())
    lines = [f"{course.name}   {course.timezone}   {_counted(people) if people else 'no roster'}"]
    for assignment in course.assignments.values():
        when = [
            f"{what} {time.astimezone(course.timezone):%a %Y-%m-%d %H:%M}"
            for what, time in (("due", assignment.due), ("closes", assignment.closes))
            if time is not None
        ]
        column = [f"column {course.columns[assignment.name]}"] if assignment.name in course.columns else []
        lines.append("   ".join([assignment.name, ", ".join(assignment.katas), *when, *column]))
    percent = course.late.percent_per_day
    lines.append(f"late   {percent:g} % for each day that has begun" if percent else "late   costs nothing")
    for kata, table in course.points.items():
        lines.append(f"points   {kata}: {', '.join(f'{name} {worth:g}' for name, worth in table.items())}")
    if course.anonymous:
        lines.append("marking   without names, until answers are released")
    if course.lms:
        lines.append(f"lms   {course.lms}")
    for line in lines:
        print_line(line)
    # Not an error: an assignment may be without a time, but most often it was forgotten.
    if open_ := [assignment.name for assignment in course.assignments.values() if assignment.due is None]:
        note(f"note: never late, because no due time is set: {', '.join(open_)}")
    # In any order of the words, as `Lovelace, Ada` is in one system and `Ada Lovelace` in the next.
    called = Counter(" ".join(sorted(words_in(person.name))) for person in people if person.name)
    for person in people:
        if called[" ".join(sorted(words_in(person.name)))] > 1:
            note(
                f"note: {person.learner}: others are called {person.name}, too; "
                "a name alone does not tell whose work it is"
            )


def _in(folder: Path) -> str:
    return "" if folder == Path() else f" {shell_quote(str(folder))}"


def _written(files: dict[Path, str], catalogue: Catalogue) -> Course:
    """Write a course file and its roster, and return the course; where it does not load, all is as it was.

    Raises:
        UsageError: something in it is wrong.
    """
    from grader.files import write_atomic
    from grader.instructor.gradebook.course import Course

    # Whether it loads, only reading the written files tells: a course names its roster by path.
    before = {path: path.read_bytes() if path.exists() else None for path in files}
    for path, text in files.items():
        write_atomic(path, text.encode())
    try:
        return Course.load(next(iter(files)), catalogue)
    except UsageError:
        for path, data in before.items():
            if data is None:
                path.unlink()
            else:
                write_atomic(path, data)
        raise


def _with_columns(text: str, rosters: Sequence[Path]) -> str:
    """Return a course file that knows the columns which a system's roster has for assignments of the same name."""
    from grader.instructor.gradebook.course_file import key_of, quoted, with_value
    from grader.instructor.gradebook.identities import words_in
    from grader.instructor.gradebook.roster import mark_columns

    there = {"".join(words_in(title)): cell for path in rosters for title, cell in mark_columns(path).items()}
    for name in tomllib.loads(text).get("assignments", {}):
        if (cell := there.get("".join(words_in(name)))) is not None:
            text = with_value(text, "columns", key_of(name), quoted(cell))
    return text


def _example(weeks: int, start: datetime | None, catalogue: Catalogue) -> str:
    """Return a pack's example course of so many weeks, of several packs the last one's: ours is the first.

    With the first day of week 1, each week is due in its last minute.

    Raises:
        UsageError: there is none of that length.
    """
    from grader.data_files import read_text

    found = {
        int(match[1]): path
        for pack in catalogue.packs
        for path in pack.root.glob("course-*.toml")
        if (match := re.fullmatch(r"course-(\d{1,2})\.toml", path.name))
    }
    if weeks not in found:
        lengths = ", ".join(map(str, sorted(found)))
        raise UsageError(
            f"There is no syllabus of {weeks} weeks.",
            f"There are syllabuses of {lengths} weeks."
            if lengths
            else "A pack's course-8.toml would be one.",
        )
    # The pack's file as it is, comments included: they say what to change.
    text = read_text(found[weeks])
    if start is None:
        return text
    weekly = count(1)

    def due(_: re.Match[str]) -> str:
        last = start + timedelta(days=7 * next(weekly) - 1)
        return f"due = {last.replace(hour=23, minute=59).isoformat()}"

    # The example has each due time as a comment, one a week: a course without dates is never late.
    return re.sub(r"^# due = .*$", due, text, flags=re.MULTILINE)


def _counted(people: Sequence[Person]) -> str:
    from grader.instructor.gradebook.course import Course

    sections = len(Course(roster={person.learner: person for person in people}).sections)
    some = f", {sections} sections" if sections > 1 else ""
    return f"{counted(len(people), 'learner')}{some}"


def _by_hand(words: tuple[str, ...], catalogue: Catalogue) -> str:
    """Return the assignments that --assignment names as they are written in a course.toml; else one for each unit.

    Raises:
        UsageError: a word is not like `week1=9.1,masks`, or there is no such kata.
    """
    from grader.instructor.gradebook.course_file import key_of, quoted

    units = [] if words else [unit for unit in catalogue.units if unit.katas]
    found: dict[str, list[Kata]] = {f"unit-{unit.number}": list(unit.katas) for unit in units}
    for text in words:
        name, equals, ids = text.partition("=")
        if not equals or not name.strip() or not ids.strip():
            raise UsageError(
                f"--assignment {text}: this is not like week1=9.1,masks.", "Write a name, =, and IDs."
            )
        katas = {kata: None for id_ in ids.split(",") for kata in catalogue.resolve(id_.strip())}
        found.setdefault(name.strip(), []).extend(katas)
    return "\n".join(
        f"[assignments.{key_of(title)}]\n"
        f"katas = [{', '.join(quoted(kata.slug) for kata in katas)}]\n"
        "# due = 2026-10-12T18:00:00       # in the time zone above\n"
        "# closes = 2026-10-19T18:00:00    # what comes in later does not count\n"
        '# attempts = "best"               # or "newest", which is the default, or "chosen"\n'
        for title, katas in found.items()
    )


_COURSE = """\
name = {name}
timezone = {timezone}
{roster}

{plan}
[late]                              # with nothing set here, lateness is noted and costs nothing
# grace_minutes = 15
# percent_per_day = 10
# late_days = 4                     # how many days late everybody may be in all without a penalty

[extensions]                        # days, by learner: ada = 2, or ada = {{ week1 = 3 }}
"""
