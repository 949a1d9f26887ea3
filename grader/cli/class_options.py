"""The options that every command about a class shares: which gradebook, which course."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

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
