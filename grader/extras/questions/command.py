"""`kata questions`: does a learner understand their own code that passes? Answered by running it, without a model."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from grader.api import (
    UsageError,
    complete_id,
    find_targets,
    here,
    json_option,
    note,
    print_json,
    print_message,
    refuse_exposed,
    start_launcher,
)

if TYPE_CHECKING:
    from grader.extras.questions.quiz import QuizQuestion

LETTERS = "abcd"
MOST = 12


@click.command(short_help="Ask questions about your own code that passes.")
@click.argument("what", metavar="[ID|PATH]", required=False, shell_complete=complete_id)
@click.option(
    "-n", "wanted", type=click.IntRange(1, MOST), default=5, show_default=True, help="How many questions."
)
@click.option(
    "--as", "who", metavar="NAME", default="", help="Draw the questions that somebody of this name gets."
)
@json_option
def questions(what: str | None, wanted: int, who: str, as_json: bool) -> int:
    """Ask questions about your own code that passes: what a line is for, what it holds, what breaks it.

    Each has four options and one that is right, which was found out by running your code, and your code with a line
    changed. The same code gets the same questions. Nothing is recorded; --json prints all of them with the answers.

    \b
    Example:
      kata questions masks
      kata questions masks -n 8 --json
    """
    around = here()
    request = find_targets(what if what is not None else around.kata(None).slug, around)
    if len(request.targets) != 1:
        raise UsageError("Questions are about one kata.", "Name one: kata list shows them all.")
    # It runs as for `kata check`, and may read its folder as well.
    refuse_exposed(request)
    target = request.targets[0]
    launcher = start_launcher(preload=target.kata.preload)
    from grader.api import Unreadable, read_source, suites_of
    from grader.extras.questions.quiz import ask

    try:
        source = read_source(target.file)
    except Unreadable as error:
        # The block that closes it has not begun, and a fork server would outlive the command.
        launcher.close()
        raise UsageError(error.message, f"First: kata check {target.kata.slug}") from error
    with closing(launcher), suites_of([target.kata]) as suites:
        found = ask(suites[target.kata.slug], launcher, source, who, wanted)
    if as_json:
        print_json({"kata": target.kata.slug, "number": target.kata.number, "questions": found})
        return 0
    if not found:
        note(f"{target.file.name} is too short to ask about.")
    right = sum(_is_answered_right(number, question) for number, question in enumerate(found, 1))
    if found and sys.stdin.isatty():
        print_message(f"{right} of {len(found)} right")
    return 0


def _is_answered_right(number: int, question: QuizQuestion) -> bool:
    """Print a question; where somebody is there to answer, ask for it, and say what is right."""
    print_message(f"{number}. {question.text}")
    if question.code:
        print_message(f"       {question.code}")
    for letter, option in zip(LETTERS, question.options, strict=True):
        # A row of a matrix on a line of its own, below the row before it.
        rows = option.replace("], [", "],\n       [")
        for row in f"   {letter}  {rows}".split("\n"):
            print_message(row)
    if not sys.stdin.isatty():
        print_message("")
        return False
    chosen = click.prompt("  ", type=click.Choice(LETTERS), show_choices=False, prompt_suffix="? ")
    right = LETTERS[question.right]
    print_message(f"   {'right' if chosen == right else f'no, it is {right}'}")
    for line in question.why.split(" / "):
        print_message(f"      {line}")
    print_message("")
    return bool(chosen == right)
