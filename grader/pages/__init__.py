"""Self-contained HTML: the class report, the feedback for each learner. No server, no network, no torch."""

from __future__ import annotations

from grader.pages.view import Lessons, Viewer
from grader.pages.write import Part, Written, write_report

__all__ = ["Lessons", "Part", "Viewer", "Written", "write_report"]
