"""Self-contained HTML: the class report, the feedback for each learner. No server, no network, no torch.

May import gradebook, lms and submissions; never grading or cli.
"""

from __future__ import annotations

from grader.instructor.html.viewer import KataTexts, Viewer
from grader.instructor.html.write import Part, Written, write_report

__all__ = ["KataTexts", "Part", "Viewer", "Written", "write_report"]
