"""What people decide, as data: one small struct for each kind, all with who decided it, when, and why.

An event is never changed or removed. Taken back, it says who did so, and counts nowhere. Everything that is known of
decisions is read off these: match on their types.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from grader.instructor.gradebook.errors import GradebookUsageError
from grader.words import counted

Attempts: TypeAlias = Mapping[Any, int | None]
"""By the gradebook's own number of an attempt, the how-manyth of its learner at its kata: what people see."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Who did something, when, and why."""

    author: str
    comment: str
    """The reason; of a remark, a dispute or an answer what is said."""
    at: datetime = msgspec.field(default_factory=lambda: datetime.now(UTC))


class Sort(NamedTuple):
    """What people call a decision, and what is said where it cannot be taken back."""

    name: str
    """Under which JSON has its number."""
    undo: str
    """The action of the desk that takes it back."""
    missing: str
    again: str
    hint: str


DECISION = Sort(
    "decision",
    "undo",
    "There is no decision {}.",
    "Decision {} was already taken back.",
    "See: kata gradebook history LEARNER, kata gradebook rulings",
)
CHANGE = Sort(
    "adjustment",
    "revoke",
    "There is no adjustment {}.",
    "Adjustment {} was already revoked.",
    "See: kata gradebook history LEARNER KATA",
)
ANSWER_MARK = Sort(
    "answer_mark",
    "unmark_answer",
    "There is no mark {} of a written answer.",
    "Mark {} was already taken back.",
    "See: kata gradebook answers LEARNER ID",
)
RULING = Sort(
    "ruling",
    "withdraw",
    "There is no ruling {}.",
    "Ruling {} was already withdrawn.",
    "See what was decided: kata gradebook rulings",
)


class Decision(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What a person decided: what all kinds have."""

    sort: ClassVar[Sort] = RULING
    made: Provenance
    learner: str | None = None
    """None where it holds for the whole class."""
    kata: str | None = None
    id: int = 0
    """What `Gradebook.undo` takes, once it is written."""
    undone: Provenance | None = None

    @property
    def kind(self) -> str:
        """What it is called in tables and JSON."""
        return kind_of(type(self))

    @property
    def revoked(self) -> bool:
        """Whether it was taken back."""
        return self.undone is not None

    @property
    def value(self) -> Any:
        """What it says besides, as the gradebook keeps it: nothing, one value, or several by name."""
        own = {name: getattr(self, name) for name in own_fields(type(self))}
        whole = {name: value for name, value in own.items() if value is not UNSET}
        return whole if len(own) > 1 else next(iter(own.values()), None)

    def check(self) -> None:
        """Refuse what no mark can be made of, and what has no reason.

        Raises:
            GradebookUsageError: the points are not a number, or a mark below 0, or nothing says why.
        """
        if not self.made.comment.strip():
            raise GradebookUsageError("Nothing is decided without a reason.", "Give one: --comment TEXT")


class PointsChange(Decision, frozen=True, kw_only=True):
    """A person's word on a mark."""

    sort: ClassVar[Sort] = CHANGE
    points: float

    @property
    def sign(self) -> str:
        """What stands before its points."""
        return "+" if self.points >= 0 else ""

    def check(self) -> None:
        """Refuse points that are not a number as well, as `Decision.check` says."""
        if not math.isfinite(self.points):
            raise GradebookUsageError(f"Points must be a number, not {self.points}.")
        if not self.made.comment.strip():
            raise GradebookUsageError("A mark is not changed without a reason.", "Give one: --comment TEXT")


class Adjust(PointsChange, frozen=True, kw_only=True, tag="adjust"):
    """Points are added, or taken where they are below 0."""


class Override(PointsChange, frozen=True, kw_only=True, tag="override"):
    """A mark replaces whatever was graded, is late, or was adjusted before."""

    @property
    def sign(self) -> str:
        """What stands before its points."""
        return "= "

    def check(self) -> None:
        """Refuse a mark below 0, too, as `PointsChange.check` says."""
        if self.points < 0:
            raise GradebookUsageError(f"A mark cannot be {self.points:g}; it is 0 or more.")
        PointsChange.check(self)


class AnswerMark(Decision, frozen=True, kw_only=True, tag="answer_mark"):
    """What a person gave for one written answer."""

    sort: ClassVar[Sort] = ANSWER_MARK
    question: int
    """From 1 on, as the rubric and the sheet number them."""
    answer: str
    """Digest of the answer that was marked; empty where there was none."""
    criteria: tuple[int, ...]
    """Which of the rubric's criteria were met, from 1 on."""
    points: float
    max_points: float

    def check(self) -> None:
        """Refuse points out of bounds; a mark of an answer speaks for itself, and needs no reason.

        Raises:
            GradebookUsageError: they are not a number from 0 to the most that there are.
        """
        if not math.isfinite(self.points) or not 0 <= self.points <= self.max_points:
            raise GradebookUsageError(
                f"Points must be a number from 0 to {self.max_points:g}, not {self.points:g}."
            )


class Choose(Decision, frozen=True, kw_only=True, tag="choose"):
    """A hand-in counts, whatever came in besides."""

    hand_in: int


class Extend(Decision, frozen=True, kw_only=True, tag="extend"):
    """More time for an assignment or a kata; for everything where the name is empty, as commands print it."""

    of: str
    days: Annotated[float, Meta(gt=0, le=3650)]


class Take(Decision, frozen=True, kw_only=True, tag="take"):
    """A file is the answer, whatever it is called."""

    file: str
    """Its name, or its path among the learner's."""


class Alias(Decision, frozen=True, kw_only=True, tag="alias"):
    """Another name of the learner."""

    name: str


class Release(Decision, frozen=True, kw_only=True, tag="release"):
    """Learners may read what people gave for answers and wrote about code."""

    of: str
    """An assignment or a kata; empty for everything."""
    katas: list[str] | UnsetType = UNSET
    points: dict[str, list[float]] | UnsetType = UNSET
    """By kata what each question was worth then, where written answers count."""

    def covers(self, kata: str) -> bool:
        """Whether it is about a kata."""
        return kata in (self.points or () if self.katas is UNSET else self.katas)

    def worth(self, kata: str) -> list[float] | None:
        """Return what a kata's questions are worth; None where its written answers do not count."""
        return (self.points or {}).get(kata)


class Remark(Decision, frozen=True, kw_only=True, tag="remark"):
    """Something is said about a line of an attempt."""

    attempt: int
    file: str
    line: int


class Dispute(Decision, frozen=True, kw_only=True, tag="dispute"):
    """A learner disputes a mark."""


class Answered(Decision, frozen=True, kw_only=True, tag="answer"):
    """A dispute is answered."""

    dispute: int


class Close(Decision, frozen=True, kw_only=True, tag="close"):
    """A dispute is closed."""

    dispute: int


class Assign(Decision, frozen=True, kw_only=True, tag="assign"):
    """Somebody is to mark a hand-in."""

    marker: str


class Reviewed(Decision, frozen=True, kw_only=True, tag="reviewed"):
    """Somebody looked at an attempt."""

    attempt: int


class Ignore(Decision, frozen=True, kw_only=True, tag="ignore"):
    """Nothing is done about a problem."""

    problem: str


class Alike(Decision, frozen=True, kw_only=True, tag="alike"):
    """What somebody found out about hand-ins of two learners that are alike."""

    other: str


class CourseCriterion(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion that a course adds to a question, or one with other words or points."""

    kata: str
    question: int
    number: int | None
    """Which of the question's it takes the place of; None for a further one."""
    met: str
    points: float
    """Below 0 it takes points away."""


class SetCriterion(Decision, frozen=True, kw_only=True, tag="criterion"):
    """A question's rubric changes for this course."""

    criterion: CourseCriterion


class Together(Decision, frozen=True, kw_only=True, tag="together"):
    """Decisions that were made as one, by their numbers."""

    parts: list[int]


Event: TypeAlias = (
    Adjust
    | Override
    | AnswerMark
    | Choose
    | Extend
    | Take
    | Alias
    | Release
    | Remark
    | Dispute
    | Answered
    | Close
    | Assign
    | Reviewed
    | Ignore
    | Alike
    | SetCriterion
    | Together
)
AnyDecision = TypeVar("AnyDecision", bound=Decision)


def kind_of(event: type[Decision]) -> str:
    """Return what a kind of decision is called in tables and JSON."""
    return str(event.__struct_config__.tag)


TYPES: dict[str, type[Decision]] = {kind_of(one): one for one in get_args(Event)}
"""By what each is called."""
_OWN = {
    one: tuple(name for name in one.__struct_fields__ if name not in Decision.__struct_fields__)
    for one in TYPES.values()
}


def own_fields(event: type[Decision]) -> tuple[str, ...]:
    """Return the names of what a kind of decision says besides who, when, why and about whom."""
    return _OWN[event]


def words(event: Decision, attempts: Attempts) -> str:
    """Return what a decision says, in a few words."""
    match event:
        case PointsChange():
            return f"{event.sign}{event.points:g}"
        case AnswerMark():
            return f"question {event.question}: {event.points:g} of {event.max_points:g}"
        case Choose():
            return "this hand-in counts"
        case Extend():
            return f"{counted(event.days, 'more day')} for {event.of or 'everything'}"
        case Take():
            return f"{event.file} is the answer"
        case Alias():
            return f"also called {event.name}"
        # By the number that people see; the remark has the gradebook's own.
        case Remark():
            return f"on {event.file}, line {event.line}, of attempt {attempts.get(event.attempt)}"
        case Dispute():
            return "disputed"
        case Answered():
            return f"answer to dispute {event.dispute}"
        case Close():
            return f"dispute {event.dispute} closed"
        case Assign():
            return f"to be marked by {event.marker}"
        case Reviewed():
            return "reviewed"
        case Ignore():
            return f"ignored {event.problem}"
        case Alike():
            return f"alike with {event.other}"
        case SetCriterion():
            return f"criterion of {event.criterion.kata}, question {event.criterion.question}"
        case Together():
            return f"{counted(len(event.parts), 'hand-in')} at once"
        case Release():
            return f"marks and remarks of {event.of or 'everything'} are released"
    return f"ruling {event.id}"


def standing(every: Iterable[AnyDecision]) -> list[AnyDecision]:
    """Return the decisions that were not taken back."""
    return [one for one in every if not one.revoked]
