"""Written answers at the desk: which there are, which wait and for whom, and one of them with what marking it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from grader.errors import UsageError
from grader.instructor.desk.queries import DeskReader, Filter
from grader.instructor.gradebook.decisions import releases
from grader.instructor.gradebook.records import HistoryEvent
from grader.instructor.gradebook.written import AnswerSheet, Rubrics, WrittenAnswer, sheet


class AnswerPlace(NamedTuple):
    """An answer, wherever it is marked or waits."""

    kata: str
    question: int
    learner: str
    waits: bool
    marker: str
    """Who took the sheet; empty where nobody did."""


@dataclass(frozen=True)
class SheetsPage:
    """What waits, and what may be released."""

    mine: list[AnswerPlace]
    free: list[AnswerPlace]
    others: int
    """Answers that wait for somebody else."""
    marked: int
    released: dict[str, bool]
    """By kata."""


@dataclass(frozen=True)
class AnswerPage:
    """One answer, to be marked."""

    sheet: AnswerSheet
    answer: WrittenAnswer
    previous: AnswerPlace | None
    next: AnswerPlace | None
    """The next waiting, and is nobody else's."""
    waiting: int
    marker: str
    events: list[HistoryEvent]


class Sheets:
    """Reads written answers for a desk."""

    def __init__(self, desk: DeskReader, rubrics: Rubrics) -> None:
        self.rubrics = rubrics
        self._desk = desk

    def places(self, chosen: Filter) -> list[AnswerPlace]:
        """Return every answer that a filter means, question by question over all learners."""
        marks, about = self._desk.everybody.marks()
        found = []
        for kata in self._desk.katas(chosen):
            if self.rubrics.of(kata) is None:
                continue
            of_kata = []
            for learner, own in marks.items():
                written = own[kata].written if kata in own else None
                if written is None:
                    continue
                waiting = {*written.unmarked, *written.changed}
                marker = about.markers.get((learner, kata), "")
                for question in sorted(waiting | {one.question for one in written.marks}):
                    of_kata.append(AnswerPlace(kata, question, learner, question in waiting, marker))
            found += sorted(of_kata, key=lambda one: one.question)  # stable: learners stay in their order
        return found

    def page(self, chosen: Filter) -> SheetsPage:
        """Return what waits."""
        every = self.places(chosen)
        waiting = [one for one in every if one.waits]
        katas = dict.fromkeys(one.kata for one in every)
        released = self._desk.book.rulings(["release"])
        return SheetsPage(
            mine=[one for one in waiting if one.marker == self._desk.author],
            free=[one for one in waiting if not one.marker],
            others=sum(one.marker not in ("", self._desk.author) for one in waiting),
            marked=len(every) - len(waiting),
            released={kata: bool(releases(released, kata)) for kata in katas},
        )

    def answer(self, asked: Mapping[str, str], chosen: Filter) -> AnswerPage:
        """Return one answer.

        Raises:
            UsageError: there is no such learner, kata or question.
        """
        learner, kata, number = asked.get("learner", ""), asked.get("of", ""), asked.get("question", "")
        if kata not in self._desk.katas(Filter()) or learner not in self._desk.everybody.marks()[0]:
            raise UsageError(f"{learner} has no written answers for {kata}.")
        shown = sheet(self._desk.book, self.rubrics, learner, kata)
        answer = next((one for one in shown.answers if str(one.number) == number), None)
        if answer is None:
            raise UsageError(f"{kata} has no question {number}.")
        every, here = self.places(chosen), (kata, answer.number, learner)
        at = next((place for place, one in enumerate(every) if one[:3] == here), len(every))
        # From here on and round again, so that what was skipped comes back at the end.
        waiting = [one for one in every[at + 1 :] + every[:at] if self._may_mark(one)]
        own = (one for one in waiting if one.marker == self._desk.author)
        return AnswerPage(
            sheet=shown,
            answer=answer,
            previous=every[at - 1] if 0 < at < len(every) else None,
            next=next(own, waiting[0] if waiting else None),
            waiting=len(waiting) + sum(map(self._may_mark, every[at : at + 1])),
            marker=self._desk.everybody.marks()[1].markers.get((learner, kata), ""),
            events=[one for one in self._desk.book.history(learner, kata) if one.question == answer.number],
        )

    def _may_mark(self, one: AnswerPlace) -> bool:
        return one.waits and one.marker in ("", self._desk.author)
