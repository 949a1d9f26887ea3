"""`kata hint`: three tiers, one at a time."""

from __future__ import annotations

import click

from grader.catalogue import TIERS, Kata, read_hints
from grader.catalogue.markdown import without_done
from grader.cli.context import (
    LearnerContext,
    complete_id,
    here,
    json_option,
    note,
    print_json,
    print_markdown,
)
from grader.errors import EngineError
from grader.learner.workspace import edit_progress


@click.command(short_help="Show the next hint: first a nudge, then an idea, then nearly the answer.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--tier", type=click.IntRange(1, TIERS), help="Show this tier instead of the next unseen one.")
@json_option
def hint(id_: str | None, tier: int | None, as_json: bool) -> None:
    """Show the next hint: first a nudge, then an idea, then nearly the answer.

    Without ID, it is a hint for the kata whose folder you are in, or else for the kata that comes next.

    \b
    Example:
      kata hint masked-attention
      kata hint 9.3.2 --tier 1
    """
    place = here()
    kata = place.kata(id_)
    seen = min(place.entry(kata).hints, TIERS)
    shown_tier = tier if tier is not None else min(seen + 1, TIERS)
    whole = read_hints(kata.hints)[shown_tier - 1]
    text = without_done(whole, _done(place, kata)) if tier is None else whole
    # A hint that cannot be recorded is shown all the same: a read-only folder is not a reason to be stuck.
    not_recorded = _record(place, kata, shown_tier)
    left = TIERS - max(seen, shown_tier)
    if as_json:
        print_json(
            {
                "kata": kata.slug,
                "number": kata.number,
                "tier": shown_tier,
                "tiers": TIERS,
                "left": left,
                "recorded": not_recorded is None,
                "whole": text == whole,
                "hint": text,
            }
        )
        return
    note(f"{kata.number} {kata.slug}, hint {shown_tier} of {TIERS}")
    print_markdown(text)
    if text != whole:
        note(f"only about what does not pass yet; all of it: kata hint {kata.slug} --tier {shown_tier}")
    if left:
        more = "1 more hint" if left == 1 else f"{left} more hints"
        note(f"{more} left: kata hint {kata.slug}")
    # Only if it would show something: learners may have no solutions installed.
    elif kata.solution is not None and place.entry(kata).passed is None:
        note(f"no hints left; to see the answer: kata solution {kata.slug} --give-up")
    else:
        note("no hints left")
    if not_recorded is not None:
        note(f"not recorded, because {not_recorded}; the next one: kata hint {kata.slug} --tier N")


def _done(place: LearnerContext, kata: Kata) -> set[str]:
    """Return the functions in which the latest check found nothing wrong; none where it says too little."""
    entry = place.entry(kata)
    required = set(kata.required)
    return required - set(entry.wrong) if entry.wrong and required >= set(entry.wrong) else set()


def _record(place: LearnerContext, kata: Kata, tier: int) -> str | None:
    """Note that a hint was seen; say why that is not noted. A hint is not withheld for that."""
    if place.workspace is None:
        return "this folder is not in a workspace"
    try:
        with edit_progress(place.workspace.root) as progress:
            entry = progress.of(kata.slug)
            entry.hints = max(entry.hints, tier)
    except EngineError as error:
        return error.message.rstrip(".")
    return None
