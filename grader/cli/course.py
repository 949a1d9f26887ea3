"""`kata course`: write a first `course.toml`, from the roster that a system gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, note
from grader.errors import UsageError
from grader.reports.style import say
from grader.words import counted

if TYPE_CHECKING:
    from grader.catalogue import Catalogue, Kata
    from grader.catalogue.syllabus import Syllabus, SyllabusWeek
    from grader.gradebook.person import Person


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
    help="Spread the katas over 4, 8 or 14 weeks: an assignment for each week, and a syllabus.md for learners.",
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
    from grader.gradebook.course import COURSE_FILE, Course
    from grader.gradebook.identities import joined
    from grader.gradebook.roster import read_roster, roster_text

    catalogue = Catalogue.discover()
    target, roster, page = (folder / name for name in (COURSE_FILE, "roster.csv", "syllabus.md"))
    for path in (target, *([roster] if rosters else []), *([page] if weeks else [])):
        if path.exists() and path not in rosters:
            raise UsageError(f"{path} is there already.", "Edit it, or name another folder.")
    people, doubts = joined([list(read_roster(path).values()) for path in rosters])
    plan, first = _syllabus(weeks, start, assignments, catalogue)
    in_weeks = {f"week-{week.number}": week for week in plan.weeks} if plan else {}
    given = {title: list(week.katas) for title, week in in_weeks.items()} or _assignments(
        assignments, catalogue
    )
    files = {target: _text(name, timezone, given, in_weeks, first, roster=bool(rosters))}
    if rosters and roster not in rosters:
        files[roster] = roster_text(people)
    if plan:
        files[page] = plan.page(name, first)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        write_atomic(path, text.encode())
    try:
        Course.load(target, catalogue)
    except UsageError:
        for path in files:
            path.unlink()
        raise
    if rosters:
        say(f"{roster}   {_counted(people)}")
    say(f"{target}   {counted(len(given), 'assignment')}: {', '.join(given)}")
    if plan:
        say(f"{page}   the weeks, for learners")
    for doubt in doubts:
        note(f"note: {doubt}")
    then = f"kata grade DOWNLOAD --assignment {next(iter(given))}"
    note(f"\nnext  {then}" if first else f"\nnext  write the due times into {target}, then: {then}")


def _syllabus(
    weeks: int | None, start: datetime | None, assignments: tuple[str, ...], catalogue: Catalogue
) -> tuple[Syllabus | None, date | None]:
    from grader.catalogue.syllabus import find_syllabus

    if weeks is None:
        if start is not None:
            raise UsageError("--start says when a syllabus begins.", "Name its weeks: --syllabus 8.")
        return None, None
    if assignments:
        raise UsageError(
            "--syllabus and --assignment both say what the assignments are.", "Leave one of them out."
        )
    return find_syllabus(catalogue.packs, weeks), start.date() if start else None


def _about(week: SyllabusWeek) -> list[str]:
    """Return what stands above an assignment: what the week is about, and what of it is not handed in."""
    spare = ", ".join(kata.slug for kata in week.spare)
    return [
        f"# {week.title}: {week.minutes / 60:.1f} hours, {week.points:g} points",
        *([f"# with time left: {spare}"] if spare else []),
    ]


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


def _text(
    name: str,
    timezone: str,
    assignments: dict[str, list[Kata]],
    weeks: Mapping[str, SyllabusWeek],
    start: date | None,
    *,
    roster: bool,
) -> str:
    from grader.gradebook.course import quoted

    lines = [f"name = {quoted(name)}", f"timezone = {quoted(timezone)}"]
    lines += ['roster = "roster.csv"'] if roster else ['# roster = "roster.csv"    # who is in the class']
    lines.append("")
    for title, katas in assignments.items():
        key = (
            title if title.replace("-", "").replace("_", "").isalnum() and title.isascii() else quoted(title)
        )
        week = weeks.get(title)
        due = week.due(start) if week and start else None
        lines += [
            *(_about(week) if week else []),
            f"[assignments.{key}]",
            f"katas = [{', '.join(quoted(kata.slug) for kata in katas)}]",
            f"due = {due.isoformat()}"
            if due
            else "# due = 2026-10-12T18:00:00       # in the time zone above",
            f"# closes = {(due + timedelta(days=7) if due else datetime(2026, 10, 19, 18)).isoformat()}    "
            "# what comes in later does not count",
            '# attempts = "best"               # or "newest", which is the default, or "chosen"',
            "",
        ]
    lines += [
        "[late]                              # with nothing set here, lateness is noted and costs nothing",
        "# grace_minutes = 15",
        "# percent_per_day = 10",
        "# late_days = 4                     # how many days late everybody may be in all without a penalty",
        "",
        "[extensions]                        # days, by learner: ada = 2, or ada = { week1 = 3 }",
        "",
    ]
    return "\n".join(lines)
