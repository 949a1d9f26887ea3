"""One learner's work, wherever the layout put it; files are opened only when submissions are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Literal

import msgspec

from grader.catalogue import Kata
from grader.catalogue.answer_sheet import LIMIT_BYTES, NAME, is_sheet, kata_named
from grader.data_files import UnreadableSubmission
from grader.errors import KataError
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.file_selection import (
    Missing,
    choose,
    could_match,
    matches_a_module,
    proposal,
)
from grader.instructor.submissions.git_time import GitTime
from grader.instructor.submissions.listing import Listing
from grader.instructor.submissions.names import module_rank
from grader.instructor.submissions.nbgrader import STAMP, read_time
from grader.instructor.submissions.safe_path import SafePath
from grader.instructor.submissions.submission import Bundle, HandedInSheet, Proposal, Submission
from grader.words import printable

MAX_SHEETS = 200
"""Written answers of one learner that are looked at."""


@dataclass(eq=False)
class LearnerFolder:
    """One learner and the places where their work lies; nothing is opened before `submissions`."""

    learner: str
    """As a download calls them; once all of a class are known, the identity in the gradebook: unique in its class,
    printable, one line, no slashes, at most 140 characters."""
    suffix: str = ""
    """What tells them from others of the same name."""
    rank: int = 0
    """How sure the name is; where two have one name, the surer keeps it: 0 is what a system vouches for."""
    ids: dict[str, str] = field(default_factory=dict)
    """What the layout tells beyond the identity, for exports: `canvas`, `moodle`, `blackboard`, `gradescope` (their
    own numbers and names), `name`, `email`, `sid`."""
    places: list[Entry] = field(default_factory=list)
    """The folders and files, as `Entry.handed_in` returns them."""
    earlier: list[Entry] = field(default_factory=list)
    """What does not count, being older, the newest first: somebody may decide that it is the answer."""
    notes: list[str] = field(default_factory=list)
    """What the instructor should know of this learner; every submission carries it too."""
    closed: list[str] = field(default_factory=list)
    """Sentences on what may be this learner's and is not looked into."""
    stamped: bool = False
    """The times of hand-ins lie among the files, as nbgrader has them; else each place has its own."""
    times: Mapping[str, tuple[datetime, str]] = field(default_factory=dict)
    """By kata's slug, or an empty name for all, when it was handed in, and who says so."""
    taken: Mapping[str, str] = field(default_factory=dict)
    """By kata's slug, the file that somebody said is the answer, whatever it is called."""
    assignments: Mapping[str, str] = field(default_factory=dict)
    """By kata's slug, the course's assignment: a folder of that name is the kata's."""
    best: frozenset[str] = frozenset()
    """Slugs of katas of which the best attempt counts: then earlier ones are handed in as well."""
    zone: tzinfo | None = None
    """Where times are meant that name no zone; None: by this machine's clock."""

    def submissions(self, katas: Sequence[Kata]) -> list[Submission]:
        """Return one submission for each of `katas`, in their order: found, missing or error. Never raises.

        What earlier attempts hold of katas of which the best counts comes before, the oldest first.
        """
        listing = self._listing()
        found = self._with_sheets(katas, [self._submission(kata, listing) for kata in katas], listing)
        # With a folder that this machine cannot read, nothing can be called missing.
        if not listing.denied:
            return [
                *self._earlier_attempts([kata for kata in katas if kata.slug in self.best], found),
                *found,
            ]
        return [
            submission if submission.bundle else msgspec.structs.replace(submission, denied=listing.denied[0])
            for submission in found
        ]

    def _earlier_attempts(self, katas: Sequence[Kata], newest: Sequence[Submission]) -> Iterator[Submission]:
        times = {at for place in self.earlier if (at := place.time[0]) is not None}
        # What is handed in again unchanged is one attempt.
        seen = {(found.kata, found.bundle.digest) for found in newest if found.bundle is not None}
        for at in sorted(times) if katas else ():
            places = [place for place in self.earlier if place.time[0] == at]
            attempt = replace(self, places=places, earlier=[], notes=[])
            for found in attempt.submissions(katas):
                if found.bundle is not None and (key := (found.kata, found.bundle.digest)) not in seen:
                    seen.add(key)
                    yield msgspec.structs.replace(found, answers=None)  # of written answers the newest count

    def _with_sheets(
        self, katas: Sequence[Kata], found: list[Submission], listing: Listing
    ) -> list[Submission]:
        sheets, notes = _sheets(katas, listing)
        whole = []
        for kata, submission in zip(katas, found, strict=True):
            remarks = tuple(printable(note) for note in notes.get(kata.slug, ())[:5])
            if kata.slug in sheets:
                file, bundle = sheets[kata.slug]
                at, source, _ = self._time(kata, file, listing)
                sheet = HandedInSheet(
                    bundle=bundle,
                    number=kata.number,
                    origin=printable(file.label),
                    submitted_at=at,
                    time_source=source,
                )
                submission = msgspec.structs.replace(submission, answers=sheet)
            whole.append(msgspec.structs.replace(submission, notes=(*submission.notes, *remarks)))
        return whole

    def has_any(self, katas: Sequence[Kata]) -> bool:
        """Whether a file may answer one of `katas`, if only by decision, or something there cannot be looked into."""
        listing = self._listing()
        modules = [kata.answer.stem for kata in katas]
        if listing.closed or any(matches_a_module(file.name, modules) for file in listing.files):
            return True
        return any(proposal(kata, listing) is not None for kata in katas)

    def modules(self, katas: Sequence[Kata]) -> set[str]:
        """Return which of the modules of `katas` a file is named like."""
        names = {file.name for file in self._listing().files}
        return {
            kata.answer.stem
            for kata in katas
            if any(matches_a_module(name, [kata.answer.stem]) for name in names)
        }

    def katas_present(self, katas: Sequence[Kata]) -> list[Kata]:
        """Return those of `katas` that a file there may be meant for, or that there are written answers to."""
        listing = self._listing()
        names = {file.name for file in (*listing.files, *listing.spare)}
        sheets, _ = _sheets(katas, listing)
        return [
            kata for kata in katas if kata.slug in sheets or any(could_match(name, kata) for name in names)
        ]

    def paths(self) -> list[str]:
        """Return where the files lie that somebody may decide to take, also those that do not count."""
        listing = self._listing()
        return ["/".join(file.path) for file in (*listing.files, *listing.spare)]

    def unopened(self) -> list[str]:
        """Return sentences on what is there and could not be opened."""
        return [printable(text) for text in self._listing().closed]

    def file_names(self) -> list[str]:
        """Return the names of the files there."""
        return [file.name for file in self._listing().files]

    def _listing(self) -> Listing:
        # Made anew each time and not cached: an archive stays open as long as its listing, and a class has more of
        # them than a process may have open files.
        listing = Listing(closed=list(self.closed))
        space = listing.new_space()  # files that a system laid flat belong together again
        for place in self.places:
            known, copies = len(listing.files), len(listing.spare)
            try:
                listing.add(place, space)
            except KataError:
                raise  # the machine's fault, not the learner's
            except PermissionError:
                listing.add_denied(place.label)
            except Exception as error:
                listing.closed.append(f"{place.label} cannot be opened ({type(error).__name__})")
            listing.places.update(dict.fromkeys((*listing.files[known:], *listing.spare[copies:]), place))
            if self.stamped:
                # It goes with nobody's answer, which would be another with every new time.
                listing.of_system.update(file for file in listing.files[known:] if _is_stamp(file, place))
        spaces: dict[datetime | None, int] = {}
        for place in self.earlier:
            known = len(listing.spare)
            # By time: files of one attempt belong together, and to no other.
            attempt = spaces.setdefault(place.time[0], listing.new_space())
            # What is missing there is no learner's loss: nothing of it counts by itself.
            with suppress(UnreadableSubmission, OSError):
                listing.add_spare(place, attempt)
            listing.places.update(dict.fromkeys(listing.spare[known:], place))
        return listing

    def _submission(self, kata: Kata, listing: Listing) -> Submission:
        begun = Submission(learner=self.learner, kata=kata.slug, taken=self.taken.get(kata.slug))
        # A stamped folder has the times among its files; elsewhere a place has one for all.
        when = partial(self._handed_in, listing) if self.stamped else None
        try:
            file, found = choose(kata, listing, begun, self.assignments.get(kata.slug, ""), when)
        except Missing as missing:
            if not listing.closed:
                return self._without(kata, "missing", str(missing), missing.proposal)
            return self._without(
                kata, "error", f"{missing}; {'; '.join(listing.closed[:3])}", missing.proposal
            )
        except UnreadableSubmission as refused:
            return self._without(kata, "error", str(refused))
        except Exception as error:
            # One learner's files never end a class's grading; what it was is named in the log.
            return self._without(
                kata, "error", f"{kata.answer.stem} cannot be read ({type(error).__name__})."
            )
        at, source, doubt = self._time(kata, file, listing)
        notes = dict.fromkeys((*self.notes, *found.notes, *listing.closed[:5], *([doubt] if doubt else ())))
        return msgspec.structs.replace(
            found, submitted_at=at, time_source=source, notes=tuple(printable(note) for note in notes)
        )

    def _without(
        self,
        kata: Kata,
        status: Literal["missing", "error"],
        message: str,
        proposal: Proposal | None = None,
    ) -> Submission:
        sentence = printable(message if message.endswith(("?", ".")) else f"{message}.")
        return Submission(
            learner=self.learner,
            kata=kata.slug,
            status=status,
            message=f"T{sentence[1:]}" if sentence.startswith("there is no") else sentence,
            proposal=proposal,
            notes=tuple(printable(note) for note in self.notes),
        )

    def _time(self, kata: Kata, file: Entry, listing: Listing) -> tuple[datetime | None, str | None, str]:
        """Return when a file was handed in, who says so, and a doubt: the instructor, the system, then git."""
        given = self.times.get(kata.slug) or self.times.get("")
        if given is not None:
            return *given, ""
        stamp, source = listing.places[file].time
        at = self._handed_in(listing, file)
        if at is not None:
            return at, source or "nbgrader", ""
        # Last, since a commit's time is whatever the learner's clock was set to.
        found = self._in_git(listing, file).get(self.assignments.get(kata.slug, ""))
        return found or (None, source if stamp is None else None, "")

    def _handed_in(self, listing: Listing, file: Entry) -> datetime | None:
        """Return when the system says that a file was handed in."""
        at = _stamped_at(file, listing) if self.stamped else listing.places[file].time[0]
        if at is None or at.tzinfo is not None:
            return at
        try:
            return at.astimezone() if self.zone is None else at.replace(tzinfo=self.zone).astimezone(UTC)
        except (OverflowError, OSError):  # a year that no clock has
            return None

    def _in_git(self, listing: Listing, file: Entry) -> Mapping[str, GitTime]:
        """Return what the repository around a file says by assignment, if it lies in one that is the learner's."""
        place = listing.places[file]
        root = place.spot
        if root is None or not place.is_folder or file.spot is None:
            return {}
        # From the file outwards, and not beyond what is the learner's: the instructor's own repository may
        # be around it.
        for depth in range(len(file.spot.names) - 1, len(root.names) - 1, -1):
            folder = SafePath(root.root, file.spot.names[:depth])
            if found := listing.repositories.times(folder, {"", *self.assignments.values()}):
                return found
        return {}


def _sheets(
    katas: Sequence[Kata], listing: Listing
) -> tuple[dict[str, tuple[Entry, Bundle]], dict[str, list[str]]]:
    try:
        return _sheets_in(katas, listing)
    except KataError:
        raise
    except Exception as error:  # as with code: one learner's files never end a class's grading
        why = f"written answers cannot be read ({type(error).__name__})"
        return {}, {kata.slug: [why] for kata in katas[:1]}


def _sheets_in(
    katas: Sequence[Kata], listing: Listing
) -> tuple[dict[str, tuple[Entry, Bundle]], dict[str, list[str]]]:
    """Return the sheet of each kata that has one, by slug, and what to know of the others.

    A sheet belongs to the kata that it names; else to the kata whose folder it lies in, or whose module is next to it;
    else to the only kata there is. Of several that differ the one nearest the top counts, and the others are told.
    """
    found: dict[str, tuple[Entry, Bundle]] = {}
    notes: dict[str, list[str]] = {}
    everybody = katas[0].slug if katas else ""
    files = [file for file in listing.files if is_sheet(file.name)]
    # The nearest to the top first, and by name where two are equally near: the same one on every machine.
    for file in sorted(files, key=lambda file: (len(file.path), file.label))[:MAX_SHEETS]:
        try:
            data = listing.read(file, LIMIT_BYTES)
        except UnreadableSubmission as refused:
            guess = _kata_around(katas, listing, file)
            notes.setdefault(guess or everybody, []).append(f"written answers: {file.label} {refused}")
            continue
        named = kata_named(data)
        if named is not None and all(kata.slug != named for kata in katas):
            continue  # of a kata that is not graded now
        # What the sheet says goes before where it lies: learners move files about.
        slug = named or _kata_around(katas, listing, file)
        if slug is None:
            note = f"written answers: {file.label} does not say which kata it answers, and was left out"
            notes.setdefault(everybody, []).append(note)
        elif slug not in found:
            found[slug] = file, Bundle(NAME, {NAME: data})
        elif found[slug][1].files[NAME] != data:
            note = f"written answers: {file.label} was left out: {found[slug][0].label} has other answers"
            notes.setdefault(slug, []).append(note)
    return found, notes


def _kata_around(katas: Sequence[Kata], listing: Listing, file: Entry) -> str | None:
    folders = set(file.folder)
    inside = [kata.slug for kata in katas if kata.slug in folders]
    neighbours = {
        other.name for other in listing.files if (other.space, other.folder) == (file.space, file.folder)
    }
    near = [
        kata.slug
        for kata in katas
        if any(module_rank(name, kata.answer.stem) is not None for name in neighbours)
    ]
    for some in (inside, near, [kata.slug for kata in katas]):
        if len(some) == 1:
            return some[0]
    return None


def _stamped_at(file: Entry, listing: Listing) -> datetime | None:
    """Return when a file was handed in, as the `timestamp.txt` that nbgrader keeps has it."""
    place = listing.places[file]
    assignment = file.label.removeprefix(f"{place.label}/").split("/")[0]
    for other in listing.files:
        if _is_stamp(other, place) and other.path[0] == assignment:
            try:
                return read_time(listing.read(other, 4096).decode("utf-8", "replace"))
            except UnreadableSubmission:
                return None
    return None


def _is_stamp(file: Entry, place: Entry) -> bool:
    """Whether a file is the system's `timestamp.txt`: it lies in the assignment's folder, in no archive, no deeper."""
    assignment = file.path[0]
    return file.path == (assignment, STAMP) and file.label == f"{place.label}/{assignment}/{STAMP}"
