"""What every command about a class shares: which gradebook, which course, what in it cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import note

if TYPE_CHECKING:
    from grader.gradebook.store import Gradebook

NAMED = 10
"""Marks that are named one by one; the others are counted."""

gradebook_option: Callable[[Any], Any] = click.option(
    "--gradebook",
    "where",
    metavar="URL",
    default="gradebook.sqlite",
    show_default=True,
    help="A file, or the address of a database: postgresql://…",
)
course_option: Callable[[Any], Any] = click.option(
    "--course",
    "course_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Course settings; course.toml beside the gradebook otherwise.",
)


def note_unreadable(book: Gradebook) -> None:
    """Name every mark whose report could not be read, and say how it is made again."""
    found = list(book.unreadable.items())
    for (learner, kata), why in found[:NAMED]:
        note(
            f"warning: {learner}, {kata}: the report cannot be read: {why}; what was booked beside it stands."
        )
    if len(found) > NAMED:
        note(f"warning: … and {len(found) - NAMED} more reports.")
    if found:
        note(
            "They are graded again by the next kata grade over the same submissions; the other marks are whole."
        )
