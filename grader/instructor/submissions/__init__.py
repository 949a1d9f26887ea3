"""What a class handed in: opened safely, read whole. No torch, and nothing is imported or run.

May import learner and below; never lms, gradebook or grading.
"""

from __future__ import annotations

from grader.instructor.submissions.learner import LearnerFolder
from grader.instructor.submissions.submission import Bundle, Submission

__all__ = ["Bundle", "LearnerFolder", "Submission"]
