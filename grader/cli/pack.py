"""`kata pack`: tools for authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, json_option, print_json
from grader.reports.style import console, safe, status_text

if TYPE_CHECKING:
    from grader.packs.gate import Verdict


@click.group(short_help="For authors: prove a pack.")
def pack() -> None:
    """For authors: prove a pack.

    \b
    Example:
      kata pack check masked-attention
    """


@pack.command(short_help="Examine katas: stub, right and wrong answers, points, hints, files, inputs.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Right answers must pass on each.",
)
@click.option("--update", is_flag=True, help="Renew fingerprints and transcripts instead of comparing them.")
@json_option
def check(id_: str | None, seeds: int, update: bool, as_json: bool) -> int:
    """Examine katas: stub, right and wrong answers, points, hints, files, inputs.

    Exit code 0 says that every kata passed the gate, 1 that one did not.

    \b
    Example:
      kata pack check
      kata pack check 9.3.2 --seeds 100
    """
    from grader.catalogue import Catalogue
    from grader.cli.check import start_launcher

    catalogue = Catalogue.discover()
    katas = catalogue.resolve(id_) if id_ else list(catalogue.katas)
    launcher = start_launcher()
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from grader.checks.suite import Suite, with_suites
    from grader.packs.gate import Gate

    err = console(stderr=True)
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=err, transient=True
    ) as bar:
        task = bar.add_task("collecting", total=None)
        gate = Gate(launcher, seeds=seeds, update=update, step=lambda text: bar.update(task, description=safe(text)))

        def body(suites: dict[str, Suite]) -> list[Verdict]:
            return [gate.examine(kata, suites[kata.slug]) for kata in katas]

        try:
            verdicts = with_suites(katas, body, hidden=True)
        finally:
            launcher.close()
    if as_json:
        import msgspec

        print_json({"katas": msgspec.to_builtins(verdicts)})
    else:
        _show(verdicts)
    return 1 if any(verdict.findings for verdict in verdicts) else 0


def _show(verdicts: list[Verdict]) -> None:
    from rich.table import Table

    out = console()
    table = Table("kata", "gate", "checks", "mutants", "named", "seconds", box=None, pad_edge=False)
    for verdict in verdicts:
        table.add_row(
            verdict.kata,
            status_text("fail" if verdict.findings else "pass", out),
            str(verdict.checks),
            str(verdict.mutants),
            str(verdict.named),
            f"{verdict.seconds:.2f}",
        )
    out.print(table)
    for verdict in verdicts:
        for finding in verdict.findings:
            out.print(f"\n{finding.kata}: {finding.rule}\n  {safe(finding.message)}")
