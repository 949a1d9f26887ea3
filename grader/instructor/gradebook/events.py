"""What people decide: one struct for each kind, its row, and what follows of all of them for each mark. None goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import ColumnElement, Connection, select

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.errors import CorruptRecordError, GradebookUsageError
from grader.instructor.gradebook.schema import insert, sanitize
from grader.report.json_text import encode
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


class Team(Decision, frozen=True, kw_only=True, tag="team"):
    """What one of several learners hands in counts for all of them."""

    of: str
    """An assignment or a kata; empty for everything."""
    name: str
    members: list[str]
    """Identities."""


class Left(Decision, frozen=True, kw_only=True, tag="left"):
    """The learner is not in the course any more: in no table of the class, no export, no report."""


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
    | Left
    | Team
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


TYPES: dict[str, type[Decision]] = {kind_of(kind): kind for kind in get_args(Event)}
"""By what each is called."""
_OWN = {
    kind: tuple(name for name in kind.__struct_fields__ if name not in Decision.__struct_fields__)
    for kind in TYPES.values()
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
        case Team():
            return (
                f"{event.name} hands in together for {event.of or 'everything'}: {', '.join(event.members)}"
            )
        case Left():
            return "has left the course"
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
    return [event for event in every if not event.revoked]


def of(*types: type[Decision]) -> ColumnElement[bool]:
    """Return, in SQL's words, that a decision is of one of these kinds."""
    return schema.decisions.c.kind.in_([kind_of(kind) for kind in types])


def write(
    connection: Connection, event: Decision, learner: int | None = None, kata: int | None = None
) -> int:
    """Write a decision about a learner's and a kata's row, or about all; return its number.

    Raises:
        GradebookUsageError: no mark can be made of it, or nothing says why.
    """
    event.check()
    return insert(
        connection,
        schema.decisions,
        kind=event.kind,
        learner_id=learner,
        kata_id=kata,
        value=encode(event.value).decode(),
        comment=sanitize(event.made.comment),
        author=sanitize(event.made.author),
        # Now that it is its turn: who waited for another's decision decides after it.
        at=datetime.now(UTC),
    )


def undo(connection: Connection, number: int, by: Provenance, only: Sort | None = None) -> Event:
    """Take a decision back, and return it as it was; of one sort `only`, if given, as it is called there.

    Raises:
        GradebookUsageError: there is none of this number, it was taken back already, or nothing says why.
    """
    table = schema.decisions
    found = next(iter(decisions(connection, table.c.id == number)), None)
    if found is None or only not in (None, found.sort):
        missing = only or DECISION
        raise GradebookUsageError(missing.missing.format(number), missing.hint)
    # One statement that decides: of two people who take the same back, one is told that it was.
    mine = table.update().where(table.c.id == number, table.c.revoked_at.is_(None))
    values = {
        "revoked_at": datetime.now(UTC),
        "revoked_by": sanitize(by.author),
        "revoked_because": sanitize(by.comment),
    }
    if not connection.execute(mine.values(**values)).rowcount:
        raise GradebookUsageError(found.sort.again.format(number), found.sort.hint)
    if not by.comment.strip():  # the caller's transaction ends without it
        raise GradebookUsageError("Nothing is taken back without a reason.", "Give one: --comment TEXT")
    if isinstance(found, Together):
        # Who was taken out before stays out: only what still stands is taken back.
        parts = table.update().where(table.c.id.in_(found.parts), table.c.revoked_at.is_(None))
        connection.execute(parts.values(**values))
    return found


def assign(
    connection: Connection,
    what: Sequence[tuple[int, int]],
    drafts: Sequence[Assign],
    most: int | None = None,
) -> list[int]:
    """Share hand-ins, by learner's and kata's row, among markers in turn; return the decisions' numbers.

    Those that are somebody's stay theirs. Where `most` is given, only so many of those that are free are shared, the
    first ones.

    Args:
        connection: in a transaction.
        what: hand-ins.
        drafts: one for each marker.
        most: how many at most.
    """
    table = schema.decisions
    taken = select(table.c.learner_id, table.c.kata_id).where(of(Assign), table.c.revoked_at.is_(None))
    theirs = {(row.learner_id, row.kata_id) for row in connection.execute(taken)}
    # Looked up in the transaction that writes, so that two who take the next ten take different ones.
    free = [pair for pair in what if pair not in theirs][:most]
    # Neighbours in the list go to one marker.
    return [
        write(connection, drafts[place * len(drafts) // len(free)], learner, kata)
        for place, (learner, kata) in enumerate(free)
    ]


_SELECT = (
    select(schema.decisions, schema.learners.c.name, schema.katas.c.slug)
    .outerjoin(schema.learners, schema.learners.c.id == schema.decisions.c.learner_id)
    .outerjoin(schema.katas, schema.katas.c.id == schema.decisions.c.kata_id)
    .order_by(schema.decisions.c.id)
)


def decisions(connection: Connection, *only: ColumnElement[bool]) -> list[Event]:
    """Return every decision, oldest first, also those that were taken back; of `only`, if given, in SQL's words."""
    return [_event(row) for row in connection.execute(_SELECT.where(*only))]


def _event(row: Any) -> Event:
    """Return what a row says.

    Raises:
        CorruptRecordError: it is damaged.
    """
    undone = None
    if row.revoked_at is not None:
        undone = Provenance(author=row.revoked_by or "", comment=row.revoked_because or "", at=row.revoked_at)
    made = Provenance(author=row.author, comment=row.comment, at=row.at)
    about = {"id": row.id, "learner": row.name, "kata": row.slug}
    try:
        return _READERS[row.kind](row.value, made=made, undone=undone, **about)
    except (KeyError, TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise CorruptRecordError(f"decision {row.id} is damaged ({error})") from None


def _reader(of: type[Decision]) -> Callable[..., Event]:
    """Return what makes a decision of its stored value and of who, when, why and about whom.

    Built once for each kind: to convert a whole decision takes three times as long, and a class has thousands.
    """
    names, types = own_fields(of), get_type_hints(of, include_extras=True)
    if len(names) > 1:
        optional = {field.name for field in msgspec.structs.fields(of) if not field.required}
        fields = [(n, types[n], msgspec.UNSET) if n in optional else (n, types[n]) for n in names]
        value: Any = msgspec.defstruct(of.__name__, fields, kw_only=True)
    else:
        value = types[names[0]] if names else None
    decode = msgspec.json.Decoder(value).decode

    def read(text: Any, **about: Any) -> Any:
        found = decode(text)
        own = msgspec.structs.asdict(found) if len(names) > 1 else dict.fromkeys(names, found)
        return of(**own, **about)

    return read


_READERS = {kind: _reader(of) for kind, of in TYPES.items()}


ABOUT_HAND_INS: tuple[type[Decision], ...] = (
    Remark,
    Adjust,
    Override,
    Dispute,
    Answered,
    Close,
    Assign,
    Reviewed,
)
"""Decisions that the desk makes about a hand-in."""


@dataclass
class Thread:
    """A dispute with its answers."""

    about: Dispute
    answers: list[Answered] = field(default_factory=list)
    closed: Close | None = None


@dataclass
class AboutMark:
    """What people decided about one learner's work on one kata."""

    changes: list[PointsChange] = field(default_factory=list)
    """Of points, oldest first; also those that were taken back."""
    answer_marks: list[AnswerMark] = field(default_factory=list)
    """Likewise."""
    remarks: list[Remark] = field(default_factory=list)
    """Those that stand, in the order of attempts, files and lines."""
    threads: list[Thread] = field(default_factory=list)
    """Disputes that stand, with what stands of their answers."""
    marker: str = ""
    """Who is to mark it; empty where nobody is."""
    reviewed: int | None = None
    """The attempt that somebody reviewed."""
    touched: bool = False
    """Whether a remark or a change of points stands."""
    released: bool = False
    """Whether the learner may read remarks: a release of the kata stands. Disputes are the learner's own."""

    @property
    def disputed(self) -> bool:
        """Whether a dispute is open."""
        return any(thread.closed is None for thread in self.threads)


def fold(
    decided: Iterable[Decision], whose: Callable[[str], str] = lambda name: name
) -> dict[tuple[str, str], AboutMark]:
    """Return what was decided about marks, by learner's identity and kata.

    Args:
        decided: decisions, oldest first.
        whose: returns the identity of a name.
    """
    found: dict[tuple[str, str], AboutMark] = {}
    releases: list[Release] = []
    for event in decided:
        if isinstance(event, Release) and not event.revoked:
            releases.append(event)
        if event.learner is not None and event.kata is not None:
            _add(found.setdefault((whose(event.learner), event.kata), AboutMark()), event)
    for (_, kata), mark in found.items():
        mark.remarks.sort(key=lambda remark: (remark.attempt, remark.file, remark.line, remark.id))
        mark.released = bool(active_releases(releases, kata))
    return found


def _add(mark: AboutMark, event: Decision) -> None:
    if not event.revoked and isinstance(event, PointsChange | Remark):
        mark.touched = True
    match event:
        case Adjust() | Override():
            mark.changes.append(event)
        case AnswerMark():
            mark.answer_marks.append(event)
        case _ if event.revoked:
            pass
        case Remark():
            mark.remarks.append(event)
        case Dispute():
            mark.threads.append(Thread(event))
        case Answered():
            for thread in _of_dispute(mark, event.dispute):
                thread.answers.append(event)
        case Close():
            for thread in _of_dispute(mark, event.dispute):
                thread.closed = thread.closed or event
        case Assign():
            mark.marker = event.marker
        case Reviewed():
            mark.reviewed = event.attempt


def _of_dispute(mark: AboutMark, dispute: int) -> list[Thread]:
    return [thread for thread in mark.threads if thread.about.id == dispute]


def active_marks(every: Iterable[AnswerMark]) -> dict[int, AnswerMark]:
    """Return the marks of answers that count, by question: the newest that nobody took back."""
    found = {mark.question: mark for mark in standing(every)}
    return dict(sorted(found.items()))


def active_releases(every: Iterable[Decision], kata: str) -> list[Release]:
    """Return the releases of a kata that stand, the newest first: learners may read what people wrote about it."""
    found = [event for event in standing(every) if isinstance(event, Release) and event.covers(kata)]
    return found[::-1]
