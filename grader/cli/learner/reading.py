"""`kata show`, `kata hint`, `kata solution`: what there is to read about a kata, from its lesson to the reference."""

from __future__ import annotations

import click

from grader.catalogue import TIERS, Kata, Unit, read_hints
from grader.catalogue.given import block_of
from grader.catalogue.markdown import in_words, without_done
from grader.cli.context import (
    LearnerContext,
    complete_id,
    here,
    json_option,
    note,
    print_json,
    print_rendered,
    rendered_markdown,
    rendered_python,
)
from grader.data_files import read_text
from grader.errors import EngineError, UsageError
from grader.learner.workspace import edit_progress, now
from grader.report.style import points


@click.command(short_help="Read the lesson of a unit or kata.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--stub", is_flag=True, help="Print the file you start from instead of the lesson.")
@json_option
def show(id_: str | None, stub: bool, as_json: bool) -> None:
    """Read the lesson of a unit or kata.

    Without ID, it is the lesson of the kata whose folder you are in, or else of the kata that comes next. `contract`
    is the page with what all katas ask for.

    \b
    Example:
      kata show 9.3
      kata show masked-attention --stub
      kata show contract
    """
    place = here()
    # Before the ID is looked up: `contract` is a page of the pack and not a kata.
    contracts = [pack.contract for pack in place.catalogue.packs if pack.contract is not None]
    if id_ == "contract" and contracts:
        text = "\n".join(read_text(page) for page in contracts)
        if as_json:
            print_json({"slug": "contract", "lesson": text})
        else:
            print_rendered(rendered_markdown(text), paged=True)
        return
    items = place.catalogue.find(id_) if id_ is not None else [place.kata(None)]
    if len(items) > 1:
        names = ", ".join(f"{item.number} {item.slug}" for item in items)
        raise UsageError(f"{id_} means several units; name one: {names}.")
    item = items[0]
    if stub and isinstance(item, Unit):
        raise UsageError(
            f"{item.number} is a unit; a stub belongs to one kata.",
            f"Name one: {', '.join(kata.slug for kata in item.katas)}",
        )
    lesson = item.lesson_text() if isinstance(item, Kata) else read_text(item.lesson)
    text = read_text(item.stub) if stub and isinstance(item, Kata) else lesson
    if as_json:
        what = "stub" if stub else "lesson"
        # A unit has no effort of its own: its katas have.
        facts = {"minutes": item.minutes, "difficulty": item.difficulty} if isinstance(item, Kata) else {}
        print_json({"number": item.number, "slug": item.slug, "title": item.title, **facts, what: text})
    elif stub:
        print_rendered(rendered_python(text), paged=True)
    else:
        # Below the heading what the kata is worth, and how long it takes.
        if isinstance(item, Kata) and item.effort:
            heading, _, rest = text.partition("\n")
            text = f"{heading}\n\n*{points(item.points)} points, {item.effort}*\n{rest}"
        print_rendered(rendered_markdown(in_words(text)), paged=True)


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
    entry, required = place.entry(kata), set(kata.required)
    seen = min(entry.hints, TIERS)
    shown_tier = tier if tier is not None else min(seen + 1, TIERS)
    whole = read_hints(kata.hints)[shown_tier - 1]
    # The latest check found nothing wrong in these functions; none where it says too little.
    done = required - set(entry.wrong) if entry.wrong and required >= set(entry.wrong) else set()
    text = without_done(whole, done) if tier is None else whole
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
    print_rendered(rendered_markdown(text))
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


@click.command(short_help="Show the reference solution, once you have passed or given up.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--give-up", is_flag=True, help="Show it without a pass; this is recorded.")
@click.option(
    "--block", is_flag=True, help="Show instead what later katas are given for it, that part alone."
)
@json_option
def solution(id_: str | None, give_up: bool, block: bool, as_json: bool) -> None:
    """Show the reference solution, once you have passed or given up.

    Without ID, it is the solution of the kata whose folder you are in, or else of the kata that comes next. After a
    pass, it is followed by questions to think about, with our answers. With --block it is the part of `blocks.py` that
    answers this kata: the answers to others stay closed.

    \b
    Example:
      kata solution masked-attention
      kata solution masked-attention --give-up
      kata solution masked-attention --block
    """
    place = here()
    kata = place.kata(id_)
    title = f"{kata.number} {kata.slug}"
    if block:
        _show_block(place, kata, id_, agreed=give_up, as_json=as_json)
        return
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
        facts["gave_up"] = gives_up
        remark = _recorded(place, kata) if gives_up else ""
    # Remarks go to stderr, and with --json nothing does.
    if as_json:
        print_json({**facts, "solution": source, "reflections": reflections})
        return
    if remark:
        note(remark)
    parts = [rendered_python(source)] if source is not None else []
    if reflections is not None:
        parts.append(rendered_markdown(reflections))
    print_rendered(*parts, paged=True)


def _show_block(
    place: LearnerContext, kata: Kata, requested: str | None, *, agreed: bool, as_json: bool
) -> None:
    text = block_of(kata)
    if text is None:
        raise UsageError(
            f"No later kata is given anything for {kata.number} {kata.slug}.",
            f"Its solution: kata solution {kata.slug}",
        )
    gives_up = _gives_up(place, kata, requested, agreed=agreed)
    remark = _recorded(place, kata) if gives_up else ""
    if as_json:
        print_json({"kata": kata.slug, "number": kata.number, "gave_up": gives_up, "block": text})
        return
    if remark:
        note(remark)
    print_rendered(rendered_python(text))


def _recorded(place: LearnerContext, kata: Kata) -> str:
    """Record a kata as given up, and return the words that say so."""
    with edit_progress(place.require_workspace().root) as progress:
        progress.of(kata.slug).gave_up = now()
    return f"{kata.number} {kata.slug}: recorded as given up; you can still pass it."


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
