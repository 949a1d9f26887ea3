"""`kata gradebook answers | mark | unmark | mark-all | release`: written answers, from the sheet to the learner."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from grader.cli.context import complete_id, json_option, note, print_json
from grader.cli.instructor.class_options import (
    By,
    author_of,
    author_option,
    decision,
    lines_of,
    name_word,
    print_line,
    same_book,
    with_gradebook,
)
from grader.cli.instructor.rulings import covered
from grader.errors import UsageError
from grader.report.style import escape_controls, points
from grader.words import counted, typed_number, whole_number

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.gradebook.written_answers import Rubrics

_EXAMPLE = (
    "For example: the header learner,kata,question,points,comment and a line like ada,masks,1,1.5,say why"
)


def _rubrics(book: Gradebook) -> Rubrics:
    from grader.catalogue import Catalogue
    from grader.instructor.gradebook.written_answers import Rubrics

    return Rubrics(Catalogue.discover(), book)


@click.command(short_help="Show written answers, their marks, and which answers still wait for one.")
@click.argument("learner", required=False)
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@json_option
@with_gradebook
def answers(book: Gradebook, learner: str | None, id_: str | None, as_json: bool) -> None:
    """Show written answers, their marks, and which answers still wait for one.

    Without LEARNER, it lists who waits for a mark. With LEARNER, it shows each answer next to the model answer, the
    criteria and the mark.

    \b
    Example:
      kata gradebook answers
      kata gradebook answers week1
      kata gradebook answers ada masks
    """
    from grader.cli.instructor.screens import print_sheet
    from grader.instructor.gradebook.exports.documents import document_of_sheet
    from grader.instructor.gradebook.resolve import resolve_katas
    from grader.instructor.gradebook.written_answers import load_sheet, sheets_to_mark

    rubrics = _rubrics(book)
    if learner is None:
        katas = resolve_katas(book, [id_] if id_ else [])
        # From the rows alone: no sheet has to be read to know who waits.
        waiting = [queued for queued in sheets_to_mark(book) if katas is None or queued.kata in katas]
        if as_json:
            found = [
                {"learner": queued.learner, "kata": queued.kata, "questions": queued.questions}
                for queued in waiting
            ]
            print_json({"waiting": found})
            return
        for queued in waiting:
            numbers = ", ".join(map(str, queued.questions))
            print_line(
                f"{queued.learner}  {queued.kata}  question{'s' * (len(queued.questions) > 1)} {numbers}"
            )
        count = sum(len(queued.questions) for queued in waiting)
        note(f"{counted(count, 'answer')} wait to be marked" if count else "No answer waits to be marked.")
        return
    rows = book.rows(katas=resolve_katas(book, [id_] if id_ else []), learners=[learner])
    zone = book.course.timezone
    # With an ID also without a sheet: somebody who names it wants to hear that nothing was handed in.
    sheets = [load_sheet(book, rubrics, learner, row.kata) for row in rows if row.written is not None or id_]
    if as_json:
        print_json({"sheets": [document_of_sheet(sheet) for sheet in sheets]})
        return
    for sheet in sheets:
        print_sheet(sheet, zone)
    if not sheets:
        note(f"{escape_controls(learner)} handed in no written answers.")
    elif any(sheet.waiting for sheet in sheets):
        first = next(sheet for sheet in sheets if sheet.waiting)
        note(f"mark  kata gradebook mark {name_word(learner)} {first.kata} QUESTION --met 1,2{same_book()}")


def _numbers(text: str) -> tuple[int, ...]:
    found = [whole_number(word) for word in text.replace(" ", ",").split(",") if word]
    if None in found:
        raise UsageError(
            f"--met takes the numbers of criteria, not {text!r}.",
            "For example --met 1,3, or --met '' for none.",
        )
    return tuple(number for number in found if number is not None)


@click.command(short_help="Mark a written answer, by the rubric's criteria or in points.")
@click.argument("learner")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.argument("question", type=click.IntRange(min=1))
@click.option("--met", metavar="N,N", help="Numbers of the criteria that are met; '' for none.")
@click.option("--points", "given", metavar="N", help="Points to give, instead of those of the criteria.")
@click.option(
    "--comment", metavar="TEXT", default="", help="Comment for the learner, who reads it after the release."
)
@author_option
@with_gradebook
def mark(
    book: Gradebook,
    learner: str,
    id_: str,
    question: int,
    met: str | None,
    given: str | None,
    comment: str,
    author: str | None,
) -> None:
    """Mark LEARNER's answer to a QUESTION of ID; `answers` shows it next to the rubric.

    The newest mark counts; earlier marks stay in the history.

    \b
    Example:
      kata gradebook mark ada masks 1 --met 1,2 --comment "well put"
      kata gradebook mark ada masks 2 --points 0.5
    """
    from grader.instructor.gradebook.resolve import points_meant, resolve_kata
    from grader.instructor.gradebook.written_answers import mark as write

    # `--met ''` says that no criterion is met, and is not the same as leaving it out.
    if met is None and given is None:
        raise UsageError("Nothing says what the answer earns.", "Give --met with criteria, or --points.")
    kata = resolve_kata(book, id_)
    number = write(
        book,
        _rubrics(book),
        learner,
        kata,
        question,
        criteria=_numbers(met or ""),
        points=None if given is None else points_meant(given),
        comment=comment,
        author=author_of(author),
    )
    # Read back: points that were not given follow from the criteria, and only the gradebook knows them.
    stands = next(mark for mark in book.written_answers([learner])[learner, kata][1] if mark.id == number)
    print_line(f"{learner}, {kata}, question {question}: {points(stands.points, stands.max_points)}")
    note(f"undo  kata gradebook unmark {number}{same_book()} --comment TEXT")


@click.command(short_help="Take back the mark of a written answer.")
@click.argument("number", type=click.IntRange(min=1))
@decision
def unmark(book: Gradebook, number: int, by: By) -> None:
    """Take back the mark with this NUMBER; `answers` shows the numbers. The mark before it counts again.

    \b
    Example:
      kata gradebook unmark 12 --comment "meant for adam"
    """
    from grader.instructor.gradebook.events import ANSWER_MARK

    book.undo(number, **by, only=ANSWER_MARK)
    print_line(f"taken back  mark {number}")


class _Line(NamedTuple):
    learner: str
    kata: str
    question: int
    criteria: tuple[int, ...]
    points: float | None
    comment: str


@click.command("mark-all", short_help="Mark many written answers at once, from a CSV file.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be marked, and write nothing.")
@author_option
@with_gradebook
def mark_all(book: Gradebook, file: Path, dry_run: bool, author: str | None) -> None:
    """Mark many answers: FILE has the columns learner, kata, question, points or met, and optionally comment.

    If any line has a mistake, it is reported and nothing is written. A mark that is already recorded is skipped, so the
    same file can be used again.

    \b
    Example:
      kata gradebook mark-all week1.csv --dry-run
    """
    from grader.instructor.gradebook.written_answers import earned, load_sheet
    from grader.instructor.gradebook.written_answers import mark as write

    rubrics = _rubrics(book)
    done = 0
    columns = ("learner", "kata", "question", "points|met")
    # All of it is read before anything is written: half a file would have to be found and taken back by
    # hand.
    lines = lines_of(
        file,
        columns,
        partial(_line, book, rubrics),
        lambda line: (line.learner, line.kata, line.question),
        _EXAMPLE,
    )
    who = author_of(author)
    for line in lines:
        answer = load_sheet(book, rubrics, line.learner, line.kata).answers[line.question - 1]
        assert answer.rubric is not None
        worth = earned(answer.rubric, line.criteria)
        given = worth if line.points is None else line.points
        stands = answer.mark
        same = stands and (stands.points, stands.criteria, stands.made.comment)
        # So that the same file, longer by a few lines, can be used again.
        if same == (given, line.criteria, line.comment) and not answer.changed:
            continue
        done += 1
        if not dry_run:
            write(
                book,
                rubrics,
                line.learner,
                line.kata,
                line.question,
                criteria=line.criteria,
                points=given,
                comment=line.comment,
                author=who,
                answer=answer.digest,
                # What stood when the file was compared: a mark that somebody gives meanwhile is not
                # overwritten.
                seen=stands.id if stands is not None else None,
            )
        print_line(f"{line.learner}, {line.kata}, question {line.question}: {points(given)}  {line.comment}")
    note(f"{done} {'would be marked' if dry_run else 'marked'}, {len(lines) - done} already recorded")


def _line(book: Gradebook, rubrics: Rubrics, row: dict[str, str]) -> _Line:
    """Return what a line says.

    Raises:
        UsageError: it breaks a rule.
    """
    from grader.instructor.gradebook.resolve import resolve_kata, resolve_learner
    from grader.instructor.gradebook.written_answers import rubric_question

    cells = {"points": "", "met": "", "comment": "", **row}
    number = whole_number(cells["question"])
    if number is None:
        raise UsageError(f"question must be a number, not {cells['question']!r}.")
    if not (cells["points"] or cells["met"]):
        raise UsageError("there are neither points nor met criteria; an answer without any has the points 0.")
    kata = resolve_kata(book, cells["kata"])
    of, met = rubric_question(rubrics, kata, number), _numbers(cells["met"].replace(";", ","))
    if any(not 1 <= number <= len(of.criteria) for number in met):
        raise UsageError(f"met names a criterion that does not exist; there are {len(of.criteria)}.")
    given = _points(cells["points"], of.points)
    who = resolve_learner(book, cells["learner"])
    return _Line(who, kata, number, tuple(sorted(set(met))), given, cells["comment"])


def _points(text: str, most: float) -> float | None:
    if not text:
        return None
    given = typed_number(text)
    if given is None or not 0 <= given <= most:
        raise UsageError(f"points must be a number from 0 to {points(most)}, not {text!r}.")
    return given


@click.command(short_help="Let learners see marks of written answers, and remarks on their code.")
@click.argument("assignment")
@click.option(
    "--anyway",
    is_flag=True,
    help="Release even while answers wait; these stay unmarked and count for nothing.",
)
@decision
def release(book: Gradebook, assignment: str, anyway: bool, by: By) -> None:
    """Let learners see the marks of written answers for an ASSIGNMENT, a kata, or `all`, and the remarks on their code.

    Until the release is withdrawn, feedback and exports for learners contain them, and unanswered questions count as 0.
    Disputes are in the feedback even without a release: they are the learner's own.

    \b
    Example:
      kata gradebook release week1 --comment "all are marked"
    """
    from grader.instructor.gradebook.written_answers import release as write

    of = covered(book, assignment)
    number = write(book, _rubrics(book), of, anyway=anyway, **by)
    print_line(f"marks and remarks of {of or 'everything'} are released")
    note(f"undo  kata gradebook withdraw {number}{same_book()} --comment TEXT")


COMMANDS: tuple[Any, ...] = (answers, mark, unmark, mark_all, release)
