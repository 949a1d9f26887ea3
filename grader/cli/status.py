"""`kata` alone: where am I, and what to type next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from grader import __version__
from grader.catalogue import Kata, Unit
from grader.cli.context import Here, here, print_json, shown
from grader.errors import UsageError
from grader.reports.style import bar, console, points, safe_text, status_text
from grader.workspace import kata_around, locate, unit_around


@dataclass(frozen=True)
class NextStep:
    """The next command to type, and a few words about it."""

    command: str | None
    why: str


def status(*, as_json: bool) -> None:
    """Print where the learner is."""
    place = here()
    unit = current_unit(place)
    step = next_step(place, unit)
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
        line = f"next:  {step.command}"
        out.print(
            safe_text(line, "bold"), safe_text(f"   {step.why}", "dim") if step.why else "", soft_wrap=True
        )
    else:
        out.print(safe_text(step.why, "bold"), soft_wrap=True)


def current_unit(place: Here) -> Unit | None:
    """Return the unit the learner is in, by folder, else the one touched last; None before anything."""
    around = unit_around(place.folder, place.catalogue)
    if around is not None:
        return around
    touched: list[tuple[str, Unit]] = []
    for kata in place.catalogue.katas:
        entry = place.entry(kata)
        when = max(entry.checked or "", entry.started or "")
        if when:
            touched.append((when, kata.unit))
    if not touched:
        return None
    latest = max(when for when, _ in touched)
    # Of several started in the same second, the first in the order of the numbers.
    return next(unit for when, unit in touched if when == latest)


def next_step(place: Here, unit: Unit | None) -> NextStep:
    """Return what to type next: go on with this kata, this unit, or begin another."""
    units = [unit] if unit is not None else []
    units += [other for other in place.catalogue.units if other is not unit]
    for candidate in units:
        around = kata_around(place.folder, place.catalogue)
        todo = [kata for kata in candidate.katas if place.entry(kata).passed is None]
        if todo:
            kata = around if around in todo else todo[0]
            return _step_for(place, kata)
    return NextStep(None, "Every kata is passed. Nothing is left to do here.")


def describe(place: Here, kata: Kata) -> dict[str, Any]:
    """Return one kata's facts and progress for JSON."""
    entry = place.entry(kata)
    return {
        "kata": kata.slug,
        "number": kata.number,
        "title": kata.title,
        "points": kata.points,
        "minutes": kata.minutes,
        "difficulty": kata.difficulty,
        "status": shown_status(place, kata),
        "score": entry.score,
        "best": entry.best,
        "attempts": entry.attempts,
        "started": entry.started,
        "checked": entry.checked,
        "passed": entry.passed,
        "hints": entry.hints,
        "gave_up": entry.gave_up,
    }


def shown_status(place: Here, kata: Kata) -> str:
    """Return a kata's status; one that was scaffolded and not worked on is `started`."""
    entry = place.entry(kata)
    if entry.status == "not_started" and entry.started is not None:
        return "started"
    return entry.status


def status_words(place: Here, kata: Kata) -> str | None:
    """Return the words beside the glyph where one word would hide something, else None."""
    from grader.reports.style import LOOKS

    entry = place.entry(kata)
    word = LOOKS[shown_status(place, kata)].word
    extra = []
    if entry.passed is not None and entry.status != "pass":
        extra.append("passed before")
    if entry.gave_up is not None:
        extra.append("solution shown")
    return f"{word}, {', '.join(extra)}" if extra else None


def _step_for(place: Here, kata: Kata) -> NextStep:
    entry = place.entry(kata)
    if entry.started is None and entry.attempts == 0:
        fresh = all(place.entry(other).started is None for other in kata.unit.katas)
        what = kata.unit.number if fresh else kata.slug
        return NextStep(f"kata start {what}", kata.unit.title if fresh else kata.title)
    if entry.attempts == 0:
        return NextStep(f"kata check {kata.slug}", f"when you have edited {_file(place, kata)}")
    return NextStep(f"kata check {kata.slug}", f"stuck? kata hint {kata.slug}")


def _file(place: Here, kata: Kata) -> str:
    if place.workspace is not None:
        folder = place.workspace.kata_folder(kata)
        try:
            found = locate(kata, folder)
        except UsageError:
            found = None
        return shown(found or folder / f"{kata.module}.py", place.folder)
    return f"{kata.module}.py"


def _print_unit(place: Here, unit: Unit) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    passed = sum(1 for kata in unit.katas if place.entry(kata).passed is not None)
    best = sum(min(place.entry(kata).best, kata.points) for kata in unit.katas)
    whole = sum(kata.points for kata in unit.katas)
    out.print(safe_text(f"{unit.number}  {unit.title}", "bold"), soft_wrap=True)
    out.print(
        bar(passed, len(unit.katas), out),
        Text(f" {passed} of {len(unit.katas)} passed, {points(best, whole)} points"),
        soft_wrap=True,
    )
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for kata in unit.katas:
        entry = place.entry(kata)
        table.add_row(
            Text(f"  {kata.number}"),
            Text(kata.slug),
            Text(points(entry.best, kata.points), justify="right"),
            status_text(shown_status(place, kata), out, word=status_words(place, kata)),
        )
    out.print(table)
    others = [other for other in place.catalogue.units if other is not unit and _touched(place, other)]
    for other in others:
        done = sum(1 for kata in other.katas if place.entry(kata).passed is not None)
        out.print(safe_text(f"also   {other.number}  {other.title}: {done} of {len(other.katas)} passed"))
    out.print()


def _touched(place: Here, unit: Unit) -> bool:
    return any(place.entry(kata).started or place.entry(kata).attempts for kata in unit.katas)


def _print_overview(place: Here) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    out.print(
        safe_text(f"kata {__version__}", "bold"), safe_text(f"  nothing is started in {place.folder} yet")
    )
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for unit in place.catalogue.units:
        count = len(unit.katas)
        table.add_row(
            Text(f"  {unit.number}"),
            safe_text(unit.title),
            Text(f"{count} {'kata' if count == 1 else 'katas'}"),
            Text(f"{points(sum(kata.points for kata in unit.katas))} points"),
        )
    out.print(table)
    click.echo()
