"""Everything that people decided about each mark, made of their decisions in one pass: all readings begin here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from grader.instructor.gradebook import events

ABOUT_HAND_INS: tuple[type[events.Decision], ...] = (
    events.Remark,
    events.Adjust,
    events.Override,
    events.Dispute,
    events.Answered,
    events.Close,
    events.Assign,
    events.Reviewed,
)
"""Decisions that the desk makes about a hand-in."""


@dataclass
class Thread:
    """A dispute with its answers."""

    about: events.Dispute
    answers: list[events.Answered] = field(default_factory=list)
    closed: events.Close | None = None


@dataclass
class AboutMark:
    """What people decided about one learner's work on one kata."""

    changes: list[events.PointsChange] = field(default_factory=list)
    """Of points, oldest first; also those that were taken back."""
    answer_marks: list[events.AnswerMark] = field(default_factory=list)
    """Likewise."""
    remarks: list[events.Remark] = field(default_factory=list)
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
    decided: Iterable[events.Decision], whose: Callable[[str], str] = lambda name: name
) -> dict[tuple[str, str], AboutMark]:
    """Return what was decided about marks, by learner's identity and kata.

    Args:
        decided: decisions, oldest first.
        whose: returns the identity of a name.
    """
    found: dict[tuple[str, str], AboutMark] = {}
    releases: list[events.Release] = []
    for event in decided:
        if isinstance(event, events.Release) and not event.revoked:
            releases.append(event)
        if event.learner is not None and event.kata is not None:
            _add(found.setdefault((whose(event.learner), event.kata), AboutMark()), event)
    for (_, kata), mark in found.items():
        mark.remarks.sort(key=lambda one: (one.attempt, one.file, one.line, one.id))
        mark.released = bool(active_releases(releases, kata))
    return found


def _add(mark: AboutMark, event: events.Decision) -> None:
    if not event.revoked and isinstance(event, events.PointsChange | events.Remark):
        mark.touched = True
    match event:
        case events.Adjust() | events.Override():
            mark.changes.append(event)
        case events.AnswerMark():
            mark.answer_marks.append(event)
        case _ if event.revoked:
            pass
        case events.Remark():
            mark.remarks.append(event)
        case events.Dispute():
            mark.threads.append(Thread(event))
        case events.Answered():
            for thread in _of_dispute(mark, event.dispute):
                thread.answers.append(event)
        case events.Close():
            for thread in _of_dispute(mark, event.dispute):
                thread.closed = thread.closed or event
        case events.Assign():
            mark.marker = event.marker
        case events.Reviewed():
            mark.reviewed = event.attempt


def _of_dispute(mark: AboutMark, dispute: int) -> list[Thread]:
    return [thread for thread in mark.threads if thread.about.id == dispute]


def active_marks(every: Iterable[events.AnswerMark]) -> dict[int, events.AnswerMark]:
    """Return the marks of answers that count, by question: the newest that nobody took back."""
    found = {mark.question: mark for mark in events.standing(every)}
    return dict(sorted(found.items()))


def active_releases(every: Iterable[events.Decision], kata: str) -> list[events.Release]:
    """Return the releases of a kata that stand, the newest first: learners may read what people wrote about it."""
    found = [one for one in events.standing(every) if isinstance(one, events.Release) and one.covers(kata)]
    return found[::-1]
