"""`kata grade`: a class, into a gradebook."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from grader import machine
from grader.catalogue import Catalogue, Kata
from grader.cli.class_options import course_option, gradebook_option, note_unreadable
from grader.cli.context import device_option, note, write_pieces
from grader.devices import Device
from grader.errors import KataError, UsageError, did_you_mean

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from grader.gradebook.course import Course
    from grader.gradebook.store import Argument, Gradebook
    from grader.grading.executors import Slots
    from grader.grading.run import Run, Tally
    from grader.submissions import LearnerFolder, Scan

LEVELS = ("full", "confined", "process")


@click.command(short_help="Grade a class into a gradebook.")
@click.argument("submissions", type=click.Path(path_type=Path), required=False)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Submissions to grade at a time. [default: one per core]",
)
@click.option(
    "--only",
    multiple=True,
    metavar="ID|LEARNER",
    help="Grade only this unit, kata or learner; repeat it for more.",
)
@click.option(
    "--assignment",
    metavar="NAME",
    help="Grade only the katas of this assignment of the course; no other mark is touched.",
)
@click.option(
    "--stored", is_flag=True, help="Grade again what the gradebook keeps; the downloads are not needed."
)
@click.option(
    "--check", metavar="NAME", help="With --stored: update the result of this check only, not of the others."
)
@click.option("--dry-run", is_flag=True, help="With --stored: say what would change, and write nothing.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**53 - 1),
    help="Seed of the random inputs. [default: from the gradebook's own secret]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    help="Time limit for each check. [default: the kata's own]",
)
@click.option(
    "--perf/--no-perf",
    "perf",
    default=False,
    help="Also check speed and memory once everything else passes, one submission at a time.",
)
@device_option
@click.option("--force", is_flag=True, help="Grade again even what has not changed.")
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
    "--strict",
    is_flag=True,
    help="Exit with 3 if somebody is not in the roster or a file has a wrong name.",
)
@gradebook_option
@course_option
@click.option("--scheduler", metavar="URL", help="Grade on a Dask cluster: tcp://host:8786.")
@click.option(
    "--require-isolation", type=click.Choice(LEVELS), help="Refuse to grade at a lower isolation level."
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 when a learner's total is below this share of the points.",
)
def grade(
    submissions: Path | None,
    jobs: int | None,
    only: tuple[str, ...],
    assignment: str | None,
    stored: bool,
    check: str | None,
    dry_run: bool,
    seed: int | None,
    timeout: float | None,
    perf: bool,
    device: str,
    force: bool,
    json_file: str | None,
    strict: bool,
    times: Path | None,
    where: str,
    course_file: Path | None,
    scheduler: str | None,
    require_isolation: Literal["full", "confined", "process"] | None,
    fail_under: float | None,
) -> int:
    """Grade a class: every learner and kata gets a row, even if the answer is missing or cannot be read.

    SUBMISSIONS holds a folder or an archive for each learner, or is a bulk download from a learning-management
    system. Each mark is saved at once: stop at any time, and the same command goes on from there. What has not
    changed is not graded again. Exit code 0 says that every submission was graded, whatever the marks.

    A download changes nothing that is not in it: all attempts are kept, and which of them counts is computed.

    \b
    Example:
      kata grade submissions/
      kata grade week2.zip --assignment week2
      kata grade --stored --only masks --dry-run
      kata grade submissions/ --only 9.3 -j 8 --json reports.jsonl
      kata grade submissions/ --scheduler tcp://head-node:8786
    """
    from grader import sandbox
    from grader.cli.class_table import print_summary, write_notes
    from grader.gradebook.address import Address
    from grader.gradebook.course import Course
    from grader.gradebook.store import Gradebook
    from grader.gradebook.times import read_times
    from grader.grading.run import Run, RunPolicy
    from grader.grading.who import identified
    from grader.submissions import find_learners
    from grader.submissions.names import listed

    machine.prepare()
    if jobs is not None and scheduler is not None:
        raise UsageError(
            "-j is for this machine; with --scheduler, the number of the cluster's workers counts."
        )
    if require_isolation is not None and scheduler is None:
        sandbox.require(require_isolation)
    if scheduler is None:  # else it is for the cluster's machines to say
        Device(device).require()
    catalogue = Catalogue.discover()
    course = Course.find(where, course_file, catalogue)
    katas, names = _selected(only, assignment, course, catalogue)
    _warn_of_missing_answers(katas)
    policy = RunPolicy(
        seed, timeout, device=device, perf=perf, require_isolation=require_isolation, force=force
    )
    asked: dict[str, Argument] = {
        "submissions": str(submissions.absolute()) if submissions else None,
        "only": list(only),
        "assignment": assignment,
        "check": check,
        "seed": seed,
        "timeout": timeout,
        "scheduler": scheduler,
        "require_isolation": require_isolation,
        "perf": perf,
        "device": device,
    }
    if stored:
        if submissions is not None or times is not None:
            raise UsageError(
                "--stored reads the gradebook, and nothing else.", "Leave out SUBMISSIONS and --times."
            )
        from grader.cli.grade_stored import grade_stored

        if scheduler is None:
            agreed = require_isolation == "process"
            _refuse_exposed(None, Address.parse(where).file, course, agreed=agreed)
        with Gradebook.open(where, create=False, course=course) as book:
            who = [_learner_meant(name, book.learners(), course) for name in names] or None
            slots = _slots(jobs, scheduler)
            return grade_stored(
                book, katas, who, policy, slots,
                check=check, dry_run=dry_run, arguments=asked, where=where, json_file=json_file,
            )  # fmt: skip
    if check is not None or dry_run:
        raise UsageError("--check and --dry-run work only with --stored.")
    if submissions is None:
        raise UsageError(
            "What is to be graded?",
            "Name a folder or a download, or give --stored for what the gradebook keeps.",
        )
    try:
        scan = find_learners(submissions, katas)
    except UsageError as error:
        if names:  # then they were meant for katas, perhaps
            raise UsageError(
                f"--only {names[0]}: no unit or kata is called that. {error.message}", error.hint
            ) from None
        raise
    for text in scan.notes:
        note(f"note: {text}")
    if assignment is None and len(names) == len(only):  # then what lies there says which katas are meant
        if course.assignments:
            katas, assignments = _handed_in(scan, katas, course)
            note(f"note: {', '.join(assignments)}, judging by the files there (--assignment NAME chooses).")
        elif course.katas is None and len(held := _held(scan, katas)) < len(katas):
            katas = held or katas
            note(
                f"note: {listed([kata.slug for kata in katas], 5)}, judging by the files there (--only ID chooses)."
            )
    sandbox.refuse_foreign_code(submissions)
    if scheduler is None:  # else nothing is graded on this machine
        _refuse_exposed(submissions, Address.parse(where).file, course, agreed=require_isolation == "process")
    told = list(read_times(times, course.timezone, catalogue)) if times else []
    with Gradebook.open(where, create=True, course=course) as book:
        found = identified(scan.learners, book, told, times.name if times else "")
        for text in found.notes:
            note(f"note: {text}")
        learners = _chosen(found.learners, names, course)
        number = book.start_run(asked)
        run = Run(katas, book, policy, number)
        ids = [learner.learner for learner in learners]
        slugs = [kata.slug for kata in katas]
        try:
            tally = _graded(run, learners, _slots(jobs, scheduler))
            book.finish_run(number)
            notes = write_notes((*scan.notes, *found.notes), tally, found.matches, where)
            print_summary(book, katas, ids, tally, found.matches, where, notes, stderr=json_file == "-")
        except BaseException as error:  # Ctrl-C as well: what stands by now is written before it goes on
            if isinstance(error, KeyboardInterrupt):
                note(
                    f"stopped: what was graded so far is in {book.where}; the same command goes on from there."
                )
            _leave_reports(book, slugs, ids, json_file)
            raise
        if json_file is not None:
            write_reports(book, slugs, ids, json_file)
        note_unreadable(book)
        if tally.refused or (strict and (found.matches.strangers or tally.proposed)):
            return KataError.exit_code
        if fail_under is not None and any(share < fail_under for share in _shares(book, slugs, ids)):
            return 1
    return 0


def _refuse_exposed(submissions: Path | None, book: Path | None, course: Course, *, agreed: bool) -> None:
    """Refuse to grade where a submission could read answers, marks, or the work of others."""
    import tempfile

    from grader import sandbox
    from grader.catalogue.discover import answers

    kept = answers()
    secrets = {
        **dict.fromkeys(kept, "a pack's answers"),
        **({book: "the gradebook"} if book is not None else {}),
        **({course.path.parent: "the course"} if course.path is not None else {}),
        **({submissions: "the class's submissions"} if submissions is not None else {}),
        Path(tempfile.gettempdir()): "where submissions lie while they are graded",
    }
    sandbox.refuse_exposed(secrets, sandbox.python_view(kept), sandbox.offered(), agreed=agreed)


def write_reports(book: Gradebook, katas: list[str], learners: list[str], file: str) -> None:
    """Write the reports as JSON Lines, whole or not at all; `-` is stdout."""
    from grader.reports.json_text import json_text

    reports = book.reports(katas=katas, learners=learners)
    write_pieces(file, (json_text(report).encode() + b"\n" for report in reports))


def _leave_reports(book: Gradebook, katas: list[str], learners: list[str], file: str | None) -> None:
    """Write what was graded until a run was stopped; whatever stopped it is told, not what fails here."""
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


def _selected(
    only: tuple[str, ...], assignment: str | None, course: Course, catalogue: Catalogue
) -> tuple[list[Kata], list[str]]:
    """Split `--only` into katas and other words; where it names no kata, the course decides, or everything counts.

    Raises:
        UsageError: there is no such assignment, or `--only` names katas that are not in it.
    """
    from grader.gradebook.meant import assignment_meant

    katas: dict[Kata, None] = {}
    given = assignment_meant(course, assignment) if assignment is not None else None
    names: list[str] = []
    for word in only:
        try:
            katas.update(dict.fromkeys(catalogue.resolve(word)))
        except UsageError:
            names.append(word)  # a learner, perhaps: who is there, is known when the folder has been read
    if given is not None:
        outside = [kata.slug for kata in katas if kata.slug not in given.katas]
        if outside:
            raise UsageError(
                f"--only: {', '.join(outside[:3])} is not in the assignment {given.name}.",
                f"It has {', '.join(given.katas)}.",
            )
        katas = katas or {kata: None for kata in catalogue.katas if kata.slug in given.katas}
    if katas:
        return sorted(katas, key=lambda kata: kata.key), names
    return [kata for kata in catalogue.katas if course.katas is None or kata.slug in course.katas], names


def _handed_in(scan: Scan, katas: list[Kata], course: Course) -> tuple[list[Kata], list[str]]:
    """Return the katas of those assignments of which anybody handed in anything, and what they are called."""
    held = {kata.slug for kata in _held(scan, katas)}
    found = {name: one for name, one in course.assignments.items() if not held.isdisjoint(one.katas)}
    meant = {slug for one in found.values() for slug in one.katas} | held
    return [kata for kata in katas if kata.slug in meant], list(found) or ["no assignment"]


def _held(scan: Scan, katas: list[Kata]) -> list[Kata]:
    """Return those katas of which anybody handed in anything."""
    held = {kata.slug for learner in scan.learners for kata in learner.held(katas)}
    return [kata for kata in katas if kata.slug in held]


def _warn_of_missing_answers(katas: Sequence[Kata]) -> None:
    bare = [kata.slug for kata in katas if kata.solution is None]
    if bare:
        more = f" and {len(bare) - 3} more" if len(bare) > 3 else ""
        note(f"warning: this install has no solutions and no hidden checks for {', '.join(bare[:3])}{more}.")


def _chosen(found: Sequence[LearnerFolder], names: list[str], course: Course) -> list[LearnerFolder]:
    """Return whom to grade: all who were found or are in the roster, or whom `--only` names.

    Raises:
        UsageError: nobody is called that.
    """
    from grader.submissions import LearnerFolder
    from grader.submissions.names import natural_key

    known = {learner.learner: learner for learner in found}
    present = {course.same(name) for name in known}
    known |= {name: LearnerFolder(name) for name in course.roster if course.same(name) not in present}
    if not names:
        return [known[name] for name in sorted(known, key=natural_key)]
    meant = [_learner_meant(name, known, course) for name in names]
    return [known[name] for name in dict.fromkeys(meant)]


def _learner_meant(word: str, known: Collection[str], course: Course) -> str:
    """Return the identity that a word means: exactly, else in any case, else by its beginning; names count as well.

    Raises:
        UsageError: nobody is called that, or several are.
    """
    if word in known:
        return word
    folded = word.casefold()
    called = {name: {name.casefold(), course.name_of(name).casefold()} for name in known}
    same = [name for name, words in called.items() if folded in words]
    found = same or [name for name, words in called.items() if any(one.startswith(folded) for one in words)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"--only {word} could be {', '.join(found[:5])}.", "Type more of it.")
    raise UsageError(
        f"--only {word}: no unit, kata or learner is called that.{did_you_mean(word, list(known))}",
        "kata list shows the katas; learners are named after their folders.",
    )


def _slots(jobs: int | None, scheduler: str | None) -> AbstractContextManager[Slots]:
    from grader.grading.executors import cluster_slots, local_slots

    return cluster_slots(scheduler) if scheduler is not None else local_slots(jobs or _cores())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _graded(run: Run, learners: list[LearnerFolder], where: AbstractContextManager[Slots]) -> Tally:
    from grader.cli.progress import watching

    with where as slots, watching(len(learners) * len(run.setup.katas), slots.where) as watch:
        return run.grade(learners, slots.executor, slots.count, watch)


def _shares(book: Gradebook, katas: list[str], learners: list[str]) -> Iterator[float]:
    """Yield each learner's share of the points in percent, weighed as the course says."""
    from grader.gradebook.course import total
    from grader.gradebook.records import by_learner

    for _, own in by_learner(book.rows(katas=katas, learners=learners)):
        score, whole = total(own.values(), book.course)
        yield 100.0 * score / whole if whole else 100.0
