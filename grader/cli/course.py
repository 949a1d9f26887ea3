"""`kata course`: write a first `course.toml`, from the roster that a system gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, note
from grader.errors import UsageError
from grader.reports.style import say
from grader.words import counted

if TYPE_CHECKING:
    from grader.catalogue import Catalogue, Kata
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
def new(
    folder: Path, name: str, rosters: tuple[Path, ...], timezone: str, assignments: tuple[str, ...]
) -> None:
    """Write a first course.toml and, from a system's roster, a roster.csv into FOLDER. Nothing is overwritten.

    \b
    Example:
      kata course new --roster canvas.csv
      kata course new autumn --roster canvas.csv --roster github.csv --assignment week1=9.1,9.2 --assignment week2=9.3.1
    """
    from grader.catalogue import Catalogue
    from grader.files import write_atomic
    from grader.gradebook.course import COURSE_FILE, Course
    from grader.gradebook.identities import joined
    from grader.gradebook.roster import read_roster, roster_text

    catalogue = Catalogue.discover()
    target, roster = folder / COURSE_FILE, folder / "roster.csv"
    for path in (target, *([roster] if rosters else [])):
        if path.exists() and path not in rosters:
            raise UsageError(f"{path} is there already.", "Edit it, or name another folder.")
    people, doubts = joined([list(read_roster(path).values()) for path in rosters])
    given = _assignments(assignments, catalogue)
    files = {target: _text(name, timezone, given, roster=bool(rosters))}
    if rosters and roster not in rosters:
        files[roster] = roster_text(people)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        write_atomic(path, text.encode())
    try:
        Course.load(target, catalogue)
    except UsageError:  # an unknown time zone, say: nothing is left behind
        for path in files:
            path.unlink()
        raise
    if rosters:
        say(f"{roster}   {_counted(people)}")
    say(f"{target}   {counted(len(given), 'assignment')}: {', '.join(given)}")
    for doubt in doubts:
        note(f"note: {doubt}")
    note(
        f"\nnext  write the due times into {target}, then: kata grade DOWNLOAD --assignment {next(iter(given))}"
    )


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


def _text(name: str, timezone: str, assignments: dict[str, list[Kata]], *, roster: bool) -> str:
    from grader.gradebook.course import quoted

    parts = [
        _HEAD.format(name=quoted(name), timezone=quoted(timezone)),
        'roster = "roster.csv"\n' if roster else '# roster = "roster.csv"    # who is in the class\n',
    ]
    for title, katas in assignments.items():
        bare = title.isascii() and title.replace("-", "").replace("_", "").isalnum()
        slugs = ", ".join(quoted(kata.slug) for kata in katas)
        parts.append(_ASSIGNMENT.format(key=title if bare else quoted(title), katas=slugs))
    return "".join([*parts, _RULES])


_HEAD = """name = {name}
timezone = {timezone}
"""
_ASSIGNMENT = """
[assignments.{key}]
katas = [{katas}]
# due = 2026-10-12T18:00:00       # in the time zone above
# closes = 2026-10-19T18:00:00    # what comes in later does not count
# attempts = "best"               # or "newest", which is the default, or "chosen"
"""
_RULES = """
[late]                              # with nothing set here, lateness is noted and costs nothing
# grace_minutes = 15
# percent_per_day = 10
# late_days = 4                     # how many days late everybody may be in all without a penalty

[extensions]                        # days, by learner: ada = 2, or ada = { week1 = 3 }
"""
