"""`kata` alone: where am I, and what to type next; and `kata list`: everything there is, and how far you are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from grader import __version__
from grader.catalogue import Kata, Unit
from grader.cli.context import LearnerContext, here, json_option, print_json, shown
from grader.errors import UsageError
from grader.learner.workspace import locate
from grader.report.report import KataStatus
from grader.report.style import (
    STATUS_STYLES,
    bar,
    console,
    never_cut,
    never_split_words,
    out_of,
    points,
    print_hanging,
    safe_text,
    status_text,
)
from grader.words import counted, hours

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDEST = 1000
"""Columns in which a table is as wide as it wants to be."""


@dataclass(frozen=True)
class NextStep:
    """The next command to type, and a few words about it."""

    command: str | None
    why: str


def status(*, as_json: bool) -> None:
    """Print where the learner is."""
    place = here()
    unit = place.current_unit()
    step = next_step(place)
    if as_json:
        katas = unit.katas if unit is not None else ()
        print_json(
            {
                "workspace": str(place.workspace.root) if place.workspace else None,
                "unit": unit.number if unit else None,
                "next": step.command,
                "why": step.why,
                "katas": [describe(place, kata) for kata in katas],
            }
        )
        return
    if unit is None:
        _print_overview(place)
    else:
        _print_unit(place, unit)
    out = console()
    if step.command is not None:
        body = safe_text(step.command, "bold")
        print_hanging(out, safe_text("next:  ", "bold"), body.append(f"    {step.why}", "not bold dim"))
    else:
        print_hanging(out, safe_text(""), safe_text(step.why, "bold"))


def next_step(place: LearnerContext) -> NextStep:
    """Return what to type next: go on with this kata, this unit, or begin another."""
    kata = place.next_kata()
    if place.current_unit() is None and (begin := _beginning(place)) is not None:
        return NextStep(f"kata start {begin.slug if isinstance(begin, Kata) else begin.number}", begin.title)
    if kata is None:
        return NextStep(None, "Every kata is passed. Nothing is left to do here.")
    entry = place.entry(kata)
    if entry.started is None and entry.attempts == 0:
        fresh = all(place.entry(other).started is None for other in kata.unit.katas)
        what = kata.unit.number if fresh else kata.slug
        return NextStep(f"kata start {what}", kata.unit.title if fresh else kata.title)
    if entry.status == "missing":
        return NextStep(f"kata start {kata.slug}", "its file is not there")
    if entry.attempts == 0:
        return NextStep(f"kata check {kata.slug}", f"when you have edited {_file(place, kata)}")
    return NextStep(f"kata check {kata.slug}", f"stuck? kata hint {kata.slug}")


def _beginning(place: LearnerContext) -> Unit | Kata | None:
    """Return what the pack begins with, where it says so."""
    names = [pack.begin for pack in place.catalogue.packs if pack.begin]
    return place.catalogue.find(names[0])[0] if names else None


def describe(place: LearnerContext, kata: Kata) -> dict[str, Any]:
    """Return one kata's facts and progress for JSON."""
    entry = place.entry(kata)
    return {
        "kata": kata.slug,
        "number": kata.number,
        "title": kata.title,
        "points": kata.points,
        "minutes": kata.minutes,
        "difficulty": kata.difficulty,
        "status": entry.status,
        "score": entry.score,
        "best": entry.best,
        "attempts": entry.attempts,
        "started": entry.started,
        "checked": entry.checked,
        "passed": entry.passed,
        "hints": entry.hints,
        "gave_up": entry.gave_up,
    }


_NOW: dict[KataStatus, str] = {
    "fail": "fails now",
    "error": "does not run now",
    "timeout": "does not answer now",
    "in_progress": "in progress again",
    "not_started": "begun again",
    "missing": "no file now",
}
"""What a kata is that has passed before."""


def lasting_status(place: LearnerContext, kata: Kata) -> KataStatus:
    """Return a kata's status as progress counts it: a pass stays a pass."""
    entry = place.entry(kata)
    return entry.status if entry.passed is None else "pass"


def status_words(place: LearnerContext, kata: Kata) -> str | None:
    """Return the words next to the glyph, if one word would hide something, else None."""
    entry = place.entry(kata)
    extra = []
    if entry.passed is not None and entry.status in _NOW:
        extra.append(_NOW[entry.status])
    elif entry.passed is None and best_of(place, kata) > entry.score:
        extra.append(f"{points(min(entry.score, kata.points))} now")
    if entry.gave_up is not None:
        extra.append("solution shown")
    return ", ".join([STATUS_STYLES[lasting_status(place, kata)].word, *extra]) if extra else None


def best_of(place: LearnerContext, kata: Kata) -> float:
    """Return the most points that a check has given: progress only grows."""
    return min(place.entry(kata).best, kata.points)  # one from before speed was kept apart may be more


def passed_summary(place: LearnerContext, unit: Unit) -> str:
    """Say how many katas of a unit have passed."""
    passed = sum(place.entry(kata).passed is not None for kata in unit.katas)
    return f"{passed} of {len(unit.katas)} passed"


def how_far(place: LearnerContext) -> str:
    """Say how many of all katas have passed, and how many points that is."""
    katas = place.catalogue.katas
    passed = sum(place.entry(kata).passed is not None for kata in katas)
    score, whole = sum(best_of(place, kata) for kata in katas), sum(kata.points for kata in katas)
    fail = sum(place.entry(kata).passed is not None and place.entry(kata).status == "fail" for kata in katas)
    now = f"; {fail} of these {'fails' if fail == 1 else 'fail'} now" if fail else ""
    return f"{passed} of {counted(len(katas), 'kata')}, {out_of(score, whole)}{now}"


def completed(place: LearnerContext, unit: Unit) -> str:
    """Say what somebody has who has passed all of a unit; "" as long as one is left."""
    if any(place.entry(kata).passed is None for kata in unit.katas):
        return ""
    shown = [*([unit.number] if (unit.folder / "demo.py").is_file() else []), *_demos(unit)]
    at_work = f". On your code:  kata demo {shown[0]}" if shown else ""
    return f"Unit {unit.number} is complete{f': you have {unit.outcome}' if unit.outcome else ''}{at_work}"


def goal(unit: Unit) -> str:
    """Say what a unit leads to, before it is begun."""
    demos = _demos(unit)
    now = f". Seen now, on our code:  kata demo {demos[0]}" if demos else ""
    return f"{unit.outcome}{now}" if unit.outcome else ""


def _demos(unit: Unit) -> list[str]:
    """Return the katas of a unit that can be shown at work, the last first: it is made of the others."""
    return [kata.slug for kata in reversed(unit.katas) if (kata.folder / "demo.py").is_file()]


def _file(place: LearnerContext, kata: Kata) -> str:
    if place.workspace is not None:
        own = place.workspace.answer(kata)
        try:
            found = locate(kata, own.parent if kata.adapter is None else place.workspace.root)
        except UsageError:
            found = None
        return shown(found or own, place.folder)
    return str(kata.answer)


def _print_unit(place: LearnerContext, unit: Unit) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    passed = sum(place.entry(kata).passed is not None for kata in unit.katas)
    score = sum(best_of(place, kata) for kata in unit.katas)
    whole = sum(kata.points for kata in unit.katas)
    print_hanging(out, safe_text(f"{unit.number}  ", "bold"), safe_text(unit.title, "bold"))
    body = Text(f"{passed_summary(place, unit)}, {points(score, whole)} points")
    print_hanging(out, bar(passed, len(unit.katas), out).append("  "), body)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for kata in unit.katas:
        table.add_row(
            Text(f"  {kata.number}"),
            Text(kata.slug),
            Text(points(best_of(place, kata), kata.points), justify="right"),
            status_text(lasting_status(place, kata), out, word=status_words(place, kata)),
        )
    never_cut(table, 0, 1, 2)
    never_split_words(table, 3)
    out.print(table, crop=False)
    for other in place.catalogue.units:
        entries = [place.entry(kata) for kata in other.katas]
        if other is unit or not any(entry.started or entry.attempts for entry in entries):
            continue
        line = f"{other.number}  {other.title}: {passed_summary(place, other)}"
        print_hanging(out, safe_text("also   "), safe_text(line))
    print_hanging(out, safe_text("all    "), safe_text(how_far(place)))
    if done := completed(place, unit):
        print_hanging(out, safe_text(""), safe_text(done))
    out.print()


def _print_overview(place: LearnerContext) -> None:
    """Say what this is and how it goes, to somebody who has nothing yet."""
    out = console()
    katas, titles = place.catalogue.katas, [pack.title for pack in place.catalogue.packs]
    head = safe_text(f"kata {__version__}  ", "bold")
    what = f"{'; '.join(titles)}: {counted(len(katas), 'kata')}, small exercises that check themselves"
    print_hanging(out, head, safe_text(what))
    print_hanging(
        out, safe_text("how    ", "bold"), safe_text("read a lesson, write its functions, watch the checks")
    )
    print_hanging(out, safe_text("all    ", "bold"), safe_text("kata list"))


@click.command("list", short_help="Show every unit and kata with your progress.")
@json_option
def list_katas(as_json: bool) -> None:
    """Show every unit and kata with your progress.

    \b
    Example:
      kata list
      kata list --json
    """
    place = here()
    if as_json:
        print_json(
            {
                "units": [
                    {
                        "number": unit.number,
                        "slug": unit.slug,
                        "title": unit.title,
                        "pack": unit.pack.name,
                        "katas": [describe(place, kata) for kata in unit.katas],
                    }
                    for unit in place.catalogue.units
                ]
            }
        )
        return

    out = console()
    # A pack need not say how long its katas take: an empty column would only take room.
    known = any(kata.effort for kata in place.catalogue.katas)
    for titles, efforts, worth in (
        (True, known, True),
        (False, known, True),
        (False, False, True),
        (False, False, False),
    ):
        table = _table(place, out, titles=titles, efforts=efforts, worth=worth)
        if out.measure(table, options=out.options.update(width=WIDEST)).maximum <= out.width:
            break  # what does not fit is left out by whole columns: what is typed stays, and so does the status
    # Numbers and names are typed, so they are never broken or cut.
    never_cut(table, 0, 1)
    never_split_words(table, len(table.columns) - 1)
    out.print(table, crop=False)
    print_hanging(out, safe_text(""), safe_text(how_far(place)))


def _table(place: LearnerContext, out: Console, *, titles: bool, efforts: bool, worth: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    shown = (True, True, titles, worth, efforts, True)  # number and name are typed: they are never left out
    for column, wanted in enumerate(shown):
        if wanted:
            table.add_column(no_wrap=column not in (2, 5), justify="right" if column == 3 else "left")

    def add(item: Unit | Kata, most: float, effort: str, status: Text, style: str = "") -> None:
        texts = (item.number, item.slug, item.title, f"{points(most)} points", effort)
        cells = [*(safe_text(text, style) for text in texts), status]
        table.add_row(*(cell for cell, wanted in zip(cells, shown, strict=True) if wanted))

    for unit in place.catalogue.units:
        # How long a unit takes, where each of its katas says so.
        minutes = [kata.minutes for kata in unit.katas]
        whole = sum(filter(None, minutes))
        effort = hours(whole) if all(minutes) else ""
        most = sum(kata.points for kata in unit.katas)
        add(unit, most, effort, Text(passed_summary(place, unit)), "bold")
        for kata in unit.katas:
            word = status_words(place, kata)
            add(kata, kata.points, kata.effort, status_text(lasting_status(place, kata), out, word=word))
    return table
