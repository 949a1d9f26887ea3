"""`kata run`: the learner's code at work on a real model or real data."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import click

from grader.catalogue import Kata
from grader.cli.context import LearnerContext, complete_id, here, json_option, note, trust_option
from grader.cli.learner.demo import Page, chosen_folder, passing, publish, whose
from grader.engine.host.bootstrap import start_launcher
from grader.errors import UsageError

FOLDER = "kata-run"
TEXT_BYTES = 2_000_000
"""Of a text of one's own, so much is read: more than is learned from in minutes."""


@click.command(short_help="Run your code on a real model or real data.")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.option("--text", type=click.File("rb"), help="A text of your own; - is standard input.")
@click.option("--prompt", help="A question, or how a text begins.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help=f"Where files go [default: {FOLDER}/ID]."
)
@trust_option
@json_option
def run(
    id_: str, text: BinaryIO | None, prompt: str | None, out: Path | None, trust: bool, as_json: bool
) -> None:
    """Run your code on a real model or real data; `kata data` fetches what that needs.

    It works in a confined process like every check, on your own code where that has passed and on given code
    elsewhere, for some minutes, and ends with a page. No mark depends on it.

    \b
    Example:
      kata run encoder-layer --prompt "how to repeat something"
      kata run modern-block --prompt "Why is the sky blue?"
      kata run decoder-lm --text play.txt
    """
    around = here()
    kata = _find(id_, around)
    folder = chosen_folder(out, around, FOLDER, kata.slug)
    passed = passing(around, trust)
    data = _data(kata, around, [other for other, _ in passed])
    # No more than that is read: `--text -` may be a pipe without end.
    words = text.read(TEXT_BYTES).decode("utf-8", "replace") if text is not None else None
    note(f"run of {kata.number} {kata.slug} …")
    # The fork server is split off before anything that starts a thread, such as a progress bar.
    launcher = start_launcher()
    from grader.cli.progress import moving
    from grader.learner.demos.runner import Inputs, Own, run_real, scripts, uses

    pack = kata.unit.pack
    wanted = uses(kata.real, pack)
    own = [Own(other, file) for other, file in passed if other in wanted]
    try:
        with moving() as step:
            exhibits = run_real(kata, own, launcher, Inputs(data, words, prompt), step)
    finally:
        launcher.close()
    slugs = [answer.kata.slug for answer in own]
    intro = whose(slugs, [other.slug for other in wanted], "run")
    page = Page(f"{kata.number} {kata.title}, for real", intro, scripts(exhibits, kata.real, pack))
    facts = {"id": kata.slug, "own": slugs, "data": sorted(data)} if as_json else None
    publish(exhibits, folder, page, around, facts)


def _find(text: str, around: LearnerContext) -> Kata:
    kata = around.catalogue.resolve_one(text)
    if not kata.real.is_file():
        from grader.learner.demos.runner import uses

        have = [other for other in around.catalogue.katas if other.real.is_file()]
        using = [other for other in have if kata in uses(other.real, other.unit.pack)]
        names = ", ".join(other.slug for other in using or have) or "none yet"
        raise UsageError(
            f"{kata.slug} has no run of its own.", f"These {'use it' if using else 'have'}: {names}"
        )
    return kata


def _data(kata: Kata, around: LearnerContext, passed: list[Kata]) -> dict[str, Path]:
    """Return the folders of what is here for a kata.

    Raises:
        UsageError: something is not here that it cannot do without, or it has to pass first.
    """
    from grader.learner.data.archive import available
    from grader.learner.demos.runner import needs

    archives = available(around.catalogue.packs)
    required = needs(kata.real)  # before anything runs: a program would fail after a minute of importing
    # Nothing can replace what is built from an empty file.
    if kata.slug in required and kata not in passed:
        raise UsageError(
            f"{kata.slug} runs on your own code alone, and that has not passed yet.",
            f"Go on with: kata start {kata.slug}. On given code these run: {_free(around)}",
        )
    for archive in [archives[name] for name in required if name in archives and not archives[name].is_here]:
        raise UsageError(
            f"{kata.slug} runs on {archive.name}, which is not here: {archive.facts.bytes / 1e6:,.1f} MB, "
            f"{archive.facts.licence}.",
            f"Fetch it: kata data get {archive.name}. Without network these run: {_free(around)}",
        )
    return {
        name: archive.folder
        for name, archive in archives.items()
        if archive.is_here and kata.slug in archive.facts.used_by
    }


def _free(around: LearnerContext) -> str:
    """Return which katas run with nothing fetched and nothing passed."""
    from grader.learner.demos.runner import needs

    return ", ".join(
        kata.slug for kata in around.catalogue.katas if kata.real.is_file() and not needs(kata.real)
    )
