"""`kata grade`, a class, into a gradebook; and `kata regrade`, what a gradebook keeps, graded again from it alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from grader.catalogue import Kata
from grader.cli.context import note, write_pieces
from grader.cli.instructor.class_options import (
    GradingOptions,
    KataChoice,
    author_of,
    find_wanted,
    grading_options,
    learner_wanted,
    note_ungraded,
    same_book,
)
from grader.engine import sandbox
from grader.errors import KataError, UsageError
from grader.report.json_text import encode
from grader.report.style import console
from grader.words import counted

if TYPE_CHECKING:
    from grader.instructor.gradebook.row_types import UnusedTime
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.grading.regrading import Regraded, StoredLearner
    from grader.instructor.grading.run import Tally
    from grader.instructor.lms.find import Scan
    from grader.instructor.submissions import LearnerFolder
    from grader.instructor.submissions.submission import Submission
    from grader.report.report import KataReport


@click.command(short_help="Grade a class into a gradebook.")
@click.argument("submissions", type=click.Path(path_type=Path), required=False)
@grading_options
@click.option(
    "--json", "json_file", metavar="FILE", help="Write the reports to FILE, one per line; - is stdout."
)
@click.option(
    "--times",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A CSV file of hand-in times: learner,submitted_at, or the columns of a system.",
)
@click.option(
    "--take-proposed",
    is_flag=True,
    help="Accept every file that is proposed for a missing answer, as kata gradebook take does.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 3 if somebody is not in the roster or a file has a wrong name.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 when a learner's total is below this share of the points.",
)
def grade(
    submissions: Path | None,
    json_file: str | None,
    times: Path | None,
    take_proposed: bool,
    strict: bool,
    fail_under: float | None,
    options: GradingOptions,
) -> int:
    """Grade a class: every learner and kata gets a row, even if the answer is missing or cannot be read.

    SUBMISSIONS holds a folder or an archive for each learner, or is a bulk download from a learning-management
    system. Each mark is saved at once: stop at any time, and the same command goes on from there. What has not
    changed is not graded again. Exit code 0 says that every submission was graded, whatever the marks.

    A download changes nothing that is not in it: all attempts stay, and which of them counts is computed.

    \b
    Example:
      kata grade submissions/
      kata grade week2.zip --assignment week2
      kata grade submissions/ --only 9.3 -j 8 --json reports.jsonl
      kata grade submissions/ --scheduler tcp://head-node:8786
    """
    from grader.cli.instructor.class_table import Remarks, print_summary
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.gradebook.times import read_times
    from grader.instructor.grading.roster_matching import match_learners

    if submissions is None:
        raise UsageError(
            "What is to be graded?",
            "Name a folder or a download; what the gradebook keeps is graded again by kata regrade.",
        )
    options.prepare()
    wanted = find_wanted(options)
    scan = _scanned(submissions, wanted)
    katas = _katas_of(scan, wanted, options)
    # Before the gradebook exists: a class that cannot be graded safely leaves no trace of itself.
    sandbox.refuse_foreign_code(submissions)
    options.refuse_exposed(wanted.course, submissions)
    known_times = list(read_times(times, wanted.course.timezone, wanted.catalogue)) if times else []
    with Gradebook.open(options.where, create=True, course=wanted.course) as book:
        found = match_learners(scan.learners, book, known_times, times.name if times else "")
        learners = _chosen(found.learners, wanted.names, book)
        ids, slugs = [learner.learner for learner in learners], [kata.slug for kata in katas]
        try:
            tally = graded(book, katas, learners, options, GradedFiles(submissions, times, found.unused))
            if take_proposed and tally.proposed:
                _take(book, tally.proposed)
                found = match_learners(scan.learners, book, known_times, times.name if times else "")
                learners = _chosen(found.learners, wanted.names, book)
                tally = graded(book, katas, learners, options, GradedFiles(submissions, times, found.unused))
            unused = [time.words(book.course.timezone) for time in found.unused]
            remarks = Remarks(tally, found.matches, options.where, unused=unused)
            print_summary(book, katas, ids, remarks, console(stderr=json_file == "-"))
            if len(tally.proposed) > 1:
                note("all of these names  the same command with --take-proposed")
        except BaseException as error:  # Ctrl-C as well: what stands by now is written before it goes on
            if isinstance(error, KeyboardInterrupt):
                note(
                    f"stopped: what was graded so far is in {book.where}; the same command goes on from there."
                )
            _leave_reports(book, slugs, ids, json_file)
            raise
        if json_file is not None:
            write_reports(book, slugs, ids, json_file)
        note_ungraded(book)
        # After the reports: what could not be graded takes nothing from what could.
        if tally.refused or (strict and (found.matches.strangers or tally.proposed)):
            return KataError.exit_code
        if fail_under is not None and any(share < fail_under for share in _shares(book, slugs, ids)):
            return 1
    return 0


def _take(book: Gradebook, proposed: Sequence[Submission]) -> None:
    """Decide that each of these files is the answer that it is proposed for, and say how to take that back."""
    from grader.instructor.gradebook.events import Provenance, Take

    # Grading again costs these learners alone: what others handed in has not changed since a moment ago.
    numbers = []
    for submission in proposed:
        if (file := submission.proposal) is not None:
            why = f"--take-proposed: {file.reason}"
            made = Provenance(author=author_of(None), comment=why)
            take = Take(learner=submission.learner, kata=submission.kata, file=file.file, made=made)
            numbers.append(book.decide(take))
            note(f"taken  {submission.learner}, {submission.kata}: {file.file}")
    note(f"undo  kata gradebook withdraw {' '.join(map(str, numbers))}{same_book()} --comment TEXT")


def _scanned(submissions: Path, wanted: KataChoice) -> Scan:
    """Look through what was handed in, and pass on what is to be known of it.

    Raises:
        UsageError: there is nothing to grade.
    """
    from grader.instructor.grading.roster_matching import is_known
    from grader.instructor.lms.find import find_learners

    try:
        scan = find_learners(submissions, wanted.katas, wanted.names, is_known(wanted.course))
    except UsageError as error:
        if wanted.names:  # then they were meant for katas, perhaps
            raise UsageError(
                f"--only {wanted.names[0]}: no unit or kata is called that. {error.message}", error.hint
            ) from None
        raise
    for text in scan.notes:
        note(f"note: {text}")
    return scan


def _katas_of(scan: Scan, wanted: KataChoice, options: GradingOptions) -> list[Kata]:
    """Return which katas to grade: those that are named, else what lies there says it."""
    from grader.instructor.submissions.names import listed

    katas, course = wanted.katas, wanted.course
    if options.assignment is not None or len(wanted.names) < len(options.only):
        return katas
    if not course.assignments and course.katas is not None:
        return katas
    there = {kata.slug for learner in scan.learners for kata in learner.katas_present(katas)}
    held = [kata for kata in katas if kata.slug in there]
    if not held and not wanted.names:  # else every learner would get an error for every kata there is
        closed = [f" {text}." for learner in scan.learners for text in learner.unopened()]
        raise UsageError(
            f"Nothing that can be read there tells which katas are meant.{''.join(closed[:3])}",
            "Say which: --only ID, or --assignment NAME",
        )
    if course.assignments:
        every = course.assignments.values()
        found = [assignment for assignment in every if not there.isdisjoint(assignment.katas)]
        # And what is in no assignment: it was handed in as well.
        slugs = there.union(*(assignment.katas for assignment in found))
        katas = [kata for kata in katas if kata.slug in slugs]
        assignments = ", ".join(assignment.name for assignment in found) or "no assignment"
        note(f"note: {assignments}, judging by the files there (--assignment NAME chooses).")
    elif len(held) < len(katas):
        katas = held or katas
        names = listed([kata.slug for kata in katas], 5)
        note(f"note: {names}, judging by the files there (--only ID chooses).")
    return katas


class GradedFiles(NamedTuple):
    """What a run grades."""

    download: Path
    times: Path | None
    """A table of when things were handed in."""
    unused: Sequence[UnusedTime]
    """Its lines that are nobody's."""


def graded(
    book: Gradebook,
    katas: Sequence[Kata],
    learners: Sequence[LearnerFolder],
    options: GradingOptions,
    sources: GradedFiles,
) -> Tally:
    """Grade a class, as a run of this gradebook."""
    from grader.cli.progress import watching
    from grader.instructor.grading.run import Run

    # People who are in the roster alone have nothing in this download.
    there = [learner.learner for learner in learners if learner.places]
    present = set(there)
    recording = book.start_run(
        options.arguments(sources.download, sources.times),
        [(name, kata.slug) for name in there for kata in katas],
    )
    if sources.times is not None:
        recording.record_unused_times(sources.times.name, [kata.slug for kata in katas], sources.unused)
    run = Run(katas, recording, options.policy)
    with options.slots() as slots, watching(len(there) * len(katas), slots.where) as shown:

        def watch(tally: Tally, submission: Submission, report: KataReport | None) -> None:
            if submission.learner in present:
                shown(tally, submission, report)

        tally = run.grade(learners, slots.executor, slots.count, watch)
    recording.finish()
    return tally


def write_reports(book: Gradebook, katas: list[str], learners: list[str], file: str) -> None:
    """Write the reports as JSON Lines, whole or not at all; `-` is stdout."""
    from grader.report.json_text import json_text

    reports = book.reports(katas=katas, learners=learners)
    write_pieces(file, (json_text(report).encode() + b"\n" for report in reports))


def _leave_reports(book: Gradebook, katas: list[str], learners: list[str], file: str | None) -> None:
    """Write what was graded until a run was stopped; what is reported is what stopped it, not what fails here."""
    if file is None:
        return
    try:
        write_reports(book, katas, learners, file)
    except (KataError, OSError) as error:
        note(f"note: the reports could not be written ({error}).")
    else:
        note(
            f"note: grading was stopped; {'stdout' if file == '-' else file} holds what was graded until then."
        )


def _chosen(found: Sequence[LearnerFolder], names: list[str], book: Gradebook) -> list[LearnerFolder]:
    """Return whom to grade: all who were found or are in the roster, or whom `--only` names.

    Raises:
        UsageError: nobody is called that.
    """
    from grader.instructor.submissions import LearnerFolder
    from grader.instructor.submissions.names import natural_key

    known = {learner.learner: learner for learner in found}
    same = book.course.normalized_name
    # In the course's spelling: a download may write names in another case than the roster.
    present = {same(name) for name in known}
    present |= {same(name) for name in book.left()}
    known |= {name: LearnerFolder(name) for name in book.course.roster if same(name) not in present}
    if not names:
        return [known[name] for name in sorted(known, key=natural_key)]
    wanted = [learner_wanted(name, list(known), book) for name in names]
    return [known[name] for name in dict.fromkeys(wanted)]


def _shares(book: Gradebook, katas: list[str], learners: list[str]) -> Iterator[float]:
    """Yield each learner's share of the points in percent, weighed as the course says."""
    from grader.instructor.gradebook.course import total
    from grader.instructor.gradebook.row_types import by_learner

    for _, own in by_learner(book.rows(katas=katas, learners=learners)):
        found = total(own.values(), book.course)
        # While all points still wait for a mark, nobody is below any share.
        yield 100.0 * found.part if found.most > found.open else 100.0


@click.command(short_help="Grade again what the gradebook keeps; say what changes.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option(
    "--json", "json_file", metavar="FILE", help="Write every change to FILE, one per line; - is stdout."
)
@grading_options
def regrade(dry_run: bool, json_file: str | None, options: GradingOptions) -> int:
    """Grade again what the gradebook keeps, after a check was corrected, say. The downloads are not needed.

    Every attempt is graded with the seed that it always gets. What neither the kata nor a version has changed for is
    not graded again, unless you say --force: then a mark that nothing touched comes out the same.

    \b
    Example:
      kata regrade --only masks --dry-run
      kata regrade --only masks
      kata regrade --only ada --only masks --force --dry-run
    """
    from grader.cli.instructor.class_table import print_changes
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.grading.regrading import stored_learners, worth_changes

    options.prepare()
    wanted = find_wanted(options)
    options.refuse_exposed(wanted.course)
    with Gradebook.open(options.where, create=False, course=wanted.course) as book:
        who = [learner_wanted(name, book.learners(), book) for name in wanted.names] or None
        stored = stored_learners(book, wanted.slugs, who)
        if not stored:
            raise UsageError("The gradebook holds nothing that was handed in for these katas.")
        before, own = list(book.rows(katas=wanted.slugs, learners=who)), book.attempt_numbers(who)
        # stdout is for programs when the changes go there.
        out = console(stderr=json_file == "-")
        # First, because no code has to run for it.
        if worth := worth_changes(book, before):
            out.print(f"what checks are worth by {book.course.path} changes {counted(len(worth), 'mark')}:")
            print_changes(worth, own, {row.attempt for row in before}, out, titles=("in the pack", "here"))
        tally, changed = _graded_again(book, stored, wanted, options, dry_run)
        titles = ("graded before", "would be" if dry_run else "now")
        print_changes(changed, own, {row.attempt for row in before}, out, titles=titles)
        for submission, answer in tally.refused:
            note(f"not graded: {submission.learner}, {submission.kata}: {answer.message}")
        if dry_run:
            outcome = f"{len(changed)} would change. Nothing was written; leave out --dry-run to write it."
        else:
            # What changed in a grading need not change a mark: another attempt may count, or somebody decided.
            scores = {(row.learner, row.kata): row.score for row in before}
            after = book.rows(katas=wanted.slugs, learners=who)
            if moved := sum(scores.get((row.learner, row.kata), row.score) != row.score for row in after):
                out.print(
                    f"{moved} marks have changed, with lateness and decisions counted in.", soft_wrap=True
                )
            outcome = f"{len(changed)} changed; next  kata gradebook show{same_book()}"
        out.print(f"{counted(tally.total, 'hand-in')}, {outcome}", soft_wrap=True)
        if json_file is not None:
            _write(changed, own, json_file)
        note_ungraded(book)
    return KataError.exit_code if tally.refused else 0


def _graded_again(
    book: Gradebook,
    stored: Sequence[StoredLearner],
    wanted: KataChoice,
    options: GradingOptions,
    dry_run: bool,
) -> tuple[Tally, list[Regraded]]:
    """Grade stored hand-ins, and return what comes out differently; nothing is written if this is a rehearsal."""
    from grader.cli.progress import watching
    from grader.instructor.grading.regrading import Regrading, largest_first
    from grader.instructor.grading.run import Run

    total = sum(len(learner.hand_ins) for learner in stored)
    recording = None if dry_run else book.start_run(options.arguments())
    marks = Regrading(book, recording)
    with options.slots() as slots, watching(total, slots.where) as watch:
        run = Run(wanted.katas, marks, options.policy)
        tally = run.grade(stored, slots.executor, slots.count, watch, total)
    if recording is not None:
        recording.finish()
    return tally, largest_first(change for change in marks.changes if change.differs)


def _write(changed: Sequence[Regraded], own: dict[int, int], file: str) -> None:
    lines = (
        {
            "learner": change.learner,
            "kata": change.kata,
            "attempt": own[change.attempt],
            "before": {"status": change.before.status, "score": change.before.earned},
            "after": {"status": change.after.status, "score": change.after.earned},
            "checks": change.checks,
        }
        for change in changed
    )
    write_pieces(file, (encode(line) + b"\n" for line in lines))
