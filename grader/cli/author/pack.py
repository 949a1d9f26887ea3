"""`kata pack`: tools for authors."""

from __future__ import annotations

import os
import re
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, device_option, gathered, json_option, print_json
from grader.cli.progress import measuring
from grader.devices import kind_of
from grader.errors import UsageError, did_you_mean
from grader.instructor.bundles import FOLDERS, SYSTEMS
from grader.instructor.bundles.bundle import BundleOptions, default_python
from grader.report.style import console, escape_controls, never_cut, status_text

if TYPE_CHECKING:
    from grader.author.calibrate import Calibrated
    from grader.author.contracts import ContractCell
    from grader.author.gate import Verdict
    from grader.catalogue import Catalogue, Kata
    from grader.engine.host.launcher import Launcher
    from grader.engine.runner.suite import Suite


SEEDS = 10
"""Of the full gate, for right answers."""


@click.group(short_help="For authors: make a kata, verify it, bundle a pack.")
def pack() -> None:
    """For authors: make a kata, verify it, bundle a pack.

    \b
    Example:
      kata pack new my-course/katas --number 1.1.1 --slug dot-product
      kata pack check dot-product
      kata pack mistake dot-product keys_viewed > dot_product.py
      kata pack calibrate dot-product
      kata pack build my-course
    """


@pack.command(short_help="Examine katas: stub, right and wrong answers, points, hints, files, inputs.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--full", is_flag=True, help="Try 10 seeds and all mistakes, each of them on 30 seeds.")
@click.option("--update", is_flag=True, help="Renew fingerprints and transcripts instead of comparing them.")
@json_option
def check(id_: str | None, full: bool, update: bool, as_json: bool) -> int:
    """Examine katas: stub, right and wrong answers, points, hints, files, inputs.

    One seed and a sample of the mistakes, which takes seconds, unless you ask for more. --update tries each mistake and
    many pairs of them once: minutes. Exit code 0 says that every kata passed, 1 that one did not.

    \b
    Example:
      kata pack check 9.3.2
      kata pack check 9.3.2 --update
      kata pack check --full
    """
    launcher, katas = _prepared(id_)
    from grader.author import stability
    from grader.author.gate import SAMPLE, SMALL_SAMPLE, Gate, sample
    from grader.cli.progress import examining
    from grader.engine.runner.suite import suites_of

    with examining() as step:

        def gate(suite: Suite) -> Gate:
            # All mistakes take minutes: without --full, a sample has to do.
            drawn = partial(sample, most=SMALL_SAMPLE if suite.trained() else SAMPLE)
            return Gate(
                launcher,
                seeds=SEEDS if full else 1,
                mistake_seeds=stability.SEEDS if full else 0,
                update=update,
                jobs=_jobs(),
                step=step,
                draw=None if full or update else drawn,
                train=full or update,
            )

        # Checks are collected once for all katas, after the launcher: workers are split off from a process
        # without answers.
        with closing(launcher), suites_of(katas, hidden=True) as suites:
            verdicts = [gate(suites[kata.slug]).examine(kata, suites[kata.slug]) for kata in katas]
    if as_json:
        print_json({"katas": verdicts})
    else:
        _show(verdicts)
        if not full:
            click.echo(_what_more(id_, verdicts, updated=update))
    return 1 if any(verdict.findings for verdict in verdicts) else 0


@pack.command(short_help="Fit an adapter to a course's own solution: list what it does not ask for.")
@click.argument("solution", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--kata", "ids", metavar="ID", multiple=True, shell_complete=complete_id, help="Adapt this kata alone."
)
@click.option(
    "--into",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="The adapter's folder. [default: this folder]",
)
@json_option
def adapt(solution: Path, ids: tuple[str, ...], into: Path, as_json: bool) -> None:
    """Fit an adapter to a course's own solution: list what it does not ask for.

    SOLUTION is a folder as learners hand it in. What is not there yet of an adapter, adapt.toml and a module for the
    kata, is written for you to change. Then the solution goes through all checks, and those that it fails are listed as
    `not_asked`. Read the list: nothing in it is asked of anybody.

    \b
    Example:
      kata pack adapt ~/course/solution --kata masked-attention
    """
    from grader.engine.host.bootstrap import start_launcher

    solution = solution.resolve()
    launcher = start_launcher()
    with closing(launcher):
        from grader.author import adapt as adapting
        from grader.catalogue import Catalogue
        from grader.catalogue.adapters import ADAPTER_FILE

        slugs = [Catalogue.discover().resolve_one(id_).slug for id_ in ids]
        for slug in slugs:
            kata = Catalogue.discover().kata(slug)
            assert kata is not None
            for path in adapting.begin(into, kata, solution):
                click.echo(f"written  {escape_controls(str(path))}", err=True)
        adapting.require_adapter(into)
        named = os.environ.get("KATA_PACKS", "").split(os.pathsep)
        os.environ["KATA_PACKS"] = os.pathsep.join(dict.fromkeys(filter(None, (*named, str(into.resolve())))))
        fits = adapting.fit(adapting.adapted(Catalogue.discover(), into, slugs), solution, launcher)
        changed = [adapting.write_not_asked(fitted) for fitted in fits]
    if as_json:
        print_json(
            {"katas": [{"kata": f.kata.slug, "points": f.points, "not_asked": f.failed} for f in fits]}
        )
        return
    for fitted in fits:
        counts = f"{fitted.passed} checks hold, {fitted.points:g} of {fitted.most:g} points"
        click.echo(f"{fitted.kata.slug}: {counts}; {len(fitted.failed)} are not asked")
        for name, why in fitted.failed.items():
            click.echo(f"  {name}: {escape_controls(why)}")
    click.echo(
        f"\n{'Written' if any(changed) else 'Nothing new'} in {escape_controls(str(into / ADAPTER_FILE))}. "
        "Read the lists: a check that your course does ask for and that fails here is a fault of the module next to it."
    )


def _prepared(id_: str | None) -> tuple[Launcher, list[Kata]]:
    """Start what workers are split off from, and return the katas; those that are written once are split anew."""
    from grader.engine.host.bootstrap import start_launcher

    # Before sources are read, and before the gate is imported: workers come from a process that has seen no answer.
    launcher = start_launcher()
    try:
        catalogue = _split_catalogue()
        return launcher, catalogue.resolve(id_) if id_ else list(catalogue.katas)
    except BaseException:
        launcher.close()
        raise


def _split_catalogue() -> Catalogue:
    """Return all katas, after stubs, references and checks of those written once were made anew."""
    from grader.author.split import split_pack
    from grader.catalogue import Catalogue
    from grader.catalogue.catalogue import named_folders
    from grader.catalogue.load import PACK_FILE

    for folder in named_folders():
        if (folder / PACK_FILE).is_file():
            split_pack(folder)
    return Catalogue.discover()


def _jobs() -> int:
    """Return how many answers are graded side by side."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def _what_more(id_: str | None, verdicts: list[Verdict], *, updated: bool) -> str:
    """Say what was tried, and what all of the gate would try."""
    from grader.author import stability

    tried, known = (sum(getattr(verdict, name) for verdict in verdicts) for name in ("tried", "mutants"))
    some = (
        "all mistakes once"
        if updated
        else f"{tried} of {known} mistakes once, of the rest what they have to fail"
    )
    return (
        f"\ntried: one seed, {some}\n"
        f"kata pack check{f' {escape_controls(id_)}' if id_ else ''} --full tries {SEEDS} seeds, every mistake on "
        f"{stability.SEEDS} seeds, and two mistakes at once"
    )


def _show(verdicts: list[Verdict]) -> None:
    from rich.table import Table

    out = console()
    table = Table("kata", "gate", "checks", "mutants", "named", "seconds", box=None, pad_edge=False)
    for verdict in verdicts:
        table.add_row(
            verdict.kata,
            status_text("fail" if verdict.findings else "pass", out),
            str(verdict.checks),
            str(verdict.mutants)
            if verdict.tried == verdict.mutants
            else f"{verdict.tried} of {verdict.mutants}",
            str(verdict.named),
            f"{verdict.seconds:.2f}",
        )
    never_cut(table, 0)
    out.print(table)
    for verdict in verdicts:
        for finding in verdict.findings:
            out.print(f"\n{finding.kata}: {finding.rule}\n  {escape_controls(finding.message)}")


@pack.command(short_help="Measure right and slow answers, to find where speed thresholds belong.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=7,
    show_default=True,
    help="Rounds for each answer; their median counts.",
)
@device_option
@click.option(
    "--write",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Save what was measured (calibration.json next to each kata), and renew the table in this page.",
)
@json_option
def calibrate(id_: str | None, rounds: int, device: str, page: Path | None, as_json: bool) -> int:
    """Measure right and slow answers, to find where speed thresholds belong.

    For every threshold, it shows the slowest of the reference and the alternatives, the fastest of the slow answers
    that name its check, and the number in the middle. It refuses a threshold without enough room on both sides (a
    factor of 1.5 on a CPU, 1.25 on a GPU) and an answer on the wrong side of one: exit code 1.

    \b
    Example:
      kata pack calibrate masks
      kata pack calibrate --device cuda --write docs/performance.md
    """
    from grader.catalogue import Catalogue
    from grader.engine.host.bootstrap import start_launcher

    catalogue = Catalogue.discover()
    katas = catalogue.resolve(id_) if id_ else list(catalogue.katas)
    launcher = start_launcher(timed=True, device=device)
    from grader.author.calibrate import Calibrator, read_page, record, write_page

    with closing(launcher):
        if page is not None:
            # Minutes of measuring are not to end in a page that cannot be written.
            read_page(page, kind_of(device))
        with measuring() as (start, step):
            found = Calibrator(launcher, device=device, rounds=rounds).calibrate(katas, start, step)
    if page is not None:
        record(found, katas)
        packs = {kata.unit.pack.root for kata in katas}
        # Read again: the page shows what `record` has just written, next to what earlier runs measured of other
        # katas.
        measured = [kata for kata in Catalogue.discover().katas if kata.unit.pack.root in packs]
        write_page(page, kind_of(device), measured)
    if as_json:
        print_json(found)
    else:
        _show_calibrated(found)
    return 1 if found.findings else 0


def _show_calibrated(found: Calibrated) -> None:
    from rich.table import Table

    from grader.author.calibrate import COLUMNS, rows

    out = console()
    table = Table(*COLUMNS, box=None, pad_edge=False)
    for row in rows(found):
        table.add_row(*map(escape_controls, row))
    never_cut(table, 0)
    out.print(table)
    out.print(f"\n{escape_controls(found.machine)}; medians of {found.rounds} rounds")
    if found.ungraded:
        out.print(f"not graded on {found.device}: {', '.join(found.ungraded)}")
    for finding in found.findings:
        out.print(f"\n{finding.kata}: {finding.rule}\n  {escape_controls(finding.message)}")


@pack.command(short_help="Write a complete small kata that passes the gate, for you to change into yours.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--number", required=True, help="The kata's number, e.g. 1.1.1; the unit is 1.1.")
@click.option("--slug", required=True, help="The kata's name, e.g. dot-product.")
@click.option(
    "--unit", "unit_slug", default="my-unit", show_default=True, help="The unit's name, if the unit is new."
)
@json_option
def new(folder: Path, number: str, slug: str, unit_slug: str, as_json: bool) -> None:
    """Write a complete small kata that passes the gate, for you to change into yours.

    FOLDER is the pack; solutions go into `solutions` next to it. Nothing is overwritten.

    \b
    Example:
      kata pack new my-course/katas --number 1.1.1 --slug dot-product --unit vectors
    """
    from grader.author.new import new_kata

    made = new_kata(folder, number, slug, unit_slug)
    if as_json:
        print_json({"kata": slug, "files": [str(path) for path in made.files]})
        return
    for path in made.files:
        click.echo(f"  written  {escape_controls(str(path))}")
    click.echo(f"\nfirst  export KATA_PACKS={escape_controls(str(folder.absolute()))}")
    click.echo(f"then   kata pack check {slug}")


@pack.command(short_help="Print an answer that makes a catalogued mistake, or is slow.")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.argument("name")
def mistake(id_: str, name: str) -> None:
    """Print an answer that makes a catalogued mistake, or is slow.

    A mistake is stored as a difference; this prints the whole module, to check, grade or debug it.

    \b
    Example:
      kata pack mistake masks causal_shifted_late > masks.py
    """
    from grader.catalogue import Catalogue
    from grader.engine.mistakes.mistakes import mistakes, slow_answers

    kata = Catalogue.discover().resolve_one(id_)
    known = {answer.name: answer for answer in (*mistakes(kata), *slow_answers(kata))}
    # Reports and topics write it with hyphens.
    if (found := known.get(name.replace("-", "_"))) is None:
        raise UsageError(
            f"There is no mistake {name} of {kata.slug} here.{did_you_mean(name, [*known])}",
            f"There are: {', '.join(known) or 'none'}.",
        )
    click.echo(found.text, nl=False)


@pack.command("asked", short_help="List what each check of a kata rests on: the words that ask for it.")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@json_option
def list_requirements(id_: str, as_json: bool) -> None:
    """List what each check of a kata rests on: the words of the stub or a lesson that ask for it.

    \b
    Example:
      kata pack asked masks
    """
    from grader.author.requirements_trace import rows
    from grader.catalogue import Catalogue
    from grader.engine.runner.suite import suites_of

    kata = Catalogue.discover().resolve_one(id_)
    with suites_of([kata], hidden=True, speed=True) as suites:
        infos = suites[kata.slug].infos()
    found = [{"check": title, "file": file, "words": words} for title, file, words in rows(kata, infos)]
    if as_json:
        print_json({"kata": kata.slug, "asked": found})
        return
    for row in found:
        console().print(f"{row['file']:<24}  {row['check']}", style="bold", highlight=False)
        console().print(f"{'':<24}  {row['words']}", highlight=False)


@pack.command(short_help="Show which property of which part the checks look at, and where none does.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True, help="Seeds to try.")
@json_option
def contracts(id_: str | None, seeds: int, as_json: bool) -> int:
    """Break one property of one part of the reference at a time, and see whether a check notices.

    The table has a row for each function and method, and a column for each property: "yes" where a visible check
    notices, "hidden" where only a hidden one does, "-" where contracts.toml says why the lesson does not ask for it,
    HOLE where what was broken keeps full marks. Exit code 1 says that there is a hole.

    \b
    Example:
      kata pack contracts layer-norm
      kata pack contracts --seeds 3 --json
    """
    launcher, katas = _prepared(id_)
    from grader.author.contracts import HOLE, Contracts
    from grader.cli.progress import examining
    from grader.engine.runner.suite import suites_of

    found: dict[str, list[ContractCell]] = {}
    with examining() as step, closing(launcher), suites_of(katas, hidden=True) as suites:
        for slug, suite in suites.items():
            own = Contracts(suite.kata, suite, launcher, _jobs())
            found[slug] = [cell for seed in range(seeds) for cell in own.cells(seed, partial(step, slug))]
            if not as_json:
                _show_contracts(slug, found[slug], seeds)  # each as it comes: all of a pack take minutes
    if as_json:
        print_json({"katas": {slug: [_as_json(cell) for cell in cells] for slug, cells in found.items()}})
    return 1 if any(cell.state == HOLE for cells in found.values() for cell in cells) else 0


def _as_json(cell: ContractCell) -> dict[str, object]:
    return {
        "part": cell.sabotage.part,
        "property": cell.sabotage.breaks,
        "saboteur": cell.sabotage.name,
        "caught": cell.caught or None,
        "hidden": cell.hidden,
        "state": cell.state,
        "reason": cell.reason or None,
    }


def _show_contracts(slug: str, cells: list[ContractCell], seeds: int) -> None:
    from rich.table import Table

    from grader.author.contracts import HOLE, PROPERTIES, counted, table

    out = console()
    grid = Table(slug, *PROPERTIES, box=None, pad_edge=False)
    for row in table(cells):
        grid.add_row(*row)
    never_cut(grid, 0)
    out.print(grid)
    out.print(counted([cell.state for cell in cells], seeds), end="\n\n")
    # The table shows where; what was broken there takes a sentence, and only a hole needs one.
    for cell in [cell for cell in cells if cell.state == HOLE]:
        out.print(
            f"  {cell.sabotage.part}: {escape_controls(cell.sabotage.name)} keeps full marks ({cell.sabotage.breaks})"
        )


@pack.command(short_help="Make wheels of a pack: one for learners, one for instructors.")
@click.argument("name", required=False)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("dist"),
    show_default=True,
    help="Where the wheels go.",
)
@json_option
def build(name: str | None, out: Path, as_json: bool) -> None:
    """Make wheels of a pack: one for learners, one for instructors.

    NAME is the name of the pack, needed if there are several. Install a wheel with pip; its katas are added to the
    others. No part of the solutions gets into the learners' wheel: the command refuses to build it instead.

    \b
    Example:
      kata pack build my-course --out dist
    """
    from grader.author.build import build as build_bundle

    packs = _split_catalogue().packs
    chosen = [candidate for candidate in packs if name is None or candidate.name == name]
    if len(chosen) != 1:
        raise UsageError(
            "Which pack?" if name is None else f"There is no pack {name}.",
            f"There are: {', '.join(candidate.name for candidate in packs)}.",
        )
    bundles = [build_bundle(chosen[0], out, "learner")]
    if chosen[0].solutions is not None:
        bundles.append(build_bundle(chosen[0], out, "instructor"))
    if as_json:
        print_json(
            {"bundles": [{"audience": b.audience, "path": str(b.path), "files": b.files} for b in bundles]}
        )
        return
    for bundle in bundles:
        click.echo(f"{bundle.audience:10}  {escape_controls(str(bundle.path))}   {bundle.files} files")


def _version(_context: click.Context, _parameter: click.Parameter, python: str | None) -> str:
    """Return the Python that a bundle is for; this one where none is named."""
    if python is not None and re.fullmatch(r"3\.\d+", python) is None:
        raise UsageError(f"--python {python}: this is not a version such as 3.12.")
    return python or default_python()


@pack.command(
    short_help="Bundle katas for Gradescope, Classroom 50, GitHub Actions, Colab, or what evaluates models."
)
@click.argument("system", type=click.Choice(SYSTEMS))
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_id)
@click.option(
    "--out",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The archive to write; for what evaluates models, and for colab, a folder.  [default: SYSTEM.zip, or SYSTEM]",
)
@gathered(
    BundleOptions,
    click.option(
        "--wheels",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Wheels that Kata needs, for the system's Python. [default: pip downloads them]",
    ),
    click.option("--online", is_flag=True, help="Gradescope: let setup.sh download what Kata needs."),
    click.option(
        "--python", metavar="X.Y", callback=_version, help="The system's Python.  [default: this one]"
    ),
    click.option("--perf/--no-perf", default=True, show_default=True, help="Gradescope: measure speed."),
    click.option(
        "--mark-speed",
        "marks_speed",
        is_flag=True,
        help="Gradescope: count speed; otherwise it is reported and worth nothing.",
    ),
    click.option(
        "--impossible",
        is_flag=True,
        help="Harbor, OpenEnv: one visible check, which contradicts the lesson; points are proof of following it.",
    ),
)
@json_option
def bundle(
    system: str, ids: tuple[str, ...], target: Path | None, as_json: bool, options: BundleOptions
) -> int:
    """Make the archive that a hand-in system takes, for some katas of one pack.

    gradescope grades as `kata grade` does, hidden checks included, without network access. classroom50 and actions
    are public: they hold only visible checks. colab is a folder of notebooks. harbor is a folder with a task for each
    kata, by which agents are evaluated; inspect, verifiers and openenv are packages for the frameworks of these names.

    \b
    Example:
      kata pack bundle gradescope masks feed-forward --out week3.zip
      kata pack bundle harbor 9.3 --out tasks
      kata pack bundle colab 9.3 --out notebooks
      kata pack bundle classroom50 9.3
    """
    from grader.catalogue import Catalogue
    from grader.instructor.bundles.bundle import write_bundle

    catalogue = Catalogue.discover()
    katas = list(dict.fromkeys(kata for id_ in ids for kata in catalogue.resolve(id_)))
    # A bundle holds one pack: it is versioned, and refused or trusted, as a whole.
    packs = [candidate for candidate in catalogue.packs if any(kata in candidate.katas for kata in katas)]
    if len(packs) != 1:
        raise UsageError(
            f"{', '.join(ids)} belong to several packs: {', '.join(candidate.name for candidate in packs)}.",
            "Make a bundle for each.",
        )
    default = Path(system if system in FOLDERS else f"{system}.zip")
    # pip may download for a minute.
    with console(stderr=True).status("putting wheels together"):
        made = write_bundle(system, packs[0], katas, target or default, options)
    if as_json:
        print_json(made)
        return 0
    click.echo(
        f"{made.system}  {escape_controls(str(made.path))}   {made.files} files, {made.size / 1e6:.1f} MB"
    )
    click.echo(f"{len(made.katas)} katas, {made.points:g} points\n")
    for line in made.steps:
        click.echo(line)
    return 0
