"""What people say about a hand-in: remarks on its lines, and disputes with their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.decisions import active_decisions, active_releases, decisions
from grader.instructor.gradebook.lookup import identity
from grader.instructor.gradebook.records import Decision, DecisionKind

KINDS: tuple[DecisionKind, ...] = ("remark", "dispute", "answer", "close", "release")


@dataclass(frozen=True)
class Thread:
    """A dispute with its answers."""

    about: Decision
    answers: list[Decision]
    closed: Decision | None


@dataclass(frozen=True)
class Comments:
    """What stands of it about one learner's work on one kata."""

    remarks: list[Decision] = field(default_factory=list)
    """In the order of attempts, files and lines."""
    threads: list[Thread] = field(default_factory=list)
    released: bool = False
    """Whether the learner may read remarks: a release of the kata stands. Disputes are the learner's own."""


def comments_by_mark(connection: Connection, course: Course) -> dict[tuple[str, str], Comments]:
    """Return what people said about hand-ins, by learner's identity and kata."""
    found = decisions(connection, schema.decisions.c.kind.in_(KINDS))
    return group_comments(found, identity(connection, course)) if found else {}


def threads(rulings: Iterable[Decision]) -> list[Thread]:
    """Return disputes that stand, with what stands of their answers."""
    stand = active_decisions(rulings)
    return [
        Thread(
            about,
            [one for one in stand if one.kind == "answer" and one.value == about.id],
            next((one for one in stand if one.kind == "close" and one.value == about.id), None),
        )
        for about in stand
        if about.kind == "dispute"
    ]


def group_comments(
    rulings: Iterable[Decision], identity: Callable[[str], str]
) -> dict[tuple[str, str], Comments]:
    """Return comments, by learner's identity and kata; of rulings of these `KINDS`."""
    every = active_decisions(rulings)
    about: dict[tuple[str, str], list[Decision]] = {}
    for one in every:
        if one.kata is not None and one.kind != "release":
            about.setdefault((identity(one.learner), one.kata), []).append(one)
    released = {kata for kata in {key[1] for key in about} if active_releases(every, kata)}
    return {
        key: Comments(
            sorted(
                (one for one in mine if one.kind == "remark"),
                key=lambda one: (one.value["attempt"], one.value["file"], one.value["line"], one.id),
            ),
            threads(mine),
            key[1] in released,
        )
        for key, mine in about.items()
    }
