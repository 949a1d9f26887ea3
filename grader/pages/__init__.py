"""Self-contained HTML: the class report, the feedback for each learner. No server, no network, no torch."""

from __future__ import annotations

from grader.pages.lessons import Lessons
from grader.pages.view import Spoken
from grader.pages.write import Part, Written, write_report

__all__ = ["Lessons", "Part", "Spoken", "Written", "write_report"]
