"""What a class handed in: found in any layout, opened safely, read whole. No torch, and nothing is imported or run.

May import lms, learner and below; never gradebook or grading.
"""

from __future__ import annotations

from grader.instructor.submissions.find import LearnerFolder, Scan, find_learners
from grader.instructor.submissions.submission import Bundle, Submission

__all__ = ["Bundle", "LearnerFolder", "Scan", "Submission", "find_learners"]
