"""`kata solution`: the reference, after a pass or after giving up."""

from __future__ import annotations

import click

from grader.catalogue import Kata
from grader.cli.context import complete_id, here, json_option, note, print_json, print_markdown, print_python
from grader.data_files import read_text
from grader.errors import UsageError
from grader.workspace import edit_progress, now


@click.command(short_help="Show the reference solution, once you have passed or given up.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--give-up", is_flag=True, help="Show it without a pass; this is recorded.")
@json_option
def solution(id_: str | None, give_up: bool, as_json: bool) -> None:
    """Show the reference solution, once you have passed or given up.

    Without ID, it is the solution of the kata whose folder you are in, or else of the kata that comes next. After a
    pass, it is followed by questions to think about, with our answers.

    \b
    Example:
      kata solution masked-attention
      kata solution masked-attention --give-up
    """
    place = here()
    kata = place.kata(id_)
    path = kata.solution
    passed = place.entry(kata).passed is not None
    reflections = read_text(kata.reflections) if passed and kata.reflections.is_file() else None
    if path is None and reflections is not None:
        if as_json:
            print_json(
                {"kata": kata.slug, "number": kata.number, "solution": None, "reflections": reflections}
            )
            return
        note(
            f"This install has no solution of {kata.number} {kata.slug}. Here are the questions to think about:"
        )
        print_markdown(reflections)
        return
    if path is None:
        raise UsageError(
            f"This install has no solution of {kata.number} {kata.slug}.",
            "Learners get only the katas. Ask whoever gave you this course, or name the solutions' folder in "
            "KATA_SOLUTIONS.",
        )
    workspace = place.require_workspace()
    entry = place.entry(kata)
    allowed = entry.passed is not None or entry.gave_up is not None
    if not allowed and not give_up:
        raise UsageError(
            f"{kata.number} {kata.slug} has not passed yet, so its solution stays closed.",
            f"A hint first: kata hint {kata.slug}. Or see it now, which is recorded: "
            f"kata solution {kata.slug} --give-up{_instead(id_, place.passed_last())}",
        )
    source = read_text(path)
    if not allowed:
        with edit_progress(workspace.root) as progress:
            progress.of(kata.slug).gave_up = now()
    if as_json:
        print_json(
            {
                "kata": kata.slug,
                "number": kata.number,
                "gave_up": not allowed,
                "solution": source,
                "reflections": reflections,
            }
        )
        return
    if not allowed:
        note(f"{kata.number} {kata.slug}: recorded as given up; you can still pass it.")
    print_python(source)
    if reflections is not None:
        click.echo()
        print_markdown(reflections)


def _instead(asked: str | None, passed: Kata | None) -> str:
    """Say what else could have been meant by no ID at all."""
    return (
        f"\n  Of the kata that you passed last: kata solution {passed.slug}"
        if asked is None and passed
        else ""
    )
