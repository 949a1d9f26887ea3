"""`kata solution`: the reference, after a pass or after giving up."""

from __future__ import annotations

import click

from grader.catalogue import Kata
from grader.cli.context import (
    LearnerContext,
    complete_id,
    here,
    json_option,
    note,
    print_json,
    print_markdown,
    print_python,
)
from grader.data_files import read_text
from grader.errors import UsageError
from grader.learner.workspace import edit_progress, now


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
    title = f"{kata.number} {kata.slug}"
    passed = place.entry(kata).passed is not None
    reflections = read_text(kata.reflections) if passed and kata.reflections.is_file() else None
    if kata.solution is None and reflections is None:
        raise UsageError(
            f"This install has no solution of {title}.",
            "Learners get only the katas. Ask your instructor, or name the solutions' folder in "
            "KATA_SOLUTIONS.",
        )
    facts: dict[str, object] = {"kata": kata.slug, "number": kata.number}
    source = None
    if kata.solution is None:
        remark = f"This install has no solution of {title}. Here are the questions to think about:"
    else:
        gives_up = _gives_up(place, kata, id_, agreed=give_up)
        # Read before it is recorded: nobody gives up for a file that cannot be shown.
        source = read_text(kata.solution)
        if gives_up:
            with edit_progress(place.require_workspace().root) as progress:
                progress.of(kata.slug).gave_up = now()
        facts["gave_up"] = gives_up
        remark = f"{title}: recorded as given up; you can still pass it." if gives_up else ""
    # Remarks go to stderr, and with --json nothing does.
    if as_json:
        print_json({**facts, "solution": source, "reflections": reflections})
        return
    if remark:
        note(remark)
    if source is not None:
        print_python(source)
    if source is not None and reflections is not None:
        click.echo()
    if reflections is not None:
        print_markdown(reflections)


def _gives_up(place: LearnerContext, kata: Kata, requested: str | None, *, agreed: bool) -> bool:
    """Return whether showing the solution means giving up.

    Raises:
        UsageError: it would, and nobody agreed to that.
    """
    place.require_workspace()
    entry = place.entry(kata)
    # If you passed once you have earned it, whatever the file looks like now.
    if entry.passed is not None or entry.gave_up is not None:
        return False
    if agreed:
        return True
    last = place.passed_last()
    instead = (
        f"\n  Of the kata that you passed last: kata solution {last.slug}"
        if requested is None and last
        else ""
    )
    raise UsageError(
        f"{kata.number} {kata.slug} has not passed yet, so its solution stays closed.",
        f"A hint first: kata hint {kata.slug}. Or see it now, which is recorded: "
        f"kata solution {kata.slug} --give-up{instead}",
    )
