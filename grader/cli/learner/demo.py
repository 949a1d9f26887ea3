"""`kata demo`: a kata's idea, live; and `kata run`: the learner's code at work on a real model or real data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from grader.catalogue import Kata, Unit
from grader.cli.context import (
    LearnerContext,
    complete_id,
    here,
    json_option,
    note,
    print_json,
    shown,
    trust_option,
)
from grader.cli.learner.check import consent_to
from grader.engine.host.bootstrap import start_launcher
from grader.engine.sandbox import offered
from grader.errors import UsageError
from grader.files import within
from grader.learner.workspace import locate
from grader.report.style import console, print_message
from grader.words import counted

if TYPE_CHECKING:
    from grader.learner.demos.exhibit_types import Exhibit

FOLDER, RUN_FOLDER = "kata-demo", "kata-run"
TEXT_BYTES = 2_000_000
"""Of a text of one's own, so much is read: more than is learned from in minutes."""


@click.command(short_help="Show a unit's or kata's idea live: in the terminal, as pictures and as a page.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help=f"Where files go [default: {FOLDER}/ID]."
)
@trust_option
@json_option
def demo(id_: str | None, out: Path | None, trust: bool, as_json: bool) -> None:
    """Show a unit's or kata's idea live: in the terminal, as pictures and as a page.

    It runs on your own code where that passes its checks, and on given blocks elsewhere. Without ID, it is the demo of
    the kata whose folder you are in, or else of the kata that comes next.

    \b
    Example:
      kata demo 9.3
      kata demo masked-attention --out /tmp/attention
    """
    around = here()
    id_ = id_ or around.kata(None).slug
    subject, source = _find_demo(id_, around)
    # A folder `page.html` would be made without a word, and no browser opens it.
    if out is not None and out.suffix in (".html", ".htm") and not out.is_dir():
        raise UsageError(
            "--out names a folder: a demo is a page with its pictures.",
            f"The page will be index.html in it: kata demo {id_} --out {out.with_suffix('')}",
        )
    folder = chosen_folder(out, around, FOLDER, subject.slug)
    pack = subject.pack if isinstance(subject, Unit) else subject.unit.pack
    passed = passing(around, trust)
    note(f"demo of {subject.number} {subject.slug} …")
    # Before anything of the pack is imported, as for a check: a demo runs the learner's code.
    launcher = start_launcher()
    from grader.learner.demos.runner import Own, run_demo, scripts, uses

    wanted = uses(source, pack)
    own = [Own(kata, file) for kata, file in passed if kata in wanted]
    with closing(launcher), console(stderr=True).status("running"):
        exhibits = run_demo(source, pack, own, launcher)
    intro = whose([item.kata.slug for item in own], [kata.slug for kata in wanted])
    page = Page(f"{subject.number} {subject.title}", intro, scripts(exhibits, source, pack))
    facts = {"id": subject.slug, "own": [item.kata.slug for item in own]}
    publish(exhibits, folder, page, around, facts if as_json else None)


class Page(NamedTuple):
    """What a page has besides its exhibits."""

    title: str
    intro: str
    scripts: Mapping[str, str]


def chosen_folder(out: Path | None, around: LearnerContext, name: str, slug: str) -> Path:
    """Return where a page goes: never among other things.

    Raises:
        UsageError: something else is in that folder.
    """
    folder = out or within(around.folder / name / slug, around.folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / "index.html").is_file():
        again = f"Name another folder: {name.replace('-', ' ')} ID --out FOLDER"
        raise UsageError(f"{folder} holds other things.", again)
    return folder


def publish(
    exhibits: Sequence[Exhibit],
    folder: Path,
    page: Page,
    around: LearnerContext,
    facts: dict[str, Any] | None,
) -> None:
    """Write the page of what was shown; then print `facts` as JSON, or, without any, the exhibits."""
    from grader.learner.demos.page import write_page

    files = write_page(folder, page.title, page.intro, exhibits, page.scripts)
    if facts is not None:
        import msgspec

        print_json({**facts, "files": list(map(str, files)), "exhibits": msgspec.to_builtins(exhibits)})
        return
    from grader.learner.demos.printing import print_exhibit

    terminal = console()
    for exhibit in exhibits:
        print_exhibit(exhibit, terminal)
    print_message(f"\n{page.intro}")
    print_message(
        f"page  {shown(files[-1], around.folder)}   and {counted(len(files) - 1, 'picture')} next to it"
    )


def _find_demo(text: str, around: LearnerContext) -> tuple[Kata | Unit, Path]:
    """Return the chosen unit or kata, and its demo; a unit's only kata with one stands for the unit."""
    subjects: list[Kata | Unit] = [*around.catalogue.units, *around.catalogue.katas]
    have = ", ".join(item.slug for item in subjects if _demo(item).is_file())
    hint = f"These have a demo: {have or 'none yet'}."
    try:
        found = around.catalogue.find(text)
    except UsageError as error:
        raise UsageError(error.message, hint) from error
    inside = [kata for unit in found if isinstance(unit, Unit) for kata in unit.katas if kata.demo.is_file()]
    for subject in (*found, *(inside if len(inside) == 1 else ())):
        if _demo(subject).is_file():
            return subject, _demo(subject)
    if inside:
        raise UsageError(
            f"{text} has no demo of its own; its katas do.",
            f"Name one: {', or: '.join(f'kata demo {kata.number}' for kata in inside)}",
        )
    raise UsageError(f"{text} has no demo.", hint)


def whose(own: list[str], wanted: list[str], what: str = "demo") -> str:
    """Say on whose code a demo or a run works."""
    rest = ", ".join(slug for slug in wanted if slug not in own)
    if own:
        return f"Your own code: {', '.join(own)}. " + (
            f"Given: {rest}." if rest else "Nothing else is needed."
        )
    if not wanted:
        return f"This {what} needs none of the katas."
    return f"On given blocks; yours take their place when they pass: {rest}."


def _demo(subject: Kata | Unit) -> Path:
    return subject.folder / "demo.py"


def passing(around: LearnerContext, agreed: bool) -> list[tuple[Kata, Path]]:
    """Return the learner's files that passed when they were last checked, which are about to run in a worker.

    Raises:
        UsageError: nothing confines workers here, and nobody agreed.
    """
    if around.workspace is None:
        return []
    space = around.workspace
    passed = [kata for kata in around.catalogue.katas if around.entry(kata).status == "pass"]
    located = [(kata, locate(kata, space.root)) for kata in passed]
    found = [
        (kata, file) for kata, file in located if file is not None and file.is_file() and space.holds(file)
    ]
    if offered() == "process":
        consent_to([file for _, file in found], space, agreed)
    return found


@click.command(short_help="Run your code on a real model or real data.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--text", type=click.File("rb"), help="A text of your own; - is standard input.")
@click.option("--prompt", help="A question, or how a text begins.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help=f"Where files go [default: {RUN_FOLDER}/ID].",
)
@trust_option
@json_option
def run(
    id_: str | None,
    text: BinaryIO | None,
    prompt: str | None,
    out: Path | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Run your code on a real model or real data; `kata data` fetches what that needs.

    It works in a confined process like every check, on your own code where that has passed and on given code
    elsewhere, for some minutes, and ends with a page. No mark depends on it. Without ID, it is the run of the kata
    whose folder you are in, or else of the kata that comes next.

    \b
    Example:
      kata run encoder-layer --prompt "how to repeat something"
      kata run modern-block --prompt "Why is the sky blue?"
      kata run decoder-lm --text play.txt
    """
    around = here()
    kata = _find_run(id_, around)
    folder = chosen_folder(out, around, RUN_FOLDER, kata.slug)
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
    with closing(launcher), moving() as step:
        exhibits = run_real(kata, own, launcher, Inputs(data, words, prompt), step)
    slugs = [answer.kata.slug for answer in own]
    intro = whose(slugs, [other.slug for other in wanted], "run")
    page = Page(f"{kata.number} {kata.title}, for real", intro, scripts(exhibits, kata.real, pack))
    facts = {"id": kata.slug, "own": slugs, "data": sorted(data)} if as_json else None
    publish(exhibits, folder, page, around, facts)


def _find_run(text: str | None, around: LearnerContext) -> Kata:
    kata = around.kata(text)
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
