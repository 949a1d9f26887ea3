"""HTML pages from templates: whatever is put in is escaped; scripts and styles are named by their hashes."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.report.style import escape_controls


def environment(*folders: Path) -> Environment:
    """Return what makes pages of the templates in these folders."""
    return Environment(
        loader=FileSystemLoader(folders),
        # Markdown (.md) is escaped by filters: HTML's escapes would be read as text there.
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )


def _printable(value: object) -> object:
    return escape_controls(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def hash_of(source: str) -> str:
    """Return how a page's security policy names a script or a style that the page holds."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
