"""Feedback as a learning-management system takes it back: one archive, each page under the name that it made itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.files import write_zip
from grader.pages.write import INDEX
from grader.submissions.entry import ARROW

# Canvas: `lovelaceada_LATE_1234_5678_masks.py`. It leads a file of the same beginning back to the submission
# (Grades, or SpeedGrader: "Upload submissions"): name, the user's number, the attachment's.
_CANVAS = re.compile(r"(?P<mark>[^_].*?(?:_LATE)?_[1-9][0-9]*_[1-9][0-9]*_).+")
# Moodle: `Ada Lovelace_12345_assignsubmission_file_/masks.py`; "Upload multiple feedback files in a zip" takes the same
# folders, or files that begin so (docs.moodle.org, "Assignment activity").
_MOODLE = re.compile(r"(?P<mark>.+?_[0-9]+_assignsubmission_)[a-z]+_(?P<original>.*)", re.DOTALL)


def _name(place: str) -> str | None:
    """Return what a page is called beside a file that lay there; None where no system named it.

    The leftmost name is the system's; a learner chose what comes after it.
    """
    parts = place.split("/")
    for number, part in enumerate(parts, 1):
        if found := _MOODLE.fullmatch(part):
            folder = "" if found["original"] else "/"
            return f"{found['mark']}file_{folder}feedback.html"
        if number == len(parts) and (found := _CANVAS.fullmatch(part)):
            return f"{found['mark']}feedback.html"
    return None


def names_for(origins: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return, by learner, what a feedback page is called in the archive, where a system named a file of theirs.

    Args:
        origins: by learner, where their files lay: `week1.zip › lovelaceada_1234_5678_masks.py`.
    """
    outermost = Counter(
        one for places in origins.values() for one in {place.split(ARROW)[0] for place in places}
    )
    names: dict[str, str] = {}
    for learner, places in origins.items():
        for place in places:
            first, *inner = place.split(ARROW)
            name = _name(first)
            if inner and outermost[first] > 1:  # an archive with the work of several is the download
                name = _name(inner[0])
            elif inner and (within := _name(inner[0])) is not None:
                # Of one learner alone: either the download, or their own archive, in which they named what they liked.
                name = within if name is None else None
            if name is not None:
                names[learner] = name
                break
    return names


def zipped(folder: Path, origins: Mapping[str, Iterable[str]], target: Path) -> list[str]:
    """Write the feedback of a report into an archive; return whose page no system's name was known for.

    Args:
        folder: of the report.
        origins: by learner, where files of theirs lay.
        target: the archive; an earlier one is replaced once this is whole.
    """
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    names = names_for(origins)
    twice = {name for name, count in Counter(names.values()).items() if count > 1}
    pages: dict[str, bytes | Path] = {}
    nameless = []
    for entry in index:
        page = folder / entry["feedback"]
        name = names.get(entry["learner"])
        if name is None or name in twice:  # two of one name would leave one of them out
            nameless.append(entry["learner"])
            name = page.name
        pages[name] = page
    write_zip(target, pages)
    return nameless
