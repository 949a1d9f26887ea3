"""Files of another name become answers: found in what was graded, decided about as one, and graded at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from grader import machine
from grader.catalogue import Catalogue, Kata
from grader.devices import Device
from grader.engine import sandbox
from grader.errors import UsageError
from grader.instructor.gradebook.events import Provenance, Take
from grader.instructor.gradebook.row_types import RunRecord
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.times import read_times
from grader.instructor.grading.executors import cores, local_slots, refuse_exposed
from grader.instructor.grading.roster_matching import is_known, match_learners
from grader.instructor.grading.run import Run, RunPolicy, Watch
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions import LearnerFolder
from grader.instructor.submissions.names import listed

Watching = Callable[[int, str], AbstractContextManager[Watch]]
"""Given how many are graded and where, what is told after each."""


class TakenFile(NamedTuple):
    """A file that somebody says is the answer."""

    learner: str
    kata: str
    file: str
    """A name, or a path inside what the learner handed in."""


class _Found(NamedTuple):
    folder: LearnerFolder
    kata: Kata
    run: RunRecord
    """The run that graded the download that holds the file."""


def take(
    book: Gradebook,
    wanted: Sequence[TakenFile],
    made: Provenance,
    *,
    watching: Watching = lambda _count, _where: nullcontext(lambda *_: None),
    queued: Callable[[str], None] | None = None,
) -> int:
    """Decide that files are answers, and grade them as they were looked for; return the number for `undo`.

    They are looked for in what was graded, the newest download first, also in attempts that do not count.

    Args:
        book: what they are graded into.
        wanted: the files.
        made: whose decision it is, and why.
        watching: what to call after each.
        queued: called again and again with whose run it is that has to end first. Nothing is decided before.

    Raises:
        UsageError: a file is in no download that is still there, or grading here is not safe; nothing was decided.
        KataError: they could not be graded; what was decided is taken back, as it is if something else stops this.
    """
    catalogue = Catalogue.discover()
    # Before anything is decided: a name with a slip in it would decide nothing.
    found = _found(book, wanted, catalogue)
    # Also before: what cannot be graded here (isolation, a device, answers that are exposed) is refused with
    # nothing written.
    for run in {file.run.id: file.run for file in found}.values():
        _prepare(book, run)
    while queued is not None and (busy := book.busy()):
        queued(busy)
    takes = [Take(learner=file.learner, kata=file.kata, file=file.file, made=made) for file in wanted]
    number = book.decide(takes[0]) if len(takes) == 1 else book.decide_together(takes)
    try:
        _grade(book, found, watching)
    except BaseException:  # Ctrl-C as well
        # A decision without a grading would hide the file: it would be the answer, and have no mark.
        book.undo(number, author=made.author, comment="it could not be graded")
        raise
    return number


def _found(book: Gradebook, wanted: Sequence[TakenFile], catalogue: Catalogue) -> list[_Found]:
    found: dict[TakenFile, _Found] = {}
    names: dict[str, dict[str, None]] = {file.learner: {} for file in wanted}
    katas = {file.kata: _kata(catalogue, file.kata) for file in wanted}
    for folders, run in _downloads(book, catalogue):
        for file in wanted:
            if file in found or (folder := folders.get(file.learner)) is None:
                continue
            there = folder.paths()
            names[file.learner].update(dict.fromkeys(there))
            if any(file.file in (path, path.rpartition("/")[2]) for path in there):
                taken = replace(folder, taken={**folder.taken, file.kata: file.file})
                found[file] = _Found(taken, katas[file.kata], run)
        if len(found) == len(set(wanted)):
            return [found[file] for file in dict.fromkeys(wanted)]
    first = next(file for file in wanted if file not in found)
    there = list(names[first.learner])
    hint = (
        f"There: {listed(there, 10)}"
        if there
        else "No download with their work is where it was graded from: put it back, or grade it again."
    )
    raise UsageError(f"{first.learner} handed in no file {first.file}.", hint)


def _kata(catalogue: Catalogue, slug: str) -> Kata:
    kata = catalogue.kata(slug)
    if kata is None:
        raise UsageError(f"{slug}: this install has no such kata, so nothing can be graded for it.")
    return kata


def _downloads(
    book: Gradebook, catalogue: Catalogue
) -> Iterator[tuple[Mapping[str, LearnerFolder], RunRecord]]:
    """Yield every download that was graded and is still there, by learner, the newest first."""
    seen = set()
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
        folders = match_learners(scan.learners, book, at, str(times)).learners
        yield {folder.learner: folder for folder in folders}, run


def _policy(arguments: Mapping[str, Any]) -> RunPolicy:
    # As the run did that graded it: with another seed or limit, taking a file would change more than the file.
    return RunPolicy(
        arguments.get("seed"),
        arguments.get("timeout"),
        device=arguments.get("device") or "cpu",
        perf=bool(arguments.get("perf")),
        require_isolation=arguments.get("require_isolation"),
    )


def _prepare(book: Gradebook, run: RunRecord) -> None:
    """Insist on what the run was asked for: device and isolation may not be had any more, or on this machine."""
    arguments: Mapping[str, Any] = run.arguments
    machine.prepare()
    if (level := arguments.get("require_isolation")) is not None:
        sandbox.require(level)
    Device(_policy(arguments).device).require()
    agreed = level == "process"
    refuse_exposed(book.address, book.course, Path(arguments["submissions"]), agreed=agreed)


def _grade(book: Gradebook, found: Sequence[_Found], watching: Watching) -> None:
    groups: dict[tuple[int, str], list[_Found]] = {}
    for file in found:
        groups.setdefault((file.run.id, file.kata.slug), []).append(file)
    # One use of grading processes for all groups: each of them takes seconds to start.
    with (
        local_slots(min(cores(), len(found))) as slots,
        watching(len(found), slots.where) as watch,
    ):
        for group in groups.values():
            arguments = group[0].run.arguments
            here = {**arguments, "only": [], "assignment": None, "scheduler": None}
            kata = group[0].kata
            recording = book.start_run(here, [(file.folder.learner, kata.slug) for file in group])
            run = Run([kata], recording, _policy(arguments))
            run.grade([file.folder for file in group], slots.executor, slots.count, watch)
            recording.finish()
