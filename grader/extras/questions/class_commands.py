"""`kata gradebook questions`: for each learner a sheet and a quiz about their own code that passes."""

from __future__ import annotations

import csv
import io
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from grader.api import (
    EngineError,
    MarkLine,
    UsageError,
    author_of,
    author_option,
    complete_id,
    counted,
    escape_controls,
    frames,
    interpreter,
    json_option,
    lines_of,
    note,
    points,
    print_json,
    with_gradebook,
    write_changes,
)

if TYPE_CHECKING:
    from grader.api import Gradebook, Mark
    from grader.extras.questions.quiz import QuizQuestion

MOST = 12
LETTERS = "abcd"
TEMPLATES = Path(__file__).parent / "templates"
PROGRAM = "grader.extras.questions.program"


@click.command(short_help="Write for each learner questions about their own code that passes.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option(
    "-n", "wanted", type=click.IntRange(1, MOST), default=5, show_default=True, help="Questions for a kata."
)
@click.option(
    "--out",
    metavar="FOLDER",
    default="kata-report",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where they go: the folder of kata report, or a new one.",
)
@json_option
@with_gradebook
def questions(book: Gradebook, id_: str | None, wanted: int, out: Path, as_json: bool) -> None:
    """Write for each learner questions about their own code that passes.

    FOLDER/questions holds a page for each learner, to be printed, without answers. FOLDER/quizzes holds what only you
    may see: keys.csv, and for each learner and kata a quiz as plain text that text2qti turns into one for Canvas and
    others. Hand-ins run as in kata grade, and nothing is recorded.

    \b
    Example:
      kata gradebook questions masks
      kata gradebook questions week3 -n 3 --out quiz3
    """
    from grader.api import resolve_katas

    rows = [row for row in book.rows(katas=resolve_katas(book, [id_] if id_ else [])) if row.status == "pass"]
    if not rows:
        raise UsageError("No hand-in passes yet: there is nothing to ask about.", "See: kata gradebook show")
    found: list[Asked] = []
    # All hand-ins in one program: each would else import torch and collect the checks once more.
    for row, answer in zip(rows, _questions_of(book, rows, wanted), strict=True):
        if isinstance(answer, str):
            note(f"{escape_controls(row.learner)}, {row.kata}: {escape_controls(answer)}")
        elif answer:
            found.append(Asked(row.learner, row.name, row.kata, row.number, tuple(answer)))
    # With the gradebook's secret: names of quiz files must not tell learners whose is next to theirs.
    learners = write_questions(found, out, book.nonce)
    if as_json:
        print_json({"folder": str(out), "learners": learners, "quizzes": len(found)})
        return
    click.echo(
        f"questions  {escape_controls(str(out / 'questions'))}   a page for each of {counted(learners, 'learner')}"
    )
    click.echo(
        f"quizzes    {escape_controls(str(out / 'quizzes'))}   {counted(len(found), 'quiz file')}, with the answers"
    )


class Asked(NamedTuple):
    """One learner's questions about one kata."""

    learner: str
    name: str
    kata: str
    number: str
    questions: tuple[QuizQuestion, ...]


def write_questions(sheets: Sequence[Asked], folder: Path, secret: bytes) -> int:
    """Write a page for each learner, a quiz for each of their katas, and the keys; return how many learners there are.

    Args:
        sheets: ordered by learner.
        folder: new, empty, or an earlier report's.
        secret: of the gradebook; files' names are made with it.
    """
    from grader.api import Folder, defuse, file_stem, page

    into = Folder(folder)
    keys = io.StringIO()
    table = csv.writer(keys, lineterminator="\n")
    table.writerow(("learner", "kata", "question", "kind", "right", "why"))
    learners = 0
    for learner, group in groupby(sheets, key=lambda sheet: sheet.learner):
        theirs, stem = list(group), file_stem(learner, secret)
        learners += 1
        into.write(
            f"questions/{stem}.html", page("questions.html", TEMPLATES, sheets=theirs, letters=LETTERS)
        )
        for sheet in theirs:
            into.write(f"quizzes/{sheet.kata}-{stem}.txt", _quiz(sheet))
            for number, question in enumerate(sheet.questions, 1):
                right = LETTERS[question.right]
                table.writerow(
                    (defuse(learner), sheet.kata, number, question.kind, right, defuse(question.why))
                )
    into.write("quizzes/keys.csv", keys.getvalue())
    into.finish()
    return learners


def _quiz(sheet: Asked) -> str:
    """Return a quiz for text2qti: paragraphs of one item are indented alike, and an asterisk marks the right option."""
    lines = [f"Quiz title: {sheet.number} {sheet.kata}", ""]
    for number, question in enumerate(sheet.questions, 1):
        text = [_plain(line) for line in [*question.text.splitlines(), question.code] if line]
        lines.append(f"{number}.  {text[0]}")
        lines += [part for line in text[1:] for part in ("", f"    {line}")]
        for place, option in enumerate(question.options):
            mark = "*" if place == question.right else ""
            lines.append(f"{mark}{LETTERS[place]})  {_plain(option)}")
        lines.append("")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return text in which Markdown finds code where we marked it, and nothing else."""
    parts = text.replace("```", "").split("`")
    return "`".join(
        part
        if place % 2
        else "".join(f"\\{letter}" if letter in "\\*_[]<>#$|{}" else letter for letter in part)
        for place, part in enumerate(parts)
    )


class _Answered(NamedTuple):
    learner: str
    kata: str
    question: str
    is_right: bool


@click.command("quiz-results", short_help="Record what learners answered about their own code.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--costs",
    metavar="POINTS",
    type=click.FloatRange(min=0, min_open=True),
    default=1,
    show_default=True,
    help="What each wrong answer takes from the kata's mark.",
)
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@author_option
@with_gradebook
def quiz_results(book: Gradebook, file: Path, costs: float, dry_run: bool, author: str | None) -> None:
    """Record what learners answered about their own code: wrong answers take points from a kata's mark.

    FILE is the keys.csv of `questions` with a further column, answer: a letter each, or nothing where nobody answered.
    Each mark keeps the reason, and who says so; the same file changes nothing when it is used again.

    \b
    Example:
      kata gradebook quiz-results quiz3/quizzes/keys.csv --costs 0.5 --author kim
    """
    lines = lines_of(
        file,
        ("learner", "kata", "question", "right", "answer"),
        partial(_answered, book),
        lambda line: (line.learner, line.kata, line.question),
        _EXAMPLE,
    )
    from grader.api import Adjust

    answers: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for line in lines:
        answers[line.learner, line.kata][line.question] = line.is_right
    changes = []
    for (learner, kata), right in answers.items():
        if wrong := len(right) - sum(right.values()):
            why = f"{wrong} of {len(right)} questions about one's own code wrong, {points(costs)} each"
            changes.append(MarkLine(learner, kata, Adjust, -wrong * costs, why))
    write_changes(book, changes, author_of(author), dry_run=dry_run)
    note(f"{len(answers) - len(changes)} with all answers right")


_EXAMPLE = "For example: the keys.csv of kata gradebook questions with a column answer, and a letter in it"


def _answered(book: Gradebook, cells: dict[str, str]) -> _Answered:
    """Return what a line says.

    Raises:
        UsageError: it breaks a rule.
    """
    from grader.api import resolve_kata, resolve_learner

    answer = cells["answer"].casefold()
    if answer not in ("", *"abcd"):
        raise UsageError(f"{cells['answer']!r} is not one of a, b, c and d.")
    learner, kata = resolve_learner(book, cells["learner"]), resolve_kata(book, cells["kata"])
    return _Answered(learner, kata, cells["question"], answer == cells["right"])


def _questions_of(book: Gradebook, rows: list[Mark], wanted: int) -> list[list[QuizQuestion] | str]:
    """Return the questions about each hand-in, or why there are none."""
    from grader.extras.questions.program import HandInToAsk
    from grader.extras.questions.quiz import QuizQuestion

    tasks: list[HandInToAsk] = []
    with tempfile.TemporaryDirectory(prefix="kata-questions-") as name:
        Path(name).chmod(0o755)  # a worker may run as a user of its own
        for number, row in enumerate(rows):
            # By number: names are learners', and two may differ in case alone.
            folder = Path(name) / str(number)
            bundle = book.bundle(row.attempt) if row.attempt is not None else None
            main = bundle.main if bundle is not None else "nothing.py"
            for path, content in bundle.files.items() if bundle is not None else ():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
            tasks.append(HandInToAsk(row.kata, str(folder / main), row.learner, wanted))
        # In this process are marks and perhaps a password: nothing that runs a hand-in is forked from it.
        done = subprocess.run(
            interpreter.command(PROGRAM),
            input=frames.encode(tasks),
            stdout=subprocess.PIPE,
            cwd=name,
            env=interpreter.environment(),
            check=False,
        )
    stream, decoder = io.BytesIO(done.stdout), frames.Decoder(list[QuizQuestion] | str)
    answers = [decoder.decode(frame) for frame in iter(lambda: frames.read_frame(stream), b"")]
    if done.returncode or len(answers) != len(tasks):
        raise EngineError("The program that asks about hand-ins ended before it was done.")
    return answers
