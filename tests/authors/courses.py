"""A course with one kata that has everything a kata can have: a copy of the folder `course`."""

from __future__ import annotations

from pathlib import Path

COURSE = Path(__file__).with_name("course")


def write_course(folder: Path) -> Path:
    """Write the pack and its solutions into a folder; `.txt` keeps them from being read as code of this project."""
    for path in COURSE.rglob("*.txt"):
        target = folder / path.relative_to(COURSE).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return folder
