"""What can go wrong with a gradebook, worded for the instructor."""

from __future__ import annotations

from grader.errors import KataError, UsageError


class GradebookError(KataError):
    """The gradebook cannot be used just now: locked, full, read-only, from another version, its server gone."""

    exit_code = 3


class Unkeepable(ValueError):
    """A report that would not be read again as it is."""


class UnreadableRecord(ValueError):
    """What the gradebook holds is not what was written; the message says why, as the end of a sentence."""


class GradebookUsageError(GradebookError, UsageError):
    """Something else was meant: no gradebook there, no database, an unknown address, learner, kata or adjustment."""

    exit_code = 2


class ChangedMeanwhile(GradebookError):
    """Somebody else decided about the same mark since it was looked at; nothing was written."""
