"""Feedback as a learning-management system takes it back: one archive, each page under the name that it made itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from grader.files import write_zip
from grader.pages.write import INDEX

# Canvas: `lovelaceada_LATE_1234_5678_masks.py`. It leads a file of the same beginning back to the submission
# (Grades, or SpeedGrader: "Upload submissions"): name, the user's number, the attachment's.
_CANVAS = re.compile(r"(?P<mark>[^/_].*?(?:_LATE)?_[1-9][0-9]*_[1-9][0-9]*_)[^/]+")
# Moodle: `Ada Lovelace_12345_assignsubmission_file_/masks.py`; "Upload multiple feedback files in a zip" takes the same
# folders, or files that begin so (docs.moodle.org, "Assignment activity").
_MOODLE = re.compile(r"(?P<mark>.+?_[0-9]+_assignsubmission_[a-z]+_)(?P<folder>/)?.*", re.DOTALL)


def name_for(learner: str, origin: str | None, stem: str) -> str:
    """Return what a feedback page is called in the archive.

    Args:
        learner: whose it is.
        origin: where a file of theirs lay in the download.
        stem: the page's own name, for whom no system named a file.
    """
    place = (origin or "").split(" › ")[-1]
    if found := _MOODLE.fullmatch(place):
        mark = found["mark"].replace("_assignsubmission_onlinetext_", "_assignsubmission_file_")
        return f"{mark}/feedback.html" if found["folder"] else f"{mark}feedback.html"
    if found := _CANVAS.fullmatch(place):
        return f"{found['mark']}feedback.html"
    return f"{stem}.html"


def zipped(folder: Path, origins: Mapping[str, str], target: Path) -> list[str]:
    """Write the feedback of a report into an archive; return whose page no system's name was known for.

    Args:
        folder: of the report.
        origins: by learner, where a file of theirs lay.
        target: the archive; an earlier one is replaced once this is whole.
    """
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    pages: dict[str, bytes | Path] = {}
    nameless = []
    for entry in index:
        page = folder / entry["feedback"]
        name = name_for(entry["learner"], origins.get(entry["learner"]), page.stem)
        pages[name] = page
        if name == page.name:
            nameless.append(entry["learner"])
    write_zip(target, pages)
    return nameless
