"""What hand-ins share beyond what everybody was given: read as data, compared, ranked by how rare it is.

May import submissions and lms; never gradebook, grading or html.
"""

from __future__ import annotations

from grader.instructor.similarity.compare import DEFAULTS, Settings, compare
from grader.instructor.similarity.findings import Findings
from grader.instructor.similarity.tokenized_submission import Candidate

__all__ = ["DEFAULTS", "Candidate", "Findings", "Settings", "compare"]
