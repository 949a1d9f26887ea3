"""`kata bench`: where the time goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.catalogue import Kata
from grader.cli.check import Target, find_targets
from grader.cli.context import Here, complete_id, device_option, here, json_option, note, print_json, shown
from grader.cli.progress import measuring
from grader.devices import kind_of
from grader.errors import UsageError
from grader.files import within, write_atomic
from grader.host.warm import start_launcher
from grader.reports.style import console, hanging, print_laid, safe_text, say

if TYPE_CHECKING:
    from rich.console import Console

    from grader.host.launcher import Launcher
    from grader.host.source import Source
    from grader.timing.bench import Benched

FOLDER = "kata-bench"


@click.command(
    short_help="Show where the time goes, by size: your times, the baseline's, the machine's limit."
)
@click.argument("what", metavar="[ID|PATH]", required=False, shell_complete=complete_id)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help=f"Where pictures go [default: {FOLDER}/KATA].",
)
@device_option
@json_option
def bench(what: str | None, out: Path | None, device: str, as_json: bool) -> None:
    """Show where the time goes, by size: your times, the baseline's, the machine's limit.

    It measures everything that the speed checks of a kata look at and, where there is one, torch's own fused
    operator. It decides nothing and records nothing: kata check --perf does that. A wrong answer is measured as
    well, and reported as wrong.

    \b
    Example:
      kata bench masked-attention
      kata bench 9.3.1 --out /tmp/masks
    """
    around = here()
    targets = _timed(find_targets(what, around).targets, around)
    sources = _read(targets)
    note(f"measuring {', '.join(kata.slug for kata in sources)} …")
    launcher = start_launcher(timed=True, device=device)
    try:
        measured = _measure(sources, launcher, device)
    finally:
        launcher.close()
    files = _draw(measured, out, around.folder)
    if as_json:
        print_json(
            {
                "device": device,
                "works": [_document(one, device) for one in measured],
                "files": [str(file) for file in files],
            }
        )
        return
    terminal = console()
    for one in measured:
        _show(one, device, terminal)
    for file in files:
        say(f"picture  {shown(file, around.folder)}")


def _timed(targets: list[Target], around: Here) -> list[Target]:
    """Return the targets that have speed checks."""
    timed = [target for target in targets if target.kata.speed_checks is not None]
    if not timed:
        have = ", ".join(kata.slug for kata in around.catalogue.katas if kata.speed_checks is not None)
        raise UsageError("There are no speed checks in that.", f"These have some: {have or 'none yet'}.")
    return timed


def _read(targets: list[Target]) -> dict[Kata, Source]:
    """Return the files that can be read; the others are named, and one has to be left."""
    from grader.host.source import Unreadable, read_source

    sources = {}
    for target in targets:
        try:
            sources[target.kata] = read_source(target.file)
        except Unreadable as error:
            if len(targets) == 1:
                raise UsageError(error.message, f"A fresh one: kata start {target.kata.slug}") from error
            note(f"{target.kata.slug}: {error.message}")
    if not sources:
        raise UsageError(
            "None of these can be read.", f"Fresh ones: kata start {targets[0].kata.unit.number}"
        )
    return sources


def _measure(sources: dict[Kata, Source], launcher: Launcher, device: str) -> list[Benched]:
    from grader.running.demands import demands_of, setting_of
    from grader.timing.bench import measure, works

    kind = kind_of(device)
    with measuring() as (start, step):
        found = works(demands_of(list(sources)), kind)
        start(sum(len(demands[0].work.sizes_on(kind)) for demands in found))
        return [
            measure(demands, setting_of(kata, sources[kata], launcher, device), step)
            for demands in found
            for kata in (demands[0].kata,)
        ]


def _draw(measured: list[Benched], out: Path | None, folder: Path) -> list[Path]:
    """Write a picture for each work that has times at two sizes or more."""
    from grader.demos.exhibit_types import Lines, Series
    from grader.demos.pictures import draw

    files = []
    katas = {one.kata for one in measured}
    alone = out is not None and len(katas) == 1
    top = out or within(folder / FOLDER, folder)
    places = {kata: top if alone else top / kata.slug for kata in katas}
    for one in measured:
        lines = {name: points for name, points in one.curve.lines().items() if len(points) > 1}
        if not lines:
            continue
        picture = draw(
            Lines(
                title=one.demands[0].title,
                series=[
                    Series(name, [float(size) for size in points], [s * 1e3 for s in points.values()])
                    for name, points in lines.items()
                ],
                x_axis=one.work.axis,
                y_axis="milliseconds",
                log_x=True,
                log_y=True,
            )
        )
        assert picture is not None
        files.append(places[one.kata] / f"{one.demands[0].name}.svg")
        write_atomic(files[-1], picture)
    return files


def _document(one: Benched, device: str) -> dict[str, Any]:
    curve = one.curve
    return {
        "kata": one.kata.slug,
        "axis": one.work.axis,
        "checks": [
            {
                "id": demand.check,
                "name": demand.title,
                "threshold": demand.name,
                "form": demand.form,
                "at": demand.threshold.on(kind_of(device)),
            }
            for demand in one.demands
        ],
        "sizes": [
            {
                "size": size,
                "yours_s": curve.submission.get(size),
                "baseline_s": curve.baseline.get(size),
                "fused_s": curve.fused.get(size),
                "limit_s": curve.limit.get(size),
                "ratio": one.ratio(size),
                "peak_bytes": one.peak.get(size),
            }
            for size in one.sizes
        ],
        "wrong": one.wrong,
        "stopped": one.stopped,
    }


def _show(one: Benched, device: str, out: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from grader.timing.message import asked, milliseconds, plot_of

    for demand in one.demands:
        out.print()
        hanging(
            out, Text(f"{demand.kata.number} {demand.kata.slug}: ", "bold"), safe_text(demand.title, "bold")
        )
        print_laid(f"  {asked(demand.form, demand.threshold.on(kind_of(device)), one.work.axis)}", out)
    if one.wrong is not None:
        print_laid(f"  the answers are wrong, so these times count for nothing: {one.wrong}", out)
    if one.stopped is not None:
        print_laid(f"  your code was not measured to the end: {one.stopped}", out)
    curve = one.curve
    columns = {
        "yours": curve.submission,
        "baseline": curve.baseline,
        "fused": curve.fused,
        "limit": curve.limit,
    }
    drawn = {name: points for name, points in columns.items() if points or name in ("yours", "baseline")}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in (one.work.axis, *drawn, "yours/baseline", *(["your memory"] if one.peak else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for size in one.sizes:
        ratio = one.ratio(size)
        cells = [milliseconds(points[size]) if size in points else "–" for points in drawn.values()]
        cells.append(f"{ratio:.2f}" if ratio is not None else "–")
        if one.peak:
            cells.append(f"{one.peak[size] / 2**20:.0f} MB" if size in one.peak else "–")
        table.add_row(str(size), *cells)
    out.print(table)
    for line in plot_of(curve):
        out.print(f"  {line}", soft_wrap=True)
