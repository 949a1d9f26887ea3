"""What travels between the process that keeps the gradebook and those that grade: plain data, in bytes."""

from __future__ import annotations

from typing import Literal

import msgspec

from grader.engine.wire import frames
from grader.instructor.submissions.submission import Bundle
from grader.report.report import Isolation, KataReport


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What all tasks of a run share; grading processes with the same set-up are interchangeable."""

    katas: dict[str, str]
    """Slug to digest of everything that its marks depend on: a grading process with another pack refuses."""
    timeout_s: float | None = None
    """For one check; the kata's own where None."""
    queue_s: float = 0.0
    """How long a task may wait until the device is free, and be timed on it, where speed counts or a GPU is shared."""
    device: str = "cpu"
    perf: bool = False
    """Whether speed and memory count."""
    require_isolation: Isolation | None = None


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """Grade one kata of one learner. It does not say whose."""

    kata: str
    seed: int
    hidden_seed: int | None = None
    """Of what learners do not see; None for the same."""
    bundle: Bundle | None = None
    status: Literal["found", "missing", "error"] = "found"
    message: str | None = None
    """Why there is nothing to grade, when there is not."""
    tries: int = 1
    """How often it was handed out: an executor may lose it."""
    control: bool = False
    """Grade the kata's reference in its place, if there is one: is this machine to blame, or what was handed in?"""


class NotGraded(msgspec.Struct, frozen=True, tag="refused"):
    """The grading process cannot grade this, and it is not the submission's fault."""

    message: str
    hint: str | None = None
    again: bool = False
    """Whether another grading process may do better: this one has run out of something, or lost what starts workers."""


class Stopped(msgspec.Struct, frozen=True, tag="stopped"):
    """What was handed in, or what it answered, kept every grading process from ending as the reference lets them."""

    message: str
    status: Literal["timeout", "error"] = "timeout"


Answer = KataReport | NotGraded | Stopped

setup_decoder = frames.Decoder(Setup)
task_decoder = frames.Decoder(Task)
# A report goes as it is, anything else in a list of one: msgspec tells a map from a list, and a report has no tag.
_answer_decoder: frames.Decoder[KataReport | tuple[NotGraded | Stopped]] = frames.Decoder(
    KataReport | tuple[NotGraded | Stopped]
)


def encode_answer(answer: Answer) -> bytes:
    """Return an answer to a task in bytes."""
    return frames.encode(answer if isinstance(answer, KataReport) else (answer,))


def decode_answer(data: bytes) -> Answer:
    """Return what `encode_answer` encoded.

    Raises:
        msgspec.DecodeError: it is none.
    """
    answer = _answer_decoder.decode(data)
    return answer if isinstance(answer, KataReport) else answer[0]
