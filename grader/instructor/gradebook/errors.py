"""What can go wrong with a gradebook, worded for the instructor."""

from __future__ import annotations

from grader.errors import KataError, UsageError


class GradebookError(KataError):
    """The gradebook cannot be used just now: locked, full, read-only, from another version, its server gone."""

    exit_code = 3


class SerializationError(ValueError):
    """Raised when a report cannot be stored as it is."""


class CorruptRecordError(ValueError):
    """Raised when a stored record is damaged; `translating` makes of it an error that names the backup."""


class GradebookUsageError(GradebookError, UsageError):
    """Raised when there is no such gradebook, database, address, learner, kata or adjustment."""

    exit_code = 2


class ConflictError(GradebookError):
    """Raised when somebody else changed the same mark since it was read; nothing was written."""
