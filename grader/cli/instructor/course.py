"""`kata course`: write a first `course.toml`, from the roster that a system gives."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, note
from grader.errors import UsageError
from grader.report.style import say
from grader.words import counted

if TYPE_CHECKING:
    from grader.catalogue import Catalogue, Kata
    from grader.instructor.lms.person import Person


@click.group(short_help="Set up a course: assignments, rules, roster.")
def course() -> None:
    """Set up a course: assignments, rules, roster.

    \b
    Example:
      kata course new --roster canvas.csv --timezone Europe/Berlin
    """


@course.command(short_help="Write a first course.toml and a roster.csv.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option("--name", default="A course", show_default=True, help="Name of the course.")
@click.option(
    "--roster",
    "rosters",
    metavar="FILE",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A roster as Canvas, Moodle, Blackboard, Brightspace, Gradescope or GitHub Classroom export it, or a CSV "
    "file. Repeat it to merge several: people are matched by addresses, numbers and names.",
)
@click.option(
    "--timezone",
    default="UTC",
    show_default=True,
    metavar="ZONE",
    help="Time zone of the course, such as Europe/Berlin.",
)
@click.option(
    "--assignment",
    "assignments",
    metavar="NAME=ID[,ID…]",
    multiple=True,
    shell_complete=complete_id,
    help="An assignment and its katas; repeat it for more. [default: one for each unit]",
)
@click.option(
    "--syllabus",
    "weeks",
    type=click.IntRange(1, 99),
    metavar="WEEKS",
    help="Begin with an example of 4, 8 or 14 weeks: an assignment for each week.",
)
@click.option(
    "--start",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="The first day of week 1, for the due times of --syllabus.",
)
def new(
    folder: Path,
    name: str,
    rosters: tuple[Path, ...],
    timezone: str,
    assignments: tuple[str, ...],
    weeks: int | None,
    start: datetime | None,
) -> None:
    """Write a first course.toml and, from a system's roster, a roster.csv into FOLDER. Nothing is overwritten.

    \b
    Example:
      kata course new --roster canvas.csv
      kata course new autumn --roster canvas.csv --roster github.csv --assignment week1=9.1,9.2 --assignment week2=9.3.1
      kata course new --syllabus 8 --start 2027-01-11
    """
    from grader.catalogue import Catalogue
    from grader.files import write_atomic
    from grader.instructor.gradebook.course import COURSE_FILE, Course
    from grader.instructor.gradebook.identities import joined
    from grader.instructor.gradebook.roster import read_roster, roster_text

    catalogue = Catalogue.discover()
    target, roster = folder / COURSE_FILE, folder / "roster.csv"
    for path in (target, *([roster] if rosters else [])):
        if os.path.lexists(path) and path not in rosters:
            raise UsageError(f"{path} is there already.", "Edit it, or name another folder.")
    people, doubts = joined([list(read_roster(path).values()) for path in rosters])
    if weeks is not None and assignments:
        raise UsageError(
            "--syllabus and --assignment both say what the assignments are.", "Leave one of them out."
        )
    if weeks is None and start is not None:
        raise UsageError("--start says when a syllabus begins.", "Name its weeks: --syllabus 8.")
    plan = _by_hand(assignments, catalogue) if weeks is None else _example(weeks, start, catalogue)
    files = {target: _text(name, timezone, plan, roster=bool(rosters))}
    if rosters and roster not in rosters:
        files[roster] = roster_text(people)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError(f"{folder}: {error.filename} is not a folder.", "Name another one.") from error
    for path, text in files.items():
        write_atomic(path, text.encode())
    try:
        given = Course.load(target, catalogue).assignments
    except UsageError:
        for path in files:
            path.unlink()
        raise
    if rosters:
        say(f"{roster}   {_counted(people)}")
    say(f"{target}   {counted(len(given), 'assignment')}: {', '.join(given)}")
    for doubt in doubts:
        note(f"note: {doubt}")
    then = f"kata grade DOWNLOAD --assignment {next(iter(given), 'NAME')}"
    note(f"\nnext  {then}" if start else f"\nnext  write the due times into {target}, then: {then}")


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
    text = read_text(found[weeks])
    if start is None:
        return text
    weekly = count(1)

    def due(_: re.Match[str]) -> str:
        last = start + timedelta(days=7 * next(weekly) - 1)
        return f"due = {last.replace(hour=23, minute=59).isoformat()}"

    return re.sub(r"^# due = .*$", due, text, flags=re.MULTILINE)


def _counted(people: Sequence[Person]) -> str:
    sections = len({one.section for one in people if one.section})
    some = f", {sections} sections" if sections > 1 else ""
    return f"{counted(len(people), 'learner')}{some}"


def _assignments(words: tuple[str, ...], catalogue: Catalogue) -> dict[str, list[Kata]]:
    """Return each assignment's katas.

    Raises:
        UsageError: a word is not like `week1=9.1,masks`, or there is no such kata.
    """
    if not words:
        return {f"unit-{unit.number}": list(unit.katas) for unit in catalogue.units if unit.katas}
    found: dict[str, list[Kata]] = {}
    for word in words:
        name, equals, ids = word.partition("=")
        if not equals or not name.strip() or not ids.strip():
            raise UsageError(
                f"--assignment {word}: this is not like week1=9.1,masks.", "Write a name, =, and IDs."
            )
        katas = {kata: None for id_ in ids.split(",") for kata in catalogue.resolve(id_.strip())}
        found.setdefault(name.strip(), []).extend(katas)
    return found


def _by_hand(words: tuple[str, ...], catalogue: Catalogue) -> str:
    """Return the assignments that --assignment names as they are written in a course.toml."""
    from grader.instructor.gradebook.course import key_of, quoted

    return "\n".join(
        f"[assignments.{key_of(title)}]\n"
        f"katas = [{', '.join(quoted(kata.slug) for kata in katas)}]\n"
        "# due = 2026-10-12T18:00:00       # in the time zone above\n"
        "# closes = 2026-10-19T18:00:00    # what comes in later does not count\n"
        '# attempts = "best"               # or "newest", which is the default, or "chosen"\n'
        for title, katas in _assignments(words, catalogue).items()
    )


def _text(name: str, timezone: str, plan: str, *, roster: bool) -> str:
    from grader.instructor.gradebook.course import quoted

    return _COURSE.format(
        name=quoted(name),
        timezone=quoted(timezone),
        roster='roster = "roster.csv"' if roster else '# roster = "roster.csv"    # who is in the class',
        plan=plan,
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
