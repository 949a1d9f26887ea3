"""The data files of a pack, as types. msgspec turns a breach into a path and a reason."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

Number = Annotated[str, Meta(pattern=r"^\d+(\.\d+)*$", description="a dotted number, e.g. 9.3.2")]
Slug = Annotated[
    str, Meta(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", description="lower-case words joined by hyphens")
]
Identifier = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="a Python name")]
ModuleName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$", description="a module's name, with dots where it has them"
    ),
]
ForbiddenName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z]+$|^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$",
        description="a family of torch's names, such as attention, or a dotted Python name",
    ),
]
FileName = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", description="a file name without folders")
]
Sentence = Annotated[str, Meta(min_length=1, max_length=400)]
Points = Annotated[float, Meta(ge=0, le=1000)]
Seconds = Annotated[float, Meta(gt=0, le=3600)]


class Policy(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What "from scratch" excludes, and what to write instead."""

    forbid: Annotated[tuple[ForbiddenName, ...], Meta(max_length=500)] = ()
    """A family is one of `torch_names.toml`; a dotted name of torch stands for its operator under every name."""
    within: tuple[Identifier, ...] = ()
    """The required names that may not use it, when the others may."""
    say: Sentence = "Write it from basic tensor operations."


class Limits(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What one submission may spend on this kata."""

    check_timeout_s: Seconds = 10.0
    submission_timeout_s: Seconds = 60.0
    memory_mb: Annotated[int, Meta(ge=64, le=1_000_000)] = 2048
    gpu_memory_mb: Annotated[int, Meta(ge=64, le=1_000_000)] = 16_384


Positive = Annotated[float, Meta(gt=0, le=1_000_000)]


class Threshold(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One threshold of speed or memory: `[speed.NAME]`; its unit is that of the form that the check asks for."""

    points: Points
    cpu: Positive | None = None
    """On a CPU; where absent it is not graded there."""
    cuda: Positive | None = None
    """On a GPU, or any other accelerator."""
    anchor: Positive = 4.0
    """Where growth counts: how many times the baseline the smallest size may take."""
    wasted: Sentence
    """What answers usually waste, said to who is over it."""

    def on(self, kind: str) -> float | None:
        """Return the threshold on a kind of device: that of a GPU is proposed for every accelerator."""
        return self.cpu if kind == "cpu" else self.cuda


class MeasuredThreshold(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What was measured for one threshold, as people read it; `threshold` is the number that it was measured for."""

    form: str
    threshold: Positive
    slowest_right: str
    tau: str
    fastest_slow: str
    proposed: str
    room: str
    verdict: str

    @property
    def holds(self) -> bool:
        """Whether right answers and slow ones lie on their sides of it, with room."""
        return self.verdict == "holds"


class MeasuredOn(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The thresholds of a kata on one kind of device, and what the figures depend on."""

    machine: str
    versions: dict[str, str]
    rounds: int
    room: float
    thresholds: dict[Identifier, MeasuredThreshold]


Kind = Annotated[
    str, Meta(pattern=r"^[a-z][a-z0-9]*$", description="a kind of device that computes, e.g. cpu")
]


class CalibrationFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`calibration.json`, which `kata pack calibrate --write` writes: thresholds count where they were measured."""

    measured: dict[Kind, MeasuredOn] = {}


Difficulty = Literal["easy", "medium", "hard"]


class Stage(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One of the `[[stages]]` of a long kata: with the checks of its parts it is a result by itself."""

    title: Sentence
    parts: Annotated[tuple[Identifier, ...], Meta(min_length=1)]
    """Names of `required`; each of those belongs to one stage."""


class KataFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`kata.toml`."""

    number: Number
    title: Sentence
    summary: Sentence
    module: Identifier
    required: Annotated[tuple[Identifier, ...], Meta(min_length=1)]
    own_points: Points | None = field(default=None, name="points")
    """Where it is left out, as `hidden_points`: 1 for each check, or what the check says."""
    own_hidden_points: Points | None = field(default=None, name="hidden_points")
    speed_points: Points = 0.0
    """What all thresholds of `speed` are worth together."""
    minutes: Annotated[int, Meta(ge=1, le=6000)] | None = None
    """How long a learner who meets the subject for the first time takes, reading included."""
    difficulty: Difficulty | None = None
    own_slug: Slug | None = field(default=None, name="slug")
    stages: tuple[Stage, ...] = ()
    after: tuple[Slug, ...] = ()
    given_names: tuple[FileName, ...] = field(default=(), name="given")
    """Files that learners get next to the stub, e.g. blocks.py."""
    support_names: tuple[FileName, ...] = field(default=(), name="support")
    """Modules that checks use in the worker, e.g. a model that records how it is called. Learners do not get them."""
    preload: tuple[ModuleName, ...] = ()
    """Modules that take long to import, which a worker has imported before its time starts."""
    policy: Policy = Policy()
    forms: dict[Identifier, Annotated[dict[Identifier, Sentence], Meta(min_length=2)]] = {}
    """By convention, the forms that checks know, with a sentence on each; the first holds unless another is chosen."""
    conventions: dict[Identifier, Identifier] = {}
    """By convention, the form that holds here."""
    limits: Limits = Limits()
    speed: Annotated[dict[Identifier, Threshold], Meta(max_length=50)] = {}


class UnitFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`unit.toml`."""

    number: Number
    title: Sentence
    summary: Sentence
    outcome: Sentence | None = None
    """What a learner has at its end, said when it begins and when it is complete."""


class PackFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`pack.toml`."""

    name: Slug
    title: Sentence
    begin: Annotated[str, Meta(description="the number or the slug of a kata or unit")] | None = None
    """Where a newcomer begins; the first unit unless it says so."""
    version: Annotated[str, Meta(pattern=r"^\d+\.\d+(\.\d+)?$", description="e.g. 1.0")]
