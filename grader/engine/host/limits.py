"""What a submission is granted, and what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.catalogue.pack_code import FREE, Attributes


@dataclass(frozen=True)
class Terms:
    """What a submission of one kata gets: time, memory, what is given, what is forbidden."""

    module: str
    required: tuple[str, ...]
    check_timeout_s: float = 10.0
    submission_timeout_s: float = 60.0
    memory_bytes: int | None = 2 << 30
    gpu_bytes: int | None = None
    given: Path | None = None
    """The folder of what the submission may import."""
    support: Path | None = None
    """The folder of what supports the checks in the worker."""
    forbid: tuple[str, ...] = ()
    """Families of torch's names, and dotted names."""
    within: tuple[str, ...] = ()
    """The required names that may not use what is forbidden; all of them when there are none."""
    blocks: bool = False
    """Whether `torch.ops` is for given blocks alone."""
    advice: str = ""
    """What to write instead of what is forbidden."""
    read: tuple[Path, ...] = ()
    preload: tuple[str, ...] = ()
    """Modules that are imported before the submission is."""
    attributes: Attributes = FREE
    """The names of parts of its classes that the learner did not choose."""
