"""What people decide: points, which attempt counts, more time, other names, marks of answers, remarks, who marks what.

Each is a row that says who, when and why, and is never removed: taken back, it stays in the history and counts nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import msgspec
from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, select

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.errors import GradebookUsageError
from grader.instructor.gradebook.records import Adjustment, Decision, DecisionKind, Marking
from grader.instructor.gradebook.serialization import insert, sanitize
from grader.report.json_text import encode

DAMAGED = "this row is damaged, and counts nowhere"
"""The comment of a decision that cannot be read."""
COUNTING: tuple[DecisionKind, ...] = ("choose", "extend", "take", "alias", "release")
"""Kinds that a mark, or whose it is, depends on; the others are said about it."""
ADJUSTING: tuple[DecisionKind, ...] = ("adjust", "override")
MARKING: DecisionKind = "answer_mark"
OF_POINTS: tuple[DecisionKind, ...] = (*ADJUSTING, MARKING)
What = Literal["adjustment", "answer_mark", "ruling"]
"""Sorts of decisions, by the names that their numbers have in `HistoryEvent`."""


@dataclass(frozen=True)
class Draft:
    """A decision, as it is about to be written.

    Raises:
        GradebookUsageError: the points are not a number, or a mark below 0, or nothing says why.
    """

    kind: DecisionKind
    value: Any
    comment: str
    author: str

    def __post_init__(self) -> None:
        """Refuse what no mark can be made of, and what has no reason; only a mark of an answer speaks for itself."""
        if self.kind in ADJUSTING:
            if self.kind == "override" and self.value < 0:
                raise GradebookUsageError(f"A mark cannot be {self.value:g}; it is 0 or more.")
            if not math.isfinite(self.value):
                raise GradebookUsageError(f"Points must be a number, not {self.value}.")
        if self.kind != MARKING and not self.comment.strip():
            what = "A mark is not changed" if self.kind in ADJUSTING else "Nothing is decided"
            raise GradebookUsageError(f"{what} without a reason.", "Give one: --comment TEXT")


def add(connection: Connection, draft: Draft, learner: int | None = None, kata: int | None = None) -> int:
    """Write a decision about a learner's and a kata's row, or about all; return its number."""
    return insert(
        connection,
        schema.decisions,
        kind=draft.kind,
        learner_id=learner,
        kata_id=kata,
        value=encode(draft.value).decode(),
        comment=sanitize(draft.comment),
        author=sanitize(draft.author),
        at=datetime.now(UTC),
    )


class _Undo(NamedTuple):
    """What is said where a decision cannot be taken back."""

    missing: str
    again: str
    hint: str


_UNDO: dict[What, _Undo] = {
    "adjustment": _Undo(
        "There is no adjustment {}.",
        "Adjustment {} was already revoked.",
        "See: kata gradebook history LEARNER KATA",
    ),
    "answer_mark": _Undo(
        "There is no mark {} of a written answer.",
        "Mark {} was already taken back.",
        "See: kata gradebook answers LEARNER ID",
    ),
    "ruling": _Undo(
        "There is no ruling {}.",
        "Ruling {} was already withdrawn.",
        "See what was decided: kata gradebook rulings",
    ),
}


def what_is(kind: DecisionKind) -> What:
    """Return what people call a decision of this kind."""
    if kind in ADJUSTING:
        return "adjustment"
    return "answer_mark" if kind == MARKING else "ruling"


def undo(connection: Connection, what: What, number: int, *, author: str, comment: str) -> Decision:
    """Take a decision back, and return it as it was.

    Raises:
        GradebookUsageError: there is none of this number, it was taken back already, or nothing says why.
    """
    table, words = schema.decisions, _UNDO[what]
    found = next(iter(decisions(connection, table.c.id == number)), None)
    if found is None or what_is(found.kind) != what:
        raise GradebookUsageError(words.missing.format(number), words.hint)
    # One statement that decides: of two people who take the same back, one is told that it was.
    mine = table.update().where(table.c.id == number, table.c.revoked_at.is_(None))
    values = {
        "revoked_at": datetime.now(UTC),
        "revoked_by": sanitize(author),
        "revoked_because": sanitize(comment),
    }
    if not connection.execute(mine.values(**values)).rowcount:
        raise GradebookUsageError(words.again.format(number), words.hint)
    if not comment.strip():  # the caller's transaction ends without it
        raise GradebookUsageError("Nothing is taken back without a reason.", "Give one: --comment TEXT")
    if found.kind == "together":
        # Who was taken out before stays out: only what still stands is taken back.
        parts = table.update().where(table.c.id.in_(found.value), table.c.revoked_at.is_(None))
        connection.execute(parts.values(**values))
    return found


def assign(
    connection: Connection,
    what: Sequence[tuple[int, int]],
    drafts: Sequence[Draft],
    most: int | None = None,
) -> list[int]:
    """Share hand-ins, by learner's and kata's row, among markers in turn; return the decisions' numbers.

    Those that are somebody's stay theirs. Where `most` is given, only so many of those that are free are shared, the
    first ones.

    Args:
        connection: in a transaction.
        what: hand-ins.
        drafts: one for each marker, who is its value.
        most: how many at most.
    """
    table = schema.decisions
    taken = select(table.c.learner_id, table.c.kata_id).where(
        table.c.kind == "assign", table.c.revoked_at.is_(None)
    )
    theirs = {(row.learner_id, row.kata_id) for row in connection.execute(taken)}
    # Looked up in the transaction that writes, so that two who take the next ten take different ones.
    free = [one for one in what if one not in theirs][:most]
    # Neighbours in the list go to one marker.
    return [
        add(connection, drafts[place * len(drafts) // len(free)], learner, kata)
        for place, (learner, kata) in enumerate(free)
    ]


_SELECT = (
    select(schema.decisions, schema.learners.c.name, schema.katas.c.slug)
    .outerjoin(schema.learners, schema.learners.c.id == schema.decisions.c.learner_id)
    .outerjoin(schema.katas, schema.katas.c.id == schema.decisions.c.kata_id)
)


def decisions(connection: Connection, *only: ColumnElement[bool]) -> list[Decision]:
    """Return every decision, oldest first, also those that were taken back; of `only`, if given, in SQL's words."""
    wanted = _SELECT.where(*only).order_by(schema.decisions.c.id)
    return [_decision(row) for row in connection.execute(wanted)]


def by_mark(
    connection: Connection, names: dict[int, str], kinds: Iterable[DecisionKind]
) -> dict[tuple[str, int], list[Decision]]:
    """Return decisions of some kinds by learner and kata's row, oldest first; `names` has learners by their rows."""
    table = schema.decisions
    wanted = _SELECT.where(table.c.learner_id.in_(list(names)), table.c.kind.in_(list(kinds)))
    found: dict[tuple[str, int], list[Decision]] = {}
    for row in connection.execute(wanted.order_by(table.c.id)):
        found.setdefault((names[row.learner_id], row.kata_id), []).append(_decision(row))
    return found


def adjustments(connection: Connection, names: dict[int, str]) -> dict[tuple[str, int], list[Adjustment]]:
    """Return what was decided about points, as `by_mark` does; a damaged row changes nothing."""
    return {
        key: [
            Adjustment(
                kind="override" if one.kind == "override" else "adjust",
                points=one.value if one.kind in ADJUSTING else 0.0,
                comment=one.comment,
                author=one.author,
                at=one.at,
                revoked=one.revoked,
                id=one.id,
            )
            for one in those
        ]
        for key, those in by_mark(connection, names, ADJUSTING).items()
    }


class _Extension(TypedDict):
    of: str
    days: Annotated[float, Meta(gt=0, le=3650)]


class _Remark(TypedDict):
    attempt: int
    file: str
    line: int


class _Criterion(TypedDict):
    kata: str
    question: int
    number: int | None
    met: str
    points: float


class _Release(TypedDict):
    of: str
    katas: NotRequired[list[str]]
    points: NotRequired[dict[str, list[float]]]


_VALUES: dict[str, Any] = {
    **dict.fromkeys(ADJUSTING, msgspec.json.Decoder(float)),
    **dict.fromkeys(("choose", "answer", "close", "reviewed"), msgspec.json.Decoder(int)),
    **dict.fromkeys(("take", "alias", "assign", "ignore", "alike"), msgspec.json.Decoder(str)),
    MARKING: msgspec.json.Decoder(Marking),
    "extend": msgspec.json.Decoder(_Extension),
    "remark": msgspec.json.Decoder(_Remark),
    "release": msgspec.json.Decoder(_Release),
    "dispute": msgspec.json.Decoder(None),
    "criterion": msgspec.json.Decoder(_Criterion),
    "together": msgspec.json.Decoder(list[int]),
}
"""What the value of each kind of decision is."""


def _decision(row: Any) -> Decision:
    """Return what a row says. One that is damaged counts as taken back, so that it takes no class along."""
    about = {"id": row.id, "learner": row.name or "", "kata": row.slug, "at": row.at}
    try:
        if row.at is schema.DAMAGED_TIME:
            raise ValueError("no time")
        return msgspec.convert(
            {
                **about,
                "kind": row.kind,
                "value": _VALUES[row.kind].decode(row.value),
                "comment": row.comment,
                "author": row.author,
                "revoked": row.revoked_at is not None,
                "revoked_by": row.revoked_by,
                "revoked_at": row.revoked_at,
                "revoked_because": row.revoked_because,
            },
            Decision,
        )
    except (KeyError, TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        # Shown, and without effect: one damaged row must not keep a class from its marks.
        return Decision(**about, kind="damaged", comment=DAMAGED, revoked=True)


def active_decisions(every: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that were not taken back."""
    return [one for one in every if not one.revoked]


def active_releases(every: Iterable[Decision], kata: str) -> list[Decision]:
    """Return the releases of a kata that stand, the newest first: learners may read what people wrote about it."""
    found = [one for one in active_decisions(every) if one.kind == "release"]
    return [one for one in reversed(found) if kata in one.value.get("katas", one.value.get("points", ()))]
