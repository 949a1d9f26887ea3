"""Feedback as a learning-management system takes it back: one archive, each page under the name that it made itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.files import write_zip
from grader.instructor.html.write import INDEX
from grader.instructor.lms import SYSTEMS
from grader.instructor.submissions.entry import ARROW


def _name(place: str) -> str | None:
    """Return what a page is called next to a file that lay there; None where no system named it.

    The leftmost name is the system's; a learner chose what comes after it.
    """
    parts = place.split("/")
    for number, part in enumerate(parts, 1):
        for system in SYSTEMS:
            if (name := system.feedback(part, last=number == len(parts))) is not None:
                return name
    return None


def names_for(origins: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return, by learner, what a feedback page is called in the archive, where a system named a file of theirs.

    Args:
        origins: by learner, where their files lay: `week1.zip › lovelaceada_1234_5678_masks.py`.
    """
    outermost = Counter(
        folder for places in origins.values() for folder in {place.split(ARROW)[0] for place in places}
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
