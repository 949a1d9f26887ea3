"""What `kata grade` and `kata regrade` share: how to grade, which katas, where grading happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from grader import machine
from grader.catalogue import Catalogue, Kata
from grader.cli.context import device_option, gathered, note, timeout_option
from grader.cli.instructor.class_options import course_option, gradebook_option
from grader.commands import EXTRAS, load
from grader.devices import Device
from grader.engine import sandbox
from grader.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.store import Argument, Gradebook
    from grader.instructor.grading.executors import Slots
    from grader.instructor.grading.run import RunPolicy

LEVELS = ("full", "confined", "process")


@dataclass(frozen=True, kw_only=True)
class GradingOptions:
    """The options that grading has, wherever the submissions come from."""

    jobs: int | None
    only: tuple[str, ...]
    assignment: str | None
    seed: int | None
    timeout: float | None
    perf: bool
    device: str
    force: bool
    where: str
    course_file: Path | None
    scheduler: str | None
    require_isolation: Literal["full", "confined", "process"] | None

    def prepare(self) -> None:
        """Get this machine ready, and refuse what it cannot do.

        Raises:
            UsageError: options contradict each other, or the device or the isolation is not to be had.
        """
        machine.prepare()
        if self.scheduler is not None:  # then devices and isolation are for the cluster's machines to say
            if self.jobs is not None:
                raise UsageError(
                    "-j is for this machine; with --scheduler, the number of the cluster's workers counts."
                )
            return
        if self.require_isolation is not None:
            sandbox.require(self.require_isolation)
        Device(self.device).require()

    @property
    def policy(self) -> RunPolicy:
        """How submissions are graded."""
        from grader.instructor.grading.run import RunPolicy

        return RunPolicy(
            self.seed,
            self.timeout,
            device=self.device,
            perf=self.perf,
            require_isolation=self.require_isolation,
            force=self.force,
        )

    def slots(self) -> AbstractContextManager[Slots]:
        """Return where submissions are graded: here, or on a cluster."""
        from grader.instructor.grading.executors import cores, local_slots

        if self.scheduler is not None:
            if "grade --scheduler" not in EXTRAS:
                raise UsageError("--scheduler needs the extra cluster, which is not installed.")
            slots: AbstractContextManager[Slots] = load(EXTRAS["grade --scheduler"])(self.scheduler)
            return slots
        return local_slots(self.jobs or cores())

    def arguments(self, submissions: Path | None = None, times: Path | None = None) -> dict[str, Argument]:
        """Return what the gradebook notes of a run."""
        return {
            "submissions": str(submissions.absolute()) if submissions else None,
            "times": str(times.absolute()) if times else None,
            "only": list(self.only),
            "assignment": self.assignment,
            "seed": self.seed,
            "timeout": self.timeout,
            "scheduler": self.scheduler,
            "require_isolation": self.require_isolation,
            "perf": self.perf,
            "device": self.device,
        }

    def refuse_exposed(self, course: Course, submissions: Path | None = None) -> None:
        """Refuse to grade where a submission could read answers, marks, or the work of others."""
        from grader.instructor.grading.executors import refuse_exposed

        if self.scheduler is None:  # else nothing is graded on this machine
            agreed = self.require_isolation == "process"
            refuse_exposed(self.where, course, submissions, agreed=agreed)


grading_options: Callable[[Callable[..., Any]], Any] = gathered(
    GradingOptions,
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Submissions to grade at a time. [default: one per core]",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="ID|LEARNER",
        help="Grade only this assignment, unit, kata or learner; repeat it for more.",
    ),
    click.option(
        "--assignment",
        metavar="NAME",
        help="Grade only the katas of this assignment of the course; no other mark is touched.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**53 - 1),
        help="Seed of the random inputs. [default: from the gradebook's own secret]",
    ),
    timeout_option,
    click.option(
        "--perf/--no-perf",
        "perf",
        default=False,
        help="Also check speed and memory once everything else passes, one submission at a time.",
    ),
    device_option,
    click.option("--force", is_flag=True, help="Grade again even what has not changed."),
    gradebook_option,
    course_option,
    click.option("--scheduler", metavar="URL", help="Grade on a Dask cluster: tcp://host:8786."),
    click.option(
        "--require-isolation",
        type=click.Choice(LEVELS),
        help="Refuse to grade at a lower isolation level.",
    ),
)


@dataclass(frozen=True)
class KataChoice:
    """Which katas are graded under which rules, and the words of `--only` that may name learners."""

    course: Course
    catalogue: Catalogue
    katas: list[Kata]
    names: list[str]

    @property
    def slugs(self) -> list[str]:
        """The katas by their names."""
        return [kata.slug for kata in self.katas]


def find_wanted(options: GradingOptions) -> KataChoice:
    """Read the course, and split `--only` into katas and other words; where it names no kata, the course decides.

    Raises:
        UsageError: there is no such assignment, or `--only` names katas that are not in it.
    """
    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.resolve import resolve_assignment, slugs_meant

    catalogue = Catalogue.discover()
    course = Course.find(options.where, options.course_file, catalogue)
    named: dict[Kata, None] = {}
    names: list[str] = []
    for word in options.only:
        try:
            slugs = slugs_meant(course, word)
            named.update((kata, None) for kata in catalogue.katas if kata.slug in slugs)
        except UsageError:
            names.append(word)  # a learner, perhaps: who is there, is known when the folder has been read
    allowed = course.katas
    if options.assignment is not None:
        of = resolve_assignment(course, options.assignment)
        allowed = of.katas
        # A kata outside the assignment would be graded by the rules of another one.
        if outside := [kata.slug for kata in named if kata.slug not in allowed]:
            raise UsageError(
                f"--only: {', '.join(outside[:3])} is not in the assignment {of.name}.",
                f"It has {', '.join(allowed)}.",
            )
    katas = sorted(named, key=lambda kata: kata.key) or [
        kata for kata in catalogue.katas if allowed is None or kata.slug in allowed
    ]
    # A warning and not an error: a class can be graded without hidden checks, and after hours of grading it
    # would come too late.
    _warn_of_missing_answers(katas)
    return KataChoice(course, catalogue, katas, names)


def _warn_of_missing_answers(katas: Sequence[Kata]) -> None:
    from grader.instructor.submissions.names import listed

    bare = [kata.slug for kata in katas if kata.solution is None]
    if bare:
        note(f"warning: this install has no solutions and no hidden checks for {listed(bare, 3)}.")


def learner_wanted(word: str, known: Sequence[str], book: Gradebook) -> str:
    """Return who of these learners a word of `--only` means.

    Raises:
        UsageError: nobody is called that, or several are.
    """
    from grader.instructor.gradebook.resolve import learners_called

    found = learners_called(word, known, book)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"--only {word} could be {', '.join(found[:5])}.", "Type more of it.")
    raise UsageError(
        f"--only {word}: no unit, kata or learner is called that.{did_you_mean(word, list(known))}",
        "kata list shows the katas; learners are named after their folders.",
    )
