"""Which of a learner's files are written answers, and to which kata. To us they are bytes."""

from __future__ import annotations

from collections.abc import Sequence

from grader.catalogue import Kata
from grader.catalogue.answer_sheet import LIMIT_BYTES, NAME, is_sheet, kata_named
from grader.data_files import UnreadableSubmission
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.listing import Listing
from grader.instructor.submissions.names import module_rank
from grader.instructor.submissions.submission import Bundle

MOST = 200
"""Sheets of one learner that are looked at."""


def sheets_in(
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
    for file in sorted(files, key=lambda one: (len(one.path), one.label))[:MOST]:
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
        kata.slug for kata in katas if any(module_rank(name, kata.module) is not None for name in neighbours)
    ]
    for some in (inside, near, [kata.slug for kata in katas]):
        if len(some) == 1:
            return some[0]
    return None
