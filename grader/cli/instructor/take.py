"""`kata gradebook take`: a file of another name becomes an answer, and is graded at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.catalogue import Catalogue, Kata
from grader.cli.context import complete_id
from grader.cli.instructor.class_options import By, decision, print_decision
from grader.cli.instructor.grading_options import GradingOptions
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.submissions import LearnerFolder


@click.command(short_help="Accept a file with a wrong name as a learner's answer.")
@click.argument("learner")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.argument("file")
@decision
def take(book: Gradebook, learner: str, id_: str, file: str, by: By) -> None:
    """Accept FILE, as LEARNER named it, as the answer to ID: `masks_final_v3.py` instead of `masks.py`.

    It is looked for in what was graded, the newest download first, also in attempts that do not count, and graded at
    once. FILE is a name, or a path inside what the learner handed in.

    \b
    Example:
      kata gradebook take ada masks masks_final_v3.py --comment "she asked by mail"
    """
    from grader.instructor.gradebook.meant import kata_meant

    name = file.strip("/")
    if not name.strip("/. "):
        raise UsageError("The file's name is empty.")
    slug = kata_meant(book, id_)
    kata = Catalogue.discover().kata(slug)
    if kata is None:
        raise UsageError(f"{slug}: this install has no such kata, so nothing can be graded for it.")
    # Before anything is decided: a name with a slip in it would decide nothing.
    whose, run = _found(book, learner, kata, name)
    number = book.rule("take", learner, name, kata=slug, **by)
    row = _graded(book, kata, whose, run)
    print_decision(number, f"{learner}, {slug}: {name} is the answer, {row.score:g}/{row.max_score:g} points")


def _found(book: Gradebook, learner: str, kata: Kata, file: str) -> tuple[LearnerFolder, Mapping[str, Any]]:
    """Return what holds a learner's file, and what the run was asked for that graded it.

    Raises:
        UsageError: nothing that was graded holds it: what there is instead.
    """
    names: dict[str, None] = {}
    for folder, run in _downloads(book, learner):
        there = folder.paths()
        if any(file in (path, path.rpartition("/")[2]) for path in there):
            return replace(folder, taken={**folder.taken, kata.slug: file}), run
        names.update(dict.fromkeys(there))
    from grader.instructor.submissions.names import listed

    hint = (
        f"There: {listed(list(names), 10)}"
        if names
        else "No download with their work is where it was graded from: put it back, or grade it again."
    )
    raise UsageError(f"{learner} handed in no file {file}.", hint)


def _downloads(book: Gradebook, learner: str) -> Iterator[tuple[LearnerFolder, Mapping[str, Any]]]:
    """Yield a learner's part of every download that was graded and is still there, the newest first."""
    from grader.instructor.gradebook.times import read_times
    from grader.instructor.grading.who import identified, is_known
    from grader.instructor.submissions import find_learners

    catalogue, seen = Catalogue.discover(), set()
    for run in reversed(book.runs()):
        place, times = run.arguments.get("submissions"), run.arguments.get("times")
        if not isinstance(place, str) or place in seen:
            continue
        seen.add(place)
        try:
            # As grading saw it: a folder around the class may be known by who is in the roster.
            scan = find_learners(Path(place), catalogue.katas, known=is_known(book.course))
            at = list(read_times(Path(str(times)), book.course.timezone, catalogue)) if times else []
        except UsageError:  # it is gone, or another one by now
            continue
        for folder in identified(scan.learners, book, at, str(times)).learners:
            if folder.learner == learner:
                yield folder, run.arguments


def _graded(book: Gradebook, kata: Kata, whose: LearnerFolder, arguments: Mapping[str, Any]) -> Any:
    """Grade one learner's answer as a run did, as a run of its own; return the row that counts now."""
    from grader.cli.instructor.grade import graded

    # As the run did that graded it: with another seed or limit, taking a file would change more than the
    # file.
    given = click.get_current_context().params
    options = GradingOptions(
        jobs=1,
        only=(),
        assignment=None,
        seed=arguments.get("seed"),
        timeout=arguments.get("timeout"),
        perf=bool(arguments.get("perf")),
        device=arguments.get("device") or "cpu",
        force=False,
        where=given["where"],
        course_file=given["course_file"],
        scheduler=None,
        require_isolation=arguments.get("require_isolation"),
    )

    download, times = (
        Path(arguments[name]) if arguments.get(name) else None for name in ("submissions", "times")
    )
    options.prepare()
    options.refuse_exposed(book.course, download)
    graded(book, [kata], [whose], options, download, times)
    return next(iter(book.rows(katas=[kata.slug], learners=[whose.learner])))
